"""Kafka's controller, held against the classes of the releases that its model mirrors."""
