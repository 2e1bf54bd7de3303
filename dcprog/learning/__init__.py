"""What classifiers share, and no solver: samples, kernels, rules, margins, grids."""
