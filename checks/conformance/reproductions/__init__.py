"""Findings shown on released software with processes or whole brokers, each beside a control that loses nothing."""
