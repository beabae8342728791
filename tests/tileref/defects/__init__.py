"""Small kernels with one fault each, and near misses without: what ``tileref`` must report, and must not."""
