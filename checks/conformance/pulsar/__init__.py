"""Protocols of Pulsar's control plane held against pulsar-metadata."""
