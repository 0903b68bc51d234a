"""A running cluster: what it is asked, and the files of what it said."""
