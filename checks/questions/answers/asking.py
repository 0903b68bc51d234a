"""Everything that a cluster's settings are asked, and the answers: the one place that asks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fencepost.checks.questions.answers.answering import answer
from fencepost.checks.questions.answers.ways import Answer
from fencepost.checks.questions.bugs.searching import KnownBug, Searches
from fencepost.checks.questions.bugs.whole import Whole
from fencepost.checks.questions.guarantees.establishing import Established, Means, establish, raised
from fencepost.checks.questions.guarantees.guarantee import Guarantee
from fencepost.checks.questions.guarantees.judging import Guaranteed
from fencepost.checks.questions.guarantees.ledgers import ledger_guarantees
from fencepost.checks.questions.guarantees.topics import bundle_guarantees, topic_guarantees
from fencepost.checks.questions.matters import MATTERS, Matter
from fencepost.checks.settings.cluster_settings import Cluster, Settings
from fencepost.properties.cluster.bugs import PARTS
from fencepost.properties.protocols import touching


@dataclass(frozen=True)
class Group:
    """Namespaces whose settings are the same: their names, these settings, and whether a message can be lost with
    them; None where the cluster's own answer holds."""

    names: tuple[str, ...]
    settings: Settings
    lost: Answer | None


def questions(cluster: Cluster) -> Iterator[Guarantee]:
    """What is asked of a cluster, in the order of the report."""
    settings, releases = cluster.settings, cluster.releases
    yield from ledger_guarantees(cluster)
    if cluster.of_bookies:
        from fencepost.checks.questions.guarantees.bookies import bookie_guarantees, replication_guarantees

        yield from bookie_guarantees(settings.bookies, releases)
        yield from replication_guarantees(cluster)
    if cluster.racks:
        from fencepost.checks.questions.guarantees.racks import rack_guarantees

        yield from rack_guarantees(cluster)
    yield from topic_guarantees(cluster.configuration, releases)
    yield from bundle_guarantees(cluster.configuration, releases)


def guaranteed(
    cluster: Cluster,
    means: Means,
    later: Guaranteed | None = None,
    established: Mapping[str, Established] | None = None,
) -> Guaranteed:
    """Every guarantee of a cluster. What there was no time for is not known. Raises what ``check`` raises.

    Of a cluster as it was before a ``later`` one only the numbers are wanted, and only where the question is another. What was
    ``established`` before, by name, is not asked again.
    """
    rows = []
    asked_before = [] if later is None else [row for row in later.rows if row.is_known]
    for question in questions(cluster):
        known = (row for row in asked_before if row.guarantee == question)
        answer = (established or {}).get(question.name) or next(known, None) or establish(question, means)
        rows.append(answer if later is not None else _with_remedy(answer, cluster, means))
        means.watch.reporter.passed()
    return Guaranteed(cluster, tuple(rows))


def answer_to(question: Guarantee, cluster: Cluster, means: Means) -> Established:
    """The answer to one question, with the sizes that would raise it. Raises what ``check`` raises."""
    return _with_remedy(establish(question, means), cluster, means)


def _with_remedy(row: Established, cluster: Cluster, means: Means) -> Established:
    if row.failure is None or not row.guarantee.raised_by:
        return row
    return replace(row, raised=raised(row, cluster, means))


def establish_named(names: Collection[str], cluster: Cluster, means: Means, rows: dict[str, Established]) -> None:
    """Establishes the guarantees of these names that the cluster has, into ``rows``. Raises what ``check`` raises."""
    for question in questions(cluster):
        if question.name in names and question.name not in rows:
            rows[question.name] = establish(question, means)


def answered(
    cluster: Cluster,
    bugs: Sequence[KnownBug],
    means: Means,
    searches: Searches,
    rows: dict[str, Established],
) -> Iterator[Answer]:
    """What users ask first, one answer after the other; the guarantees that it takes go to ``rows``. Raises what ``check``
    raises."""
    asked, whole = {question.name: question for question in questions(cluster)}, Whole(cluster.configuration, cluster.releases)
    for matter in MATTERS:
        for name in matter.rows:
            if name in asked and name not in rows:
                rows[name] = establish(asked[name], means)
        found = [rows[name] for name in matter.rows if name in rows]
        unread = _unread(matter, cluster)
        yield answer(matter, found, bugs, searches, means, whole, cluster.settings.orders, unread)


def _unread(matter: Matter, cluster: Cluster) -> str:
    """Which releases nobody has read for bugs by which it could happen in the cluster; empty if somebody has."""
    releases = cluster.releases
    known = [bug for entry in touching(matter.name, cluster.configuration) for bug in entry.bugs.values()]
    known += [bug for _, bugs in PARTS for bug in bugs.values() if bug.moves] if matter.whole else []
    of = {bug.release(releases) for bug in known if bug.is_unread(releases) and not bug.weakening}
    return f"nobody has read {' and '.join(sorted(of))} for known bugs" if of else ""
