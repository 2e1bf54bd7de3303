"""How the machine is used: threads of BLAS, processes that work for this one, and what Python does when it imports."""
