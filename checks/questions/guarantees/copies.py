"""Questions with a number for an answer about copies of entries: the racks and regions that have them, and auto-recovery."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from fencepost.checks.questions.matters import Guarantee
from fencepost.checks.settings.bookie_settings import AUDITS
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.bookkeeper.isolation import counts_down, isolation_of
from fencepost.model.bookkeeper.placement_regions import rules_of
from fencepost.model.bookkeeper.regions import region_ensembles
from fencepost.model.counts import count_of, listed
from fencepost.model.language import Protocol
from fencepost.properties.placement import suite
from fencepost.properties.placement.entry import ENTRY
from fencepost.properties.registry import Value
from fencepost.properties.replication import guarantees as suites
from fencepost.properties.replication.entry import ENTRY as REPLICATION
from fencepost.properties.vocabulary import Suite

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
        len(_counts(cluster.racks)),
        "put the bookies on as many racks as the write quorum, or raise managedLedgerDefaultAckQuorum",
    )
    yield from _guarantees(cluster, racks)
    if len(cluster.regions) > 1:
        yield from _guarantees(cluster, _Unit("region", len(cluster.regions), _remedy(cluster)))


def _remedy(cluster: Cluster) -> str:
    """What to do where a region takes an acknowledged entry."""
    settings = cluster.settings.placement
    if not settings.by_regions:
        instead = f" without {settings.groups.key}" if settings.groups else ""
        return f"{settings.regions.key}=true keeps copies apart{instead}"
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
    by_regions = settings.by_regions
    by_racks = settings.rackaware.value or settings.groups is not None
    policy = "regionaware" if by_regions else "rackaware" if by_racks else "random"
    regional: Mapping[str, Value] = {
        "takes": unit.name,
        "listed": by_regions and settings.listed is not None,
        "min_regions": settings.min_regions.value,
        "recovery": "regionaware" if settings.recovers_by_regions else "rackaware",
    }
    apart = by_regions or settings.recovers_by_regions or unit.name == "region"
    placed = _layout(cluster) if apart else [sorted(chain(*_layout(cluster)), reverse=True)]
    kinds = "".join(kind for region in placed for _, kind in region)
    isolated: Mapping[str, Value] = {"groups": kinds, "counts_down": counts_down(cluster.releases.pulsar)}
    return {
        "racks": "/".join("+".join(str(size) for size, _ in region) for region in placed),
        "ensemble": cluster.ensemble,
        "write_quorum": cluster.write_quorum,
        "ack_quorum": cluster.ack_quorum,
        "policy": policy,
        "min_racks": settings.min_racks.value,
        "enforced": settings.enforced.value,
        **ENTRY.behaviour(cluster.releases),
        **(regional if apart else {}),
        **(isolated if settings.groups else {}),
    }


def _counts(racks: Mapping[str, Sequence[str]]) -> list[int]:
    """How many bookies each of these racks has, the most first; none that is empty."""
    return sorted((len(bookies) for bookies in racks.values() if bookies), reverse=True)


def _layout(cluster: Cluster) -> list[list[tuple[int, str]]]:
    """The racks by region, if they name one, each with the number of its bookies and what it is by its groups. Racks that are
    the same in both are alike, and an ensemble takes no more bookies of one than it has places."""
    of_region = list(cluster.regions.values()) or [list(cluster.racks)]
    racks = [[(cluster.racks[rack], _kinds(cluster, rack)) for rack in region if cluster.racks[rack]] for region in of_region]
    sized = [[(min(len(bookies), cluster.ensemble), min(kinds)) for bookies, kinds in region] for region in racks]
    return sorted((sorted(region, reverse=True) for region in sized), reverse=True)


def _kinds(cluster: Cluster, rack: str) -> set[str]:
    """What the bookies of a rack are by their groups."""
    groups = {bookie: [name for name, members in cluster.groups.items() if bookie in members] for bookie in cluster.racks[rack]}
    return {cluster.settings.placement.kind(groups[bookie]) for bookie in cluster.racks[rack]}


def _unasked_groups(cluster: Cluster) -> str:
    """Why nothing is asked of racks with these isolation groups; empty if it is."""
    settings = cluster.settings.placement
    if not cluster.groups:
        return (
            f"{settings.groups}: which bookies are in these groups is not known: [groups] of a profile, or --cluster, says it"
        )
    if mixed := [rack for rack, bookies in cluster.racks.items() if bookies and len(_kinds(cluster, rack)) > 1]:
        return f"{settings.groups}: {mixed[0]} has bookies that are in these groups and others: that is not modelled"
    racks = list(chain(*_layout(cluster)))
    groups = isolation_of("".join(kind for _, kind in racks), counts_down(cluster.releases.pulsar))
    offered = sum(racks[r][0] for r in groups.allowed([size for size, _ in racks], cluster.ensemble))
    if offered < cluster.ensemble:
        few = f"an ensemble of {cluster.ensemble} is larger than the {count_of(offered, 'bookie')} of the groups"
        return f"{settings.groups}: no ledger can be created: {few}"
    return ""


def _unasked(cluster: Cluster) -> str:
    """Why nothing is asked of these racks; empty if it is."""
    settings, counts = cluster.settings.placement, _counts(cluster.racks)
    if settings.unmodelled or (settings.groups and _unasked_groups(cluster)):
        return settings.unmodelled or _unasked_groups(cluster)
    by_depth = {rack.strip("/").count("/"): rack for rack, bookies in sorted(cluster.racks.items()) if bookies}
    if len(by_depth) > 1 and (settings.rackaware.value or settings.regions.value):
        # NetworkTopologyImpl.add refuses a bookie whose rack has another depth than the first
        return f"{listed(list(by_depth.values()))} are not of one depth: the client uses the bookies of one of them only"
    if settings.by_regions or settings.recovers_by_regions:
        if not cluster.regions:
            return f"{settings.regions}: a rack whose name is not of the form /region/rack is not modelled"
        if settings.listed is not None and settings.by_regions:
            named = set(settings.listed.value.split(";"))
            if named != cluster.regions.keys():
                known = ", ".join(sorted(cluster.regions))
                return f"{settings.listed}: other regions than those of the racks, {known}, are not modelled"
    if cluster.ensemble > sum(counts):
        return f"an ensemble of {cluster.ensemble} is larger than the {count_of(sum(counts), 'bookie')} of the racks"
    if cluster.ensemble > MOST_PLACES or len(counts) > MOST_RACKS:
        return f"ensembles above {MOST_PLACES} and more than {MOST_RACKS} racks are not asked about"
    if settings.by_regions and not region_ensembles(rules_of(_parameters(cluster, _Unit("region", 0, ""))))[0]:
        return f"no ledger can be created: the policy by regions has no ensemble of {cluster.ensemble} on these racks"
    return ""


EVENTS = {
    "worker_sessions": "{n} lost session{s} of a worker of auto-recovery",
    "recover": "{n} run{s} of the command recover",
}
"""What the rows count that say whether a copy can be lost."""
EMPTY = "comes back with an empty disk under its old name"
MOST = 2
"""How many faults are asked about."""

MOST_COPIES = 3
"""Write quorums above this are not asked about: a search of them takes minutes."""


def replication_guarantees(cluster: Cluster) -> Iterator[Guarantee]:
    """What is asked of auto-recovery, with the known bugs of the release that the events of a row can show."""
    settings, releases = cluster.settings.auto_recovery, cluster.releases
    copies, spare = cluster.write_quorum, cluster.bookies - cluster.ensemble
    unasked = settings.unmodelled
    if not unasked and copies > MOST_COPIES:
        unasked = f"write quorums above {MOST_COPIES} are not asked about"
    not_replaced = ""
    if copies < 2:
        not_replaced = "with a write quorum of 1 a bookie that is away has the only copy"
    elif not spare:
        not_replaced = "no bookie is left that could take the place of another; name more by --bookies"
    modelled = min(copies, MOST_COPIES)
    daily, weekly = settings.audits.value > 0, settings.checks.value > 0
    small: dict[str, Value] = {"bookies": modelled + 1, "ensemble": modelled, "daily": daily}
    there: Mapping[str, Value] = {"bookies": modelled + min(spare, MOST)}
    never = _never(copies, spare, weekly)

    def row(
        name: str,
        says: str,
        denies: str,
        suite: Callable[[Protocol], Suite],
        parameters: Mapping[str, Value],
        events: tuple[str, ...],
        most: int,
        bugs: Mapping[str, Mapping[str, Value]],
        why: str = "",
    ) -> Guarantee:
        present, why = REPLICATION.bugs_of(releases), unasked or why
        shown_by = {} if why else {bug: {**small, **shown} for bug, shown in bugs.items() if bug in present}
        entry, counted = replace(REPLICATION, suite=suite), EVENTS.get(name, "")
        parameters = {**small, **parameters}
        asked = Guarantee(name, says, denies, entry, parameters, events, most, shown_by, event=counted, unasked=why)
        return replace(asked, denies=never[name], never=True) if name in never else asked

    yield row(
        "replaced",
        "a ledger is whole again after {n} absence{s} of bookies, though they stay away",
        "a ledger can stay without a copy after an absence of a bookie",
        suites.becomes_whole_again,
        there,
        ("crashes",),
        MOST,
        {"listed_replica_is_no_news": there, "return_unseen": there},
    )
    found = f"by the check of all bookies, {settings.audits.value} s later at most" if daily else "by the next attempt"
    yield row(
        "audits",
        f"a ledger is whole again after an absence of a bookie though {{n}} audit{{s}} of it fail, {found}",
        "a ledger stays without a copy when the audit of a lost bookie fails: nothing repeats it; set "
        f"{AUDITS}=3600, or run bookkeeper shell triggeraudit",
        suites.becomes_whole_again,
        {**there, "crashes": 1},
        ("failed_audits",),
        1,
        {"audit_not_repeated": {**there, "crashes": 1, "failed_audits": 1}},
        not_replaced,
    )
    yield row(
        "decommissioned",
        "decommissionbookie ends for {n} bookie{s} at once",
        "decommissionbookie may never end",
        suites.decommissions_end,
        there,
        ("crashes", "decommissions"),
        MOST,
        {},
    )
    yield row(
        "emptied",
        "a ledger is whole again after {n} bookie{s} came back with an empty disk under the old name",
        "a ledger can stay without a copy after a bookie came back with an empty disk under its name",
        suites.becomes_whole_again,
        {**there, "crashes": 0, "emptied": True, "weekly": weekly},
        ("losses",),
        MOST,
        {},
    )
    keeps, loses = (
        "no copy of an acknowledged entry is lost while bookies are replaced ",
        "a copy of an entry can be lost when ",
    )
    collected: Mapping[str, Value] = {"crashes": 1, "collects": True}
    yield row(
        "worker_sessions",
        keeps + "through {n} lost session{s} of a worker",
        loses + "a worker of auto-recovery loses its session",
        suites.keeps_copies,
        {"workers": 2, "crashes": 1},
        ("expiries",),
        1,
        {"target_is_a_member": {"workers": 2, "crashes": 2}, "collector_trusts_the_lock": collected},
        not_replaced,
    )
    yield row(
        "recover",
        keeps + "by {n} run{s} of the command recover",
        loses + "the command recover runs beside auto-recovery",
        suites.keeps_copies,
        {"crashes": 1},
        ("commands",),
        1,
        {"target_is_a_member": {"crashes": 2}, "collector_trusts_the_lock": collected},
        not_replaced,
    )


def _never(copies: int, spare: int, weekly: bool) -> Mapping[str, str]:
    """What is denied, by row, where not one bookie is replaced; there is no entry for a row where one is.

    BookKeeperAdmin.decommissionBookie refuses a bookie that is up, and BookKeeperAdmin.getReplacementBookiesByIndexes leaves
    out every member of an ensemble, also one that is up and empty. AuditorBookieCheckTask.auditBookies looks for bookies that
    are away, so only AuditorCheckAllLedgersTask finds what one lacks that is up.
    """
    whole = "a ledger never becomes whole again when a bookie "
    stays, back, ends = whole + "stays away: ", whole + f"{EMPTY}: ", "decommissionbookie never ends: "
    if copies < 2:
        only, more = "with a write quorum of 1 it has the only copy", "set managedLedgerDefaultWriteQuorum=2"
        return {
            "replaced": f"{stays}{only}; start it again, and {more} for new ledgers",
            "decommissioned": f"{ends}{only}, and has to be stopped; start it again until its ledgers are deleted, and {more}",
            "emptied": f"{back}{only}, which is lost; {more} for new ledgers",
        }
    if spare < 1:
        nobody = "no other bookie is there to take its place"
        return {
            "replaced": f"{stays}{nobody}; add one, or start it again",
            "decommissioned": f"{ends}{nobody}; add one first",
            "emptied": f"{back}{nobody}, nor is it given its own; start it under another name (bookieId), or add one",
        }
    unseen = f"a ledger may never become whole again when a bookie {EMPTY}: nothing checks what is up"
    return {} if weekly else {"emptied": f"{unseen}; set auditorPeriodicCheckInterval=604800"}
