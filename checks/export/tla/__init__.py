"""A protocol as a TLA+ module: Z3 terms read as expressions, repetition folded into quantifiers and parameters, laid out."""
