"""What the values of a chart say of a cluster besides its settings: the image tags, and how many bookies there are.

Mirrors the templates of Apache's chart: ``images.COMPONENT.tag``, or ``defaultPulsarImageTag`` where that is empty. An image of
Pulsar has the BookKeeper that the release ships.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BrokerConf, Taken

BROKERS, BOOKIES, EVERY = "images.broker.tag", "images.bookie.tag", "defaultPulsarImageTag"
REPLICAS = "bookkeeper.replicaCount"
TAGS = (BROKERS, BOOKIES, EVERY)
VERSION = re.compile(r"\d+\.\d+\.\d+(-(M|milestone-?|rc|candidate-?)\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Deployment:
    """The releases of Pulsar that the brokers and the bookies run, by their image tags, and the number of bookies; None where
    no file says it."""

    brokers: Taken[str] | None = None
    bookies: Taken[str] | None = None
    count: Taken[int] | None = None


def deployment(conf: BrokerConf) -> Deployment:
    """What the files say of it; a tag without a version, or a count that is no number, says nothing."""
    count = conf.given(REPLICAS)
    known = count is not None and count.value.isdecimal() and int(count.value) > 0
    return Deployment(
        _version(conf, BROKERS),
        _version(conf, BOOKIES),
        Taken(count.key, int(count.value), count.place) if known and count is not None else None,
    )


def _version(conf: BrokerConf, key: str) -> Taken[str] | None:
    tag = conf.given(key) or conf.given(EVERY)
    match = tag and VERSION.match(tag.value)
    return Taken(tag.key, match[0], tag.place) if tag and match else None
