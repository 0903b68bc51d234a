"""A running cluster, asked over its Admin REST interface or by what its own tools print, as a snapshot."""
