entry @k() optimization_hints=<default = {num_worker_warps_per_cta = 8}, sm_100 = {num_cta_in_cga = 2, occupancy = 4}> {
  return
}
