"""Data sets of two classes: by name, from a CSV file of your own, or from the papers' generators."""

from dcprog.datasets import generators
from dcprog.datasets.catalogue import catalogue
from dcprog.datasets.download import download
from dcprog.datasets.loading import TABLE_I, Dataset, available, load, standardised

__all__ = ["TABLE_I", "Dataset", "available", "catalogue", "download", "generators", "load", "standardised"]
