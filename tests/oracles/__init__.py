"""Independent, slow references: brute force, exact fractions, mpmath, CVXPY."""
