global  @g <f32: 0.000000e+00> : tile<4xf32> loc(#loc)
entry @k1(%arg0: tile<i32>, %arg1: tile<i1>) {
  %cst_5_i32 = constant <i32: 5> : tile<i32> loc(#loc16)
  %cst_5_i32_0 = constant <i32: 5> : tile<i32> loc(#loc43)
  %cst_5_i32_1 = constant <i32: 5> : tile<i32> loc(#loc)
  %cst_5_i32_2 = constant <i32: 5> : tile<i32> loc(#loc40)
  %cst_5_i32_3 = constant <i32: 5> : tile<i32> loc(#loc44)
  if %arg1 {
    %cst_6_i32 = constant <i32: 6> : tile<i32> loc(#loc23)
  } else {
  } loc(#loc22)
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8xf32> loc(#loc24)
  %reduce = reduce %cst_0_f32 dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    yield %reduce_lhs : tile<f32> loc(#loc26)
  } loc(#loc25)
  for %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> {
  } loc(#loc27)
  return loc(#loc28)
} loc(#loc15)
entry @k2(%arg0: tile<i32>, %arg1: tile<i1>) {
  %cst_5_i32 = constant <i32: 5> : tile<i32> loc(#loc30)
  %cst_5_i32_0 = constant <i32: 5> : tile<i32> loc(#loc45)
  %cst_5_i32_1 = constant <i32: 5> : tile<i32> loc(#loc)
  %cst_5_i32_2 = constant <i32: 5> : tile<i32> loc(#loc42)
  %cst_5_i32_3 = constant <i32: 5> : tile<i32> loc(#loc46)
  if %arg1 {
    %cst_6_i32 = constant <i32: 6> : tile<i32> loc(#loc34)
  } else {
  } loc(#loc33)
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8xf32> loc(#loc35)
  %reduce = reduce %cst_0_f32 dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    yield %reduce_lhs : tile<f32> loc(#loc37)
  } loc(#loc36)
  for %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> {
  } loc(#loc38)
  return loc(#loc39)
} loc(#loc29)
#di_file = #cuda_tile.di_file<"a.py" in "/src">
#di_file1 = #cuda_tile.di_file<"b \22x\22.py" in "/o">
#loc = loc(unknown)
#loc1 = loc("/src/a.py":3:1)
#loc2 = loc("/src/a.py":4:1)
#loc3 = loc("/src/a.py":12:3)
#loc4 = loc("/src/b.py":7:8)
#loc5 = loc("/src/a.py":13:1)
#loc6 = loc("/src/b.py":9:8)
#loc7 = loc("/src/a.py":14:1)
#loc8 = loc("/src/a.py":19:1)
#loc9 = loc("/src/a.py":20:1)
#loc10 = loc("/src/a.py":30:1)
#loc11 = loc("/src/a.py":29:1)
#loc12 = loc("/src/a.py":31:1)
#loc13 = loc("/src/a.py":32:1)
#loc14 = loc("/src/a.py":40:1)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "k1", linkageName = "k1", compileUnit = #di_compile_unit, scopeLine = 4>
#di_subprogram1 = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "inner", linkageName = "inner", compileUnit = #di_compile_unit, scopeLine = 4>
#di_subprogram2 = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "inner2", linkageName = "inner2", compileUnit = #di_compile_unit, scopeLine = 4>
#di_subprogram3 = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "k2", linkageName = "k2", compileUnit = #di_compile_unit, scopeLine = 4>
#di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, file = #di_file, line = 10, column = 2>
#di_lexical_block1 = #cuda_tile.di_lexical_block<scope = #di_subprogram3, file = #di_file, line = 10, column = 2>
#loc15 = #cuda_tile.di_loc<#loc1 in #di_subprogram>
#loc16 = #cuda_tile.di_loc<#loc2 in #di_subprogram>
#loc17 = #cuda_tile.di_loc<#loc4 in #di_subprogram1>
#loc18 = #cuda_tile.di_loc<#loc5 in #di_subprogram>
#loc19 = #cuda_tile.di_loc<#loc4 in #di_subprogram2>
#loc20 = #cuda_tile.di_loc<#loc6 in #di_subprogram1>
#loc21 = #cuda_tile.di_loc<#loc7 in #di_subprogram>
#loc22 = #cuda_tile.di_loc<#loc8 in #di_subprogram>
#loc23 = #cuda_tile.di_loc<#loc9 in #di_subprogram>
#loc24 = #cuda_tile.di_loc<#loc10 in #di_subprogram>
#loc25 = #cuda_tile.di_loc<#loc11 in #di_subprogram>
#loc26 = #cuda_tile.di_loc<#loc12 in #di_subprogram>
#loc27 = #cuda_tile.di_loc<#loc13 in #di_subprogram>
#loc28 = #cuda_tile.di_loc<#loc14 in #di_subprogram>
#loc29 = #cuda_tile.di_loc<#loc1 in #di_subprogram3>
#loc30 = #cuda_tile.di_loc<#loc2 in #di_subprogram3>
#loc31 = #cuda_tile.di_loc<#loc5 in #di_subprogram3>
#loc32 = #cuda_tile.di_loc<#loc7 in #di_subprogram3>
#loc33 = #cuda_tile.di_loc<#loc8 in #di_subprogram3>
#loc34 = #cuda_tile.di_loc<#loc9 in #di_subprogram3>
#loc35 = #cuda_tile.di_loc<#loc10 in #di_subprogram3>
#loc36 = #cuda_tile.di_loc<#loc11 in #di_subprogram3>
#loc37 = #cuda_tile.di_loc<#loc12 in #di_subprogram3>
#loc38 = #cuda_tile.di_loc<#loc13 in #di_subprogram3>
#loc39 = #cuda_tile.di_loc<#loc14 in #di_subprogram3>
#di_lexical_block2 = #cuda_tile.di_lexical_block<scope = #di_lexical_block, file = #di_file1, line = 11, column = 2>
#di_lexical_block3 = #cuda_tile.di_lexical_block<scope = #di_lexical_block1, file = #di_file1, line = 11, column = 2>
#loc40 = loc(callsite(#loc17 at #loc18))
#loc41 = loc(callsite(#loc19 at #loc20))
#loc42 = loc(callsite(#loc17 at #loc31))
#loc43 = #cuda_tile.di_loc<#loc3 in #di_lexical_block2>
#loc44 = loc(callsite(#loc41 at #loc21))
#loc45 = #cuda_tile.di_loc<#loc3 in #di_lexical_block3>
#loc46 = loc(callsite(#loc41 at #loc32))
