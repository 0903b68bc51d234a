"""Mutants: protocols with one small mistake each, made from their terms, to see whether the properties would notice it."""
