"""Mutation testing: small faults are put into a copy of the package, one at a time, and the tests have to notice them.

    python -m tools.mutate --sample 300 --seed 0

Coverage says which lines run, this says which lines are looked at. :mod:`tools.mutate.mutants` makes the faults,
:mod:`tools.mutate.workshop` the copy and the map from lines to tests, :mod:`tools.mutate.trial` tries one fault,
:mod:`tools.mutate.bench` is the warm process that runs the tests in forks of itself, and :mod:`tools.mutate.plugin`
tells pytest which ones, in what order, and takes the rescuers from solvers where possible.
"""
