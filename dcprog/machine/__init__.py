"""How the machine is used: threads of BLAS, and processes that work for this one."""
