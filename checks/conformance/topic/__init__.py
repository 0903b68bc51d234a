"""The topic held against ManagedLedgerImpl, PersistentTopic and MessageDeduplication."""
