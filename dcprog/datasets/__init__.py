"""Data sets of two classes: by name, or from a CSV file of your own."""

from dcprog.datasets.loading import TABLE_I, Dataset, available, load, standardised

__all__ = ["TABLE_I", "Dataset", "available", "load", "standardised"]
