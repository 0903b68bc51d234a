"""Exploration on Spark: random walks by the billion, and exhaustive searches that do not fit in one machine's memory."""
