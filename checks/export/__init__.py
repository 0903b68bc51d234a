"""Protocols and their proofs, written for other tools: modules for TLC, obligations for any SMT solver."""
