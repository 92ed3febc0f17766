"""Formulas: text -> tree -> NumPy, JAX and LaTeX; polynomial form, symmetries and breaks."""
