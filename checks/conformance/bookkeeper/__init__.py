"""The ledger protocol held against BookKeeper's client and bookies."""
