"""What to change first, asked of the cluster of a command: the question is answered again with each remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.questions.answering import Answer
from fencepost.checks.questions.asking import answered
from fencepost.checks.questions.bug_search import Searches, known_bugs_in
from fencepost.checks.questions.events import in_order, never
from fencepost.checks.questions.guarantees.establishing import Means
from fencepost.checks.questions.judging import Guaranteed
from fencepost.checks.questions.remedies import ChangeFirst, Remedy, candidates, first_of, tried
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.model.releases import Releases


def change_first(asked: CheckRequest, cluster: Cluster, now: Guaranteed, lost: Answer, means: Means) -> ChangeFirst:
    """Searches with each remedy for the ways in which an acknowledged message is lost. Raises what ``check`` raises."""
    counted = in_order(lost.ways, never(asked.never), asked.accepted).count
    if not counted or means.is_over:
        return ChangeFirst(())

    def ask(settings: Mapping[str, str], releases: Releases) -> Answer:
        changed = read_settings(*asked.conf, instead=settings)
        bookies = max(cluster.bookies, changed.ledger.ensemble.value)
        other = replace(cluster, settings=changed, releases=releases, bookies=bookies)
        bugs = known_bugs_in(other.configuration, releases)
        little = means.with_little()
        return next(answered(other, bugs, little, Searches(means.check), {}))

    results = tried(candidates(counted, now.cluster.releases, _copies(now)), lost, counted, ask)
    chosen = tuple(first_of(results))
    searched = [each.remedy for each in chosen if each.remedy.kind not in ("runbook", "upgrade")]
    if not searched or means.is_over:
        return ChangeFirst(chosen)
    settings = {key: value for remedy in searched for key, value in remedy.settings.items()}
    return ChangeFirst(chosen, ask(settings, _newest(searched, now.cluster.releases)))


def _newest(remedies: list[Remedy], releases: Releases) -> Releases:
    return next((each.releases for each in remedies if each.releases != releases), releases)


def _copies(now: Guaranteed) -> dict[str, int]:
    """The settings that keep a message through one more lost disk, if a row says which."""
    raised = next((row.raised for row in now.rows if row.guarantee.name == "disks"), None)
    if raised is None:
        return {}
    taken, sizes = now.cluster.taken, now.cluster.sizes
    return {taken[name].key: size for name, size in vars(raised).items() if name in taken and size != getattr(sizes, name)}
