"""The first question asked again in other clusters: with each remedy, and with the policies of namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from fencepost.checks.commands.check.profile import namespaces_of
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.engines.ahead import Means
from fencepost.checks.inputs.input_files import MOST_BY_HAND, read_bytes
from fencepost.checks.questions.answers.answering import Group, answer_to, answered, questions
from fencepost.checks.questions.answers.remedies import Remedy, answered_alike, candidates, first_of, tried
from fencepost.checks.questions.answers.ways import Answer, Way, never
from fencepost.checks.questions.bugs.searching import KnownBug, known_bugs_in
from fencepost.checks.questions.guarantees.establishing import Established, establish
from fencepost.checks.questions.guarantees.judging import Guaranteed
from fencepost.checks.questions.guarantees.ledgers import ledger_guarantees
from fencepost.checks.questions.matters import Matter
from fencepost.checks.settings.cluster_settings import Cluster, Settings, read_settings
from fencepost.model.counts import count_of
from fencepost.model.releases import Releases
from fencepost.properties.topic.in_cluster import parameters_of


def for_user(asked: CheckRequest, answer: Answer, first: int = 1) -> Answer:
    """The answer with what does not happen here and what is accepted; its ways are numbered from ``first`` on."""
    return replace(answer, never=never(asked.never), accepted=frozenset(asked.accepted), first=first)


def numbered_answers(
    asked: CheckRequest, cluster: Cluster, bugs: Sequence[KnownBug], means: Means, rows: dict[str, Established]
) -> Iterator[Answer]:
    """What users ask first, one answer after the other, with the numbers of its ways; the guarantees that it takes go to
    ``rows``. Raises what ``check`` raises."""
    first = 1
    for each in answered(cluster, bugs, means, rows):
        answer = for_user(asked, each, first)
        first += len(answer.numbered)
        yield answer


def change_first(
    asked: CheckRequest, cluster: Cluster, now: Guaranteed, lost: Answer, means: Means
) -> tuple[tuple[Remedy, ...], Answer | None]:
    """What to change first, found by searches with each remedy for the ways in which an acknowledged message is lost; and the
    answer with all of it that can be searched with, None if that was not asked. Raises what ``check`` raises."""
    counted = lost.sorted.count
    if not counted or means.is_over:
        return (), None
    chosen = tuple(first_of(_tried(asked, now, lost, counted, means)))
    searched = [each for each in chosen if each.kind not in ("runbook", "upgrade")]
    if not searched or means.is_over:
        return chosen, None
    settings = {key: value for remedy in searched for key, value in remedy.settings.items()}
    return chosen, _ask(asked, cluster, lost.matter, means, settings, _newest(searched, now.cluster.releases))


def remedy_for(asked: CheckRequest, cluster: Cluster, way: Way, answer: Answer, means: Means) -> Remedy | None:
    """The cheapest remedy with which the answer does not have a way any more; None if none is known. Raises what ``check``
    raises."""
    priced = ("disks", "writing") if way.bug is None and way.row is not None else ()
    rows = [answer_to(question, cluster, means) for question in questions(cluster) if question.name in priced]
    return next(_tried(asked, Guaranteed(cluster, tuple(rows)), answer, [way], means), None)


def _tried(asked: CheckRequest, now: Guaranteed, answer: Answer, ways: Sequence[Way], means: Means) -> Iterator[Remedy]:
    """The remedies that are known for some ways of an answer, each with those that it closes."""
    cluster = now.cluster

    def depends_on(releases: Releases) -> object:
        return answered_alike(replace(cluster, releases=releases).configuration)

    copies, price, section = _copies(now), _price(now, means), answer.matter.name
    remedies = candidates(ways, cluster.releases, depends_on, copies, price, section)
    return tried(remedies, answer, ways, partial(_ask, asked, cluster, answer.matter, means))


def _ask(
    asked: CheckRequest, cluster: Cluster, matter: Matter, means: Means, settings: Mapping[str, str], releases: Releases
) -> Answer:
    """The answer to a question with other settings in place of those there are, and with these releases."""
    changed = read_settings(*asked.conf, instead=settings)
    bookies = max(cluster.bookies, changed.ledger.ensemble.value)
    other = replace(cluster, settings=changed, releases=releases, bookies=bookies)
    bugs = known_bugs_in(other.configuration)
    then = next(answered(other, bugs, means.with_little().apart(), {}, (matter.name,)))
    means.passed()
    return for_user(asked, then)


def _newest(remedies: list[Remedy], releases: Releases) -> Releases:
    """The releases of the last of the remedies that has others."""
    return next((each.releases for each in reversed(remedies) if each.releases != releases), releases)


def _raised(now: Guaranteed) -> Mapping[str, int]:
    """The sizes that keep a message through one more lost disk, if a row says which."""
    return next((row.raised for row in now.rows if row.guarantee.name == "disks"), {})


def _price(now: Guaranteed, means: Means) -> str:
    """What these cost: how many bookies may then be down for writing, if those are fewer, or the disk of another copy."""
    raised = _raised(now)
    if not raised:
        return ""
    (writing,) = (each for each in ledger_guarantees(now.cluster.resized(raised)) if each.name == "writing")
    then = establish(writing, means.with_little()).figure
    before = next((row.figure for row in now.rows if row.guarantee.name == "writing"), None)
    fewer = then is not None and before is not None and then < before
    stops = f"writing then stops with {count_of((then or 0) + 1, 'bookie')} down" if fewer else ""
    return " and ".join(filter(None, [stops, "more disk" if "write_quorum" in raised else ""]))


def _copies(now: Guaranteed) -> dict[str, int]:
    """The settings for them."""
    taken = now.cluster.taken
    return {taken[name].key: size for name, size in _raised(now).items() if name in taken}


def groups(asked: CheckRequest, cluster: Cluster, means: Means) -> Iterator[Group]:
    """Each group of namespaces, with its own answer where its settings are not the cluster's. Raises what ``check`` raises."""
    for names, settings in settings_of_groups(asked):
        if settings.ledger.ensemble.value > cluster.bookies and not cluster.assumed:
            yield Group(names, settings, None, lacks_bookies=True)
            means.passed()
            continue
        is_same = _judged(settings) == _judged(cluster.settings)
        apart, matters = means.apart(), ("lost", "elsewhere")
        found = [None if is_same else _answer(name, settings, cluster, apart) for name in matters]
        lost, elsewhere = (None if each is None else for_user(asked, each) for each in found)
        yield Group(names, settings, lost, elsewhere)
        means.passed()


def settings_of_groups(asked: CheckRequest) -> Iterator[tuple[tuple[str, ...], Settings]]:
    """The namespaces in groups of the same settings, in the order in which they are named. InputError for a file of policies
    that is none."""
    named, read = namespaces_of(asked), dict[bytes, Settings]()
    several = dict[object, list[tuple[str, Settings]]]()
    for name, file in named.items():
        content = read_bytes(file, "the policies of a namespace", MOST_BY_HAND)
        settings = read.get(content) or read.setdefault(content, _with(asked, file))  # most namespaces have the same
        several.setdefault(_judged(settings), []).append((name, settings))
    for members in several.values():
        yield in_short([name for name, _ in members], named), members[0][1]


def in_short(names: Sequence[str], every: Iterable[str]) -> tuple[str, ...]:
    """The names, with TENANT/* in the place of several that are all there are of a tenant."""
    shown = dict[str, None]()
    for name in names:
        tenant = name.partition("/")[0]
        mine = [other for other in every if other.startswith(f"{tenant}/")]
        is_whole = len(mine) > 1 and set(mine) <= set(names)
        shown[f"{tenant}/*" if is_whole else name] = None
    return tuple(shown)


def _with(asked: CheckRequest, file: Path) -> Settings:
    return read_settings(*asked.conf, file)


def _judged(settings: Settings) -> object:
    """What an answer depends on, without the places of it."""
    sizes = (settings.ledger.ensemble.value, settings.ledger.write_quorum.value, settings.ledger.ack_quorum.value)
    ordered = tuple((each.feature.name, each.says) for each in settings.orders)
    plain = settings.configuration()
    return sizes, tuple(sorted(parameters_of(plain).items(), key=str)), plain.topics.replicated, ordered


def _answer(name: str, settings: Settings, cluster: Cluster, means: Means) -> Answer | None:
    """The answer to the question of that name with the settings of a namespace; None if it is not asked with them."""
    bookies = max(cluster.bookies, settings.ledger.ensemble.value)
    other = replace(cluster, settings=settings, bookies=bookies)
    bugs, rows = known_bugs_in(other.configuration), dict[str, Established]()
    return next(answered(other, bugs, means, rows, (name,)), None)
