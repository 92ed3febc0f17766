"""Learners: immutable records of hyper-parameters with `simulate` and `predict`."""
