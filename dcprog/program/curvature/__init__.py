"""Curvature of expressions, proved."""
