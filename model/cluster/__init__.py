"""A whole cluster as a user of one topic sees it."""

from fencepost.model.cluster.protocol import BUGS, OfPart, cluster

__all__ = ["BUGS", "OfPart", "cluster"]
