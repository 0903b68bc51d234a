"""How long the steps of the protocols take and how often faults happen: numbers with their sources, and clocks of actions."""
