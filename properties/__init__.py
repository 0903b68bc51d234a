"""What must hold: the properties, lemmas and reachability goals of each protocol."""
