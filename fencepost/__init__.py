"""Fencepost as one package: the four floors are links to the folders at the top of the repository.

The folders stay where a reader looks for them; whoever installs Fencepost gets the one name ``fencepost``.
"""
