"""The instances in which each protocol is checked, size by size, and those that show its defects."""
