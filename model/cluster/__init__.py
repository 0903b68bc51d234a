"""A whole cluster as a user of one topic sees it."""

from fencepost.model.cluster.protocol import DEFECTS, cluster

__all__ = ["DEFECTS", "cluster"]
