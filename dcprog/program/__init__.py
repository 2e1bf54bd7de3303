"""What a researcher declares, read from Pyomo, checked, and compiled to arrays. No other room knows Pyomo."""
