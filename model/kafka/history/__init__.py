"""The history of each mistake of Kafka's protocols: since when, fixed in which release, which of the modelled have it."""

from __future__ import annotations

from fencepost.model.kafka.history.controller import CONTROLLER

__all__ = ["CONTROLLER"]
