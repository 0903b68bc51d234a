"""What happened: traces of a protocol, as text that a person reads, as files that other tools open, and replayed."""
