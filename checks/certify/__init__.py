"""Certificates of proofs: checked by two solvers, with nothing of what made them."""
