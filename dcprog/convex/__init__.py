"""The convex problem that one iteration solves, as arrays and oracles: NumPy only, no solver, no Pyomo."""
