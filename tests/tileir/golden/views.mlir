entry @k(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>>
  %pview_0 = make_partition_view %tview : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>>
  %pview_1 = make_partition_view %tview : partition_view<tile=(4x8), padding_value = neg_zero, tensor_view<?x64xf32, strides=[?,1]>>
  %pview_2 = make_partition_view %tview : partition_view<tile=(4x8), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>>
  %pview_3 = make_partition_view %tview : partition_view<tile=(4x8), padding_value = pos_inf, tensor_view<?x64xf32, strides=[?,1]>>
  %pview_4 = make_partition_view %tview : partition_view<tile=(4x8), padding_value = neg_inf, tensor_view<?x64xf32, strides=[?,1]>>
  %pview_5 = make_partition_view %tview : partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
  %sview = make_strided_view %tview : strided_view<tile=(4x8), traversal_strides=[2,3], padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
  %sview_6 = make_strided_view %tview : strided_view<tile=(4x8), traversal_strides=[2,3], tensor_view<?x64xf32, strides=[?,1]>>
  %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
  %gsview_7 = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=1>
  %0 = iota : tile<8xi32>
  %tile, %result_token = load_view_tko weak %gsview_7[%arg1, %0] : gather_scatter_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=1>, tile<i32>, tile<8xi32> -> tile<4x8xf32>, token
  %1 = iota : tile<8xi32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<4x8xf32>
  %2 = store_view_tko weak %cst_0_f32, %gsview_7[%arg1, %1] : tile<4x8xf32>, gather_scatter_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=1>, tile<i32>, tile<8xi32> -> token
  %3:2 = get_index_space_shape %sview_6 : strided_view<tile=(4x8), traversal_strides=[2,3], tensor_view<?x64xf32, strides=[?,1]>> -> tile<i32>
  %4:2 = get_index_space_shape %gsview_7 : gather_scatter_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=1> -> tile<i32>
  return
}
