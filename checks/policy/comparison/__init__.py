"""``fencepost policy compare``: what a proposed policy makes better and worse than the present one, and how certain that is."""
