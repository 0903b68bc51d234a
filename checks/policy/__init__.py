"""``fencepost policy``: what a load-balancing policy would do, asked of a snapshot of a cluster."""
