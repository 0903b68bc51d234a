"""The service unit channel of the extensible load manager (PIP-192)."""

from fencepost.model.pulsar.service_unit.bugs import BUGS
from fencepost.model.pulsar.service_unit.migration import service_unit_migration
from fencepost.model.pulsar.service_unit.protocol import OUTSIDE, STORES, service_unit

__all__ = ["BUGS", "OUTSIDE", "STORES", "service_unit", "service_unit_migration"]
