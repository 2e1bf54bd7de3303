"""Foreign solvers, one small file each."""
