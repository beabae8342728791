entry @k(%arg0: tile<ptr<f32, <multicast>>>, %arg1: tile<i32>) {
  %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [64, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>
  %pview = make_partition_view %tview : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<4x8xf32>
  %0 = make_token : token
  %reduced_values, %result_token = multimem_load_reduce_view_tko weak %pview[%arg1, %arg1]  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4x8xf32>, token
  %reduced_values_0, %result_token_1 = multimem_load_reduce_view_tko relaxed sys %pview[%arg1, %arg1]  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4x8xf32>, token
  %1 = multimem_reduce_view_tko relaxed sys %pview, %cst_0_f32[%arg1, %arg1]  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32> -> token
  %2 = multimem_store_view_tko weak %pview, %cst_0_f32[%arg1, %arg1]  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32> -> token
  %reduced_values_2, %result_token_3 = multimem_load_reduce_view_tko weak %pview[%arg1, %arg1] token = %0  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, token -> tile<4x8xf32>, token
  %reduced_values_4, %result_token_5 = multimem_load_reduce_view_tko relaxed sys %pview[%arg1, %arg1] token = %0  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, token -> tile<4x8xf32>, token
  %3 = multimem_reduce_view_tko relaxed sys %pview, %cst_0_f32[%arg1, %arg1] token = %0  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32>, token -> token
  %4 = multimem_store_view_tko weak %pview, %cst_0_f32[%arg1, %arg1] token = %0  : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32>, token -> token
  %reduced_values_6, %result_token_7 = multimem_load_reduce_view_tko weak %pview[%arg1, %arg1] inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4x8xf32>, token
  %reduced_values_8, %result_token_9 = multimem_load_reduce_view_tko relaxed sys %pview[%arg1, %arg1] inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4x8xf32>, token
  %5 = multimem_reduce_view_tko relaxed sys %pview, %cst_0_f32[%arg1, %arg1] inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32> -> token
  %6 = multimem_store_view_tko weak %pview, %cst_0_f32[%arg1, %arg1] inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32> -> token
  %reduced_values_10, %result_token_11 = multimem_load_reduce_view_tko weak %pview[%arg1, %arg1] token = %0 inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, token -> tile<4x8xf32>, token
  %reduced_values_12, %result_token_13 = multimem_load_reduce_view_tko relaxed sys %pview[%arg1, %arg1] token = %0 inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, token -> tile<4x8xf32>, token
  %7 = multimem_reduce_view_tko relaxed sys %pview, %cst_0_f32[%arg1, %arg1] token = %0 inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32>, token -> token
  %8 = multimem_store_view_tko weak %pview, %cst_0_f32[%arg1, %arg1] token = %0 inbounds = [true, false] : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32>, token -> token
  return
}
