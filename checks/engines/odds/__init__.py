"""How often: the reachable graph of an instance with rates, solved exactly or walked with weights."""
