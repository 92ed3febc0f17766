"""Products, eigenvectors and ridge regressions of large samples."""
