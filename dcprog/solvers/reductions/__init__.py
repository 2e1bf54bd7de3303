"""Our own solvers: what makes a large problem small before a foreign one sees it. They look at the compiled arrays alone."""
