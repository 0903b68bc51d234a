"""Load balancing held against Pulsar's own classes: both are asked the same, at random, and must answer the same."""
