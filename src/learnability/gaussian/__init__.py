"""Integrals over Gaussian variables: rules, splits at breaks, lines, Hermite products."""
