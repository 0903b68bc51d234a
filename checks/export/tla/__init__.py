"""A protocol as a TLA+ module: terms read as expressions, repetition folded into quantifiers and parameters, laid out."""
