"""The hash range of a Pulsar namespace: how it is cut into bundles, looked up and split.

Mirrors NamespaceBundles, NamespaceBundle, NamespaceBundleFactory, PoliciesUtil and the four split algorithms of Pulsar
4.2.4 and 5.0.0-M1. A layout is an array of boundaries, as upstream: bundle i reaches from boundary i up to, but without,
boundary i + 1; the last bundle includes its upper boundary, 0xffffffff.

The arithmetic (``boundaries``) is written once and runs on Python's integers and on Z3's terms;
``properties/hash_range/arithmetic.py`` proves it right over all 32-bit hashes. ``layout`` and ``algorithms`` put it together
for numbers.
"""

from fencepost.model.pulsar.hash_range.algorithms import (
    ALGORITHMS,
    TopicLoad,
    flow_or_qps_equally_divide,
    range_equally_divide,
    specified_positions_divide,
    topic_count_equally_divide,
)
from fencepost.model.pulsar.hash_range.boundaries import BUGS, FULL, HashRange
from fencepost.model.pulsar.hash_range.layout import Bundle, Layout, Refused, given_boundaries, topic_hash

__all__ = [
    "ALGORITHMS",
    "BUGS",
    "FULL",
    "Bundle",
    "HashRange",
    "Layout",
    "Refused",
    "TopicLoad",
    "flow_or_qps_equally_divide",
    "given_boundaries",
    "range_equally_divide",
    "specified_positions_divide",
    "topic_count_equally_divide",
    "topic_hash",
]
