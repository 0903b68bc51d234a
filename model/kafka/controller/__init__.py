"""Kafka's controller on ZooKeeper: an election, a controller that fails over, and what it tells the brokers."""

from fencepost.model.kafka.controller.protocol import kafka_controller

__all__ = ["kafka_controller"]
