"""``fencepost odds``: how often an acknowledged message is lost, and the numbers of a cluster that decide it."""
