entry @k(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i1>) {
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<f32>
  if %arg2 {
  } else {
    %cst_0_f32_16 = constant <f32: 0.000000e+00> : tile<f32>
  }
  %0 = if %arg2 -> (tile<f32>) {
    yield %cst_1_f32 : tile<f32>
  } else {
    yield %cst_1_f32 : tile<f32>
  }
  %1:2 = if %arg2 -> (tile<f32>, tile<i32>) {
    yield %cst_1_f32, %arg1 : tile<f32>, tile<i32>
  } else {
    yield %cst_1_f32, %arg1 : tile<f32>, tile<i32>
  }
  %for:2 = for %loopIdx in (%arg1 to %arg1, step %arg1) : tile<i32> iter_values(%iterArg0 = %cst_1_f32, %iterArg1 = %arg1) -> (tile<f32>, tile<i32>) {
    %10 = addf %iterArg0, %1#0  : tile<f32>
    if %arg2 {
      continue %10, %iterArg1 : tile<f32>, tile<i32>
    } else {
    }
    if %arg2 {
    } else {
      continue %10, %iterArg1 : tile<f32>, tile<i32>
    }
    %cst_1_f32_16 = constant <f32: 1.000000e+00> : tile<f32>
    continue %10, %iterArg1 : tile<f32>, tile<i32>
  }
  %for_0 = for unsigned %loopIdx in (%arg1 to %arg1, step %arg1) : tile<i32> iter_values(%iterArg0 = %cst_1_f32) -> (tile<f32>) {
    continue %iterArg0 : tile<f32>
  }
  for unsigned %loopIdx in (%arg1 to %arg1, step %arg1) : tile<i32> {
    %cst_1_f32_16 = constant <f32: 1.000000e+00> : tile<f32>
  }
  loop {
    break
  }
  loop {
    if %arg2 {
      break
    } else {
    }
  }
  %2:2 = loop iter_values(%arg3 = %cst_1_f32) : tile<f32> -> tile<f32>, tile<f32> {
    break %arg3, %for#0 : tile<f32>, tile<f32>
  }
  %3 = loop : tile<f32> {
    break %for_0 : tile<f32>
  }
  loop iter_values(%arg3 = %cst_1_f32, %arg4 = %3) : tile<f32>, tile<f32> {
    break
  }
  %assume = assume div_by<16>, %arg1 : tile<i32>
  %assume_ = assume bounded<?, 5>, %for#1 : tile<i32>
  %assume_assume_ = assume bounded<-7, ?>, %assume_ : tile<i32>
  %assume_assume_assume_ = assume same_elements<[]>, %assume_assume_ : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
  %assume_blockId_y = assume bounded<?, ?>, %blockId_y : tile<i32>
  %4 = if %arg2 -> (tile<i32>) {
    yield %arg1 : tile<i32>
  } else {
    yield %arg1 : tile<i32>
  }
  %assume__1 = assume bounded<0, ?>, %4 : tile<i32>
  %5 = loop : tile<i32> {
    break %arg1 : tile<i32>
  }
  %assume__2 = assume bounded<0, ?>, %5 : tile<i32>
  %6 = iota : tile<8xi32>
  %assume_3 = assume div_by<4, every 2 along 0>, %6 : tile<8xi32>
  %assume_4 = assume same_elements<[4]>, %6 : tile<8xi32>
  %cst_-1_i32 = constant <i32: -1> : tile<i32>
  %assume_cst_-1_i32 = assume bounded<-1, -1>, %cst_-1_i32 : tile<i32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8x4xf32>
  %cst_0_i32 = constant <i32: 0> : tile<8x4xi32>
  %reduce:2 = reduce %cst_0_f32, %cst_0_i32 dim=1 identities=[0xFF800000 : f32, 5 : i32] : tile<8x4xf32>, tile<8x4xi32> -> tile<8xf32>, tile<8xi32> 
  (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
    %10 = addf %reduce_lhs0, %reduce_rhs0  : tile<f32>
    %11 = addi %reduce_lhs1, %reduce_rhs1 : tile<i32>
    yield %10, %11 : tile<f32>, tile<i32>
  }
  %reduce_5 = reduce %cst_0_f32 dim=1 identities=[0x7FC00000 : f32] : tile<8x4xf32> -> tile<8xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %10 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
    yield %10 : tile<f32>
  }
  %7:2 = scan %cst_0_f32, %cst_0_i32 dim=1 reverse=true identities=[1.000000e-01 : f32, -1 : i32] : tile<8x4xf32>, tile<8x4xi32> -> tile<8x4xf32>, tile<8x4xi32> 
  (%arg3: tile<f32>, %arg4: tile<f32>, %arg5: tile<i32>, %arg6: tile<i32>) {
    %10 = addf %arg3, %arg4  : tile<f32>
    %11 = addi %arg5, %arg6 : tile<i32>
    yield %10, %11 : tile<f32>, tile<i32>
  }
  %8 = scan %cst_0_f32 dim=0 reverse=false identities=[1.401300e-45 : f32] : tile<8x4xf32> -> tile<8x4xf32> 
  (%arg3: tile<f32>, %arg4: tile<f32>) {
    %10 = addf %arg3, %arg4  : tile<f32>
    yield %10 : tile<f32>
  }
  %9 = addi %7#1, %cst_0_i32 : tile<8x4xi32>
  %cst_0_f64 = constant <f64: 0.000000e+00> : tile<8x4xf64>
  %reduce_6 = reduce %cst_0_f64 dim=1 identities=[1.000000e+00] : tile<8x4xf64> -> tile<8xf64> 
  (%reduce_lhs: tile<f64>, %reduce_rhs: tile<f64>) {
    %10 = addf %reduce_lhs, %reduce_rhs  : tile<f64>
    yield %10 : tile<f64>
  }
  %cst_0_f64_7 = constant <f64: 0.000000e+00> : tile<8x4xf64>
  %reduce_8 = reduce %cst_0_f64_7 dim=1 identities=[0x7FF8000000000000 : f64] : tile<8x4xf64> -> tile<8xf64> 
  (%reduce_lhs: tile<f64>, %reduce_rhs: tile<f64>) {
    %10 = addf %reduce_lhs, %reduce_rhs  : tile<f64>
    yield %10 : tile<f64>
  }
  %cst_0_i64 = constant <i64: 0> : tile<8x4xi64>
  %reduce_9 = reduce %cst_0_i64 dim=1 identities=[7] : tile<8x4xi64> -> tile<8xi64> 
  (%reduce_lhs: tile<i64>, %reduce_rhs: tile<i64>) {
    %10 = addi %reduce_lhs, %reduce_rhs : tile<i64>
    yield %10 : tile<i64>
  }
  %false = constant <i1: false> : tile<8x4xi1>
  %reduce_10 = reduce %false dim=1 identities=[true] : tile<8x4xi1> -> tile<8xi1> 
  (%reduce_lhs: tile<i1>, %reduce_rhs: tile<i1>) {
    %10 = ori %reduce_lhs, %reduce_rhs : tile<i1>
    yield %10 : tile<i1>
  }
  %cst_0_i8 = constant <i8: 0> : tile<8x4xi8>
  %reduce_11 = reduce %cst_0_i8 dim=1 identities=[-128 : i8] : tile<8x4xi8> -> tile<8xi8> 
  (%reduce_lhs: tile<i8>, %reduce_rhs: tile<i8>) {
    %10 = addi %reduce_lhs, %reduce_rhs : tile<i8>
    yield %10 : tile<i8>
  }
  %cst_0_f16 = constant <f16: 0.000000e+00> : tile<8x4xf16>
  %reduce_12 = reduce %cst_0_f16 dim=1 identities=[0xFC00 : f16] : tile<8x4xf16> -> tile<8xf16> 
  (%reduce_lhs: tile<f16>, %reduce_rhs: tile<f16>) {
    %10 = addf %reduce_lhs, %reduce_rhs  : tile<f16>
    yield %10 : tile<f16>
  }
  %cst_0_bf16 = constant <bf16: 0.000000e+00> : tile<8x4xbf16>
  %reduce_13 = reduce %cst_0_bf16 dim=1 identities=[1.007810e+00 : bf16] : tile<8x4xbf16> -> tile<8xbf16> 
  (%reduce_lhs: tile<bf16>, %reduce_rhs: tile<bf16>) {
    %10 = addf %reduce_lhs, %reduce_rhs  : tile<bf16>
    yield %10 : tile<bf16>
  }
  %false_14 = constant <i1: false> : tile<8x4xi1>
  %reduce_15 = reduce %false_14 dim=1 identities=[true] : tile<8x4xi1> -> tile<8xi1> 
  (%reduce_lhs: tile<i1>, %reduce_rhs: tile<i1>) {
    %10 = ori %reduce_lhs, %reduce_rhs : tile<i1>
    yield %10 : tile<i1>
  }
  return
}
