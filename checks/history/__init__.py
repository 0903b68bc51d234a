"""A cluster's history: what its files tell of weeks, as tables on Spark, and the questions that are asked of them."""
