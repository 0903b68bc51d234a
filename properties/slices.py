"""Which properties a slice of a protocol decides, and the slice that decides some."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.analysis.slices import sliced
from fencepost.model.language import Protocol
from fencepost.properties.vocabulary import Property

DECIDED = ("always", "step", "sometimes")
"""The kinds of what is decided by what can be reached. On where runs end and who waits forever, all actions have a say."""


def slice_for(protocol: Protocol, properties: Collection[Property]) -> Protocol:
    """What these properties can see of a protocol: all of it, if one of them is not decided by a slice."""
    if any(prop.kind not in DECIDED for prop in properties):
        return protocol
    return sliced(protocol, [prop.judged for prop in properties])
