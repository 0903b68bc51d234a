"""A topic and its managed ledger; a module each for what ManagedLedgerImpl and PersistentTopic do of it."""

from fencepost.model.pulsar.topic.protocol import topic

__all__ = ["topic"]
