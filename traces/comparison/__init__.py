"""Comparisons of policies: the same runs under each of them, here or on Spark, into Parquet."""
