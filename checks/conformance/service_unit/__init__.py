"""The conflict resolver of service units held against Pulsar's own class."""
