"""Which packages there are: those found in dcprog/, and models/ as ``dcprog.models``, which pyproject cannot say."""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["dcprog*"]), "dcprog.models"], package_dir={"dcprog.models": "models"})
