"""Questions with a number for an answer about the racks and regions that the copies of entries are on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fencepost.checks.questions.matters import Guarantee
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.bookkeeper.placement_regions import rules_of
from fencepost.model.bookkeeper.regions import region_ensembles
from fencepost.model.counts import count_of, listed
from fencepost.properties.placement import suite
from fencepost.properties.placement.entry import ENTRY
from fencepost.properties.registry import Value

MOST_PLACES, MOST_RACKS = 5, 6
"""Ensembles and racks above these are not asked about: a search of them takes minutes."""
SURVIVES = replace(ENTRY, suite=suite.survives_racks)
PLACED = replace(ENTRY, suite=suite.writes_go_on)


@dataclass(frozen=True)
class _Unit:
    """What is lost or cut off at once, how many there are, and what to do where one takes an acknowledged entry."""

    name: str
    number: int
    remedy: str

    @property
    def plural(self) -> str:
        """The same as the names of guarantees have it."""
        return f"{self.name}s"


def rack_guarantees(cluster: Cluster) -> Iterator[Guarantee]:
    """What is asked of the racks, of which each has some bookies, and, where there are several, of the regions."""
    racks = _Unit(
        "rack",
        len(_counts(cluster, cluster.racks)),
        "put the bookies on as many racks as the write quorum, or raise managedLedgerDefaultAckQuorum",
    )
    yield from _guarantees(cluster, racks)
    if len(cluster.regions) > 1:
        yield from _guarantees(cluster, _Unit("region", len(cluster.regions), _remedy(cluster)))


def _remedy(cluster: Cluster) -> str:
    """What to do where a region takes an acknowledged entry."""
    if not cluster.settings.placement.regions.value:
        return f"{cluster.settings.placement.regions.key}=true keeps copies apart"
    if cluster.ensemble > cluster.write_quorum:
        return "an ensemble goes region by region: make it as small as the write quorum"
    return "raise managedLedgerDefaultAckQuorum, or put the bookies in more regions"


def _guarantees(cluster: Cluster, unit: _Unit) -> Iterator[Guarantee]:
    """What is asked of the loss and the outage of racks, or of regions."""
    name, names, number = unit.name, unit.plural, unit.number
    whole, unasked = _parameters(cluster, unit), _unasked(cluster)
    recovers = unasked or cluster.settings.placement.unmodelled_recovery
    copies = count_of(cluster.write_quorum, "copy")
    usual = f"an entry usually has {copies}, when all answers have come: it "
    moved = "also if it was written meanwhile, or auto-recovery has moved its copies"
    lost, cut_off = f"{{n}} lost {name}{{s}} of bookies", f"{{n}} {name}{{s}} of bookies cut off"
    yield Guarantee(
        names,
        f"an acknowledged entry survives the loss of {{n}} {name}{{s}} of bookies",
        f"an acknowledged entry can be lost with one {name} of bookies; {unit.remedy}",
        SURVIVES,
        whole,
        ("losses",),
        min(number, cluster.ack_quorum),
        event=lost,
        unasked=unasked,
    )
    yield Guarantee(
        f"usual_{names}",
        f"{usual}survives the loss of {{n}} {name}{{s}} of bookies",
        f"{usual}can be lost with one {name} of bookies",
        SURVIVES,
        {**whole, "settled": True},
        ("losses",),
        min(number, cluster.write_quorum),
        event=lost,
        unasked=unasked,
    )
    yield Guarantee(
        f"{names}_after_outage",
        f"after an outage of a {name} such an entry survives the loss of {{n}} {name}{{s}}, {moved}",
        f"after an outage of a {name} such an entry can be lost with one {name}, if it was written meanwhile, or auto-recovery "
        f"has moved its copies: all are {'on' if name == 'rack' else 'in'} one {name} then; one {name} more avoids it",
        SURVIVES,
        {**whole, "settled": True, "outages": 1},
        ("losses",),
        min(number, cluster.write_quorum),
        event=lost,
        unasked=recovers,
    )
    yield Guarantee(
        f"{names}_writing",
        f"with {{n}} {name}{{s}} of bookies cut off new ledgers can be created",
        f"with one {name} of bookies cut off no ledger can be created: writing stops",
        PLACED,
        {**whole, "losses": 0},
        ("outages",),
        number,
        event=cut_off,
        unasked=unasked,
    )


def _parameters(cluster: Cluster, unit: _Unit) -> Mapping[str, Value]:
    """The racks and the settings as parameters of a placement."""
    settings = cluster.settings.placement
    by_regions = settings.regions.value
    policy = "regionaware" if by_regions else "rackaware" if settings.rackaware.value else "random"
    regional: Mapping[str, Value] = {
        "takes": unit.name,
        "listed": by_regions and settings.listed is not None,
        "min_regions": settings.min_regions.value,
        "recovery": "regionaware" if settings.recovers_by_regions else "rackaware",
    }
    apart = by_regions or settings.recovers_by_regions or unit.name == "region"
    return {
        "racks": _by_region(cluster) if apart else _joined(cluster, cluster.racks),
        "ensemble": cluster.ensemble,
        "write_quorum": cluster.write_quorum,
        "ack_quorum": cluster.ack_quorum,
        "policy": policy,
        "min_racks": settings.min_racks.value,
        "enforced": settings.enforced.value,
        **ENTRY.behaviour(cluster.releases),
        **(regional if apart else {}),
    }


def _counts(cluster: Cluster, racks: Mapping[str, Sequence[str]]) -> list[int]:
    """How many bookies each of these racks has, the most first; none that is empty."""
    return sorted((len(bookies) for bookies in racks.values() if bookies), reverse=True)


def _joined(cluster: Cluster, racks: Mapping[str, Sequence[str]]) -> str:
    """These racks as a placement has them. Racks of as many bookies are alike, and an ensemble takes no more of one than it has
    places."""
    return "+".join(str(min(count, cluster.ensemble)) for count in _counts(cluster, racks))


def _by_region(cluster: Cluster) -> str:
    regions = (_joined(cluster, {rack: cluster.racks[rack] for rack in racks}) for racks in cluster.regions.values())
    return "/".join(sorted(filter(None, regions), reverse=True))


def _unasked(cluster: Cluster) -> str:
    """Why nothing is asked of these racks; empty if it is."""
    settings, counts = cluster.settings.placement, _counts(cluster, cluster.racks)
    if settings.unmodelled:
        return settings.unmodelled
    by_depth = {rack.strip("/").count("/"): rack for rack, bookies in sorted(cluster.racks.items()) if bookies}
    if len(by_depth) > 1 and (settings.rackaware.value or settings.regions.value):
        # NetworkTopologyImpl.add refuses a bookie whose rack has another depth than the first
        return f"{listed(list(by_depth.values()))} are not of one depth: the client uses the bookies of one of them only"
    if settings.regions.value or settings.recovers_by_regions:
        if not cluster.regions:
            return f"{settings.regions}: a rack whose name is not of the form /region/rack is not modelled"
        if settings.listed is not None and settings.regions.value:
            named = set(settings.listed.value.split(";"))
            if named != cluster.regions.keys():
                known = ", ".join(sorted(cluster.regions))
                return f"{settings.listed}: other regions than those of the racks, {known}, are not modelled"
    if cluster.ensemble > sum(counts):
        return f"an ensemble of {cluster.ensemble} is larger than the {count_of(sum(counts), 'bookie')} of the racks"
    if cluster.ensemble > MOST_PLACES or len(counts) > MOST_RACKS:
        return f"ensembles above {MOST_PLACES} and more than {MOST_RACKS} racks are not asked about"
    if settings.regions.value and not region_ensembles(rules_of(_parameters(cluster, _Unit("region", 0, ""))))[0]:
        return f"no ledger can be created: the policy by regions has no ensemble of {cluster.ensemble} on these racks"
    return ""
