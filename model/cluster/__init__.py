"""A whole cluster as a user of one topic sees it."""

from fencepost.model.cluster.protocol import DEFECTS, OfPart, cluster

__all__ = ["DEFECTS", "OfPart", "cluster"]
