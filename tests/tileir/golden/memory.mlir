entry @k(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %0 = make_token : token
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<8xf32>
  %cst_3_i32 = constant <i32: 3> : tile<i32>
  %cst_1_f32_0 = constant <f32: 1.000000e+00> : tile<4xf32>
  %1 = insert %cst_1_f32_0, %cst_1_f32[%cst_3_i32] : tile<4xf32>, tile<8xf32>
  %2 = extract %cst_1_f32[%cst_3_i32] : tile<8xf32> -> tile<4xf32>
  %cst_2_i32 = constant <i32: 2> : tile<8xi32>
  %3 = fpowi %cst_1_f32, %cst_2_i32 : tile<8xf32>, tile<8xi32>
  %4 = ftoi %cst_1_f32 signed  saturating : tile<8xf32> -> tile<8xi32>
  %5 = ftoi %cst_1_f32 unsigned  : tile<8xf32> -> tile<8xi32>
  %6 = gdc_launch_dependents_tko -> token
  %7 = gdc_launch_dependents_tko token = %0 -> token
  %8 = gdc_wait_tko -> token
  %9 = gdc_wait_tko token = %0 -> token
  %10 = memory_fence_alias_tko %0
  %11 = alloca num_elem = 16, alignment = 8 : tile<ptr<f32>>
  %12 = alloca num_elem = 16, alignment = 8 global : tile<ptr<f32>>
  %tview = make_tensor_view %arg0, shape = [%cst_3_i32, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x8), padding_value = neg_zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>
  %pview_1 = make_partition_view %tview : partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>
  %tile, %result_token = load_view_tko weak %pview[%cst_3_i32, %cst_3_i32] token = %0 optimization_hints = <default = {}, sm_90 = {allow_tma = false, latency = 3}> inbounds = [true, false] : partition_view<tile=(8x8), padding_value = neg_zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x8xf32>, token
  %tile_2, %result_token_3 = load_view_tko relaxed device %pview[%cst_3_i32, %cst_3_i32] inbounds = [true, true] : partition_view<tile=(8x8), padding_value = neg_zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x8xf32>, token
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8x8xf32>
  %13 = store_view_tko weak %cst_0_f32, %pview[%cst_3_i32, %cst_3_i32] token = %0 optimization_hints = <default = {}, sm_90 = {allow_tma = false, latency = 3}> inbounds = [true, false] : tile<8x8xf32>, partition_view<tile=(8x8), padding_value = neg_zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> token
  %cst_0_f32_4 = constant <f32: 0.000000e+00> : tile<8x8xf32>
  %14 = atomic_red_view_tko relaxed device %pview_1[%cst_3_i32, %cst_3_i32], addf, %cst_0_f32_4 token = %0 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32> -> token
  %reshape = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %true = constant <i1: true> : tile<8xi1>
  %result, %result_token_5 = load_ptr_tko weak %bcast, %true, %cst_1_f32 token=%0 optimization_hints = <default = {}, sm_90 = {allow_tma = false, latency = 3}> : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
  %result_6, %result_token_7 = load_ptr_tko acquire tl_blk %bcast : tile<8xptr<f32>> -> tile<8xf32>, token
  %15 = store_ptr_tko weak %bcast, %cst_1_f32, %true token=%0 optimization_hints = <default = {}, sm_90 = {allow_tma = false, latency = 3}> : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  %result_8, %result_token_9 = atomic_rmw_tko relaxed device %bcast, addf, %cst_1_f32, %true token=%0 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> tile<8xf32>, token
  %result_10, %result_token_11 = atomic_cas_tko acq_rel device %bcast, %cst_1_f32, %cst_1_f32, %true token=%0 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> tile<8xf32>, token
  %16 = print_tko "a \22%f\22 %i\0A\\ \C3\A9", %cst_1_f32, %cst_3_i32 token=%0 : tile<8xf32>, tile<i32> -> token
  %17 = print_tko "" -> token
  assert %true, "no\09" : tile<8xi1>
  return
}
