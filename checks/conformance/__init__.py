"""Protocols held against the real code: the model chooses the steps, Java classes of a release take them, both are compared."""
