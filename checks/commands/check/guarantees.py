"""What ``fencepost check --conf`` says first: how much the settings guarantee, what falls short of that, and what is weaker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fencepost.checks.commands.check.asked_again import change_first, groups, numbered_answers, settings_of_groups
from fencepost.checks.commands.check.baselines import accepted
from fencepost.checks.commands.check.jobs import means_of
from fencepost.checks.commands.check.outputs import Outputs, Teller
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.subject import Subject, come_first, required
from fencepost.checks.console.options import UNNAMED
from fencepost.checks.console.progress import Reporter, Watch, interruptible
from fencepost.checks.engines.ahead import Ahead, Check, Means, Work
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answers.answering import (
    answer,
    answer_to,
    establish_named,
    guaranteed,
    questions,
    reaching,
    with_ways,
)
from fencepost.checks.questions.answers.changes import BugChange, bug_change, bugs_of, met_by, with_reach
from fencepost.checks.questions.answers.remedies import most_searches
from fencepost.checks.questions.answers.ways import Answer, Way, never
from fencepost.checks.questions.bugs.searching import KnownBug, Whole
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.guarantees.judging import Shortfall, judged
from fencepost.checks.questions.matters import MATTERS, TOPICS, Matter
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.front import heading
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.releases import Releases
from fencepost.properties.registry import Entry

MEMORY = 1 << 29
"""Bytes of states that one question may take, unless --memory says how many: some ten million of them."""


def opening_of(
    asked: CheckRequest,
    subject: Subject,
    means: Means,
    bugs: Sequence[KnownBug] = (),
    tell: Callable[[Answer, Releases], None] | None = None,
) -> Opening | None:
    """What the report of a configuration opens with: what it guarantees, what the one before it did, and what falls short of
    that or of what is required; None of a part of a configuration. What users ask first, of these known ``bugs``, is asked if
    there is somebody to ``tell`` each answer at once. Raises what ``check`` raises."""
    if subject.cluster is None or not come_first(asked):
        return None
    clusters, requirements = subject.clusters(asked), required(asked)
    rows, answers = dict[str, Established](), list[Answer]()
    # with little time this much is known
    establish_named({name for each in requirements for name in each.names}, clusters[0], means, rows)
    if tell is not None:
        for each in numbered_answers(asked, clusters[0], bugs, means, rows):
            answers.append(each)
            tell(each, subject.cluster.releases)
    now = guaranteed(clusters[0], means, established=rows)
    if answers:
        ways = answers[0].ways
        lost = {name: with_ways(now.row(name), ways) for name in MATTERS[0].rows if name in TOPICS and name in rows}
        now = replace(now, rows=tuple(lost.get(row.guarantee.name, row) for row in now.rows))
    before = guaranteed(clusters[1], means, now) if len(clusters) > 1 else None
    policy = None
    if asked.against and before is not None:
        # loads the policies, which is slow, and seldom needed
        from fencepost.checks.commands.check.policy_change import policy_change

        policy = policy_change(
            asked.conf, now.cluster.settings, asked.against, before.cluster.settings, now.cluster.releases.pulsar
        )
    shortfalls = judged(now, before, requirements, all_asked=asked.guarantees and before is None)
    changed = _bugs_changed(asked, clusters[0], None if before is None else before.cluster, means)
    elsewhere = () if before is None else tuple(_changed_elsewhere(asked, clusters, changed, means))
    met = _met(shortfalls, Whole(clusters[0].configuration), means)
    changes, after = change_first(asked, clusters[0], now, answers[0], means) if answers else ((), None)
    if answers:
        means.watch.reporter.left(len(list(settings_of_groups(asked))))  # not as many remedies may be known as there can be
    cut_short = means.why_over if answers else ""
    of_namespaces = tuple(groups(asked, clusters[0], means)) if answers else ()
    return Opening(
        now,
        before,
        shortfalls,
        policy,
        changed,
        tuple(answers),
        met,
        not_judged=subject.cluster.not_modelled,
        heading=heading_of(asked, subject),
        change_first=changes,
        after=after,
        namespaces=of_namespaces,
        changed_namespaces=elsewhere,
        stopped=subject.stopped,
        cut_short=cut_short,
    )


def heading_of(asked: CheckRequest, subject: Subject) -> str:
    """Which cluster it is. Raises what the files of it raise."""
    return heading(subject.clusters(asked)[0], subject.how_known, bookies_supposed=subject.supposed)


def _bugs_changed(asked: CheckRequest, now: Cluster, before: Cluster | None, means: Means) -> BugChange | None:
    """Which known bugs the other releases, or the other settings, bring and take, and what users meet by them; None of settings
    that bring and take none."""
    change = None if before is None else _other_bugs(asked, now, before)
    if before is None or change is None:
        return None
    former, latter = (Whole(each.configuration) for each in (before, now))
    return with_reach(change, former, latter, means, never(asked.never), asked.accepted)


def _other_bugs(asked: CheckRequest, now: Cluster, before: Cluster) -> BugChange | None:
    """Which known bugs change, before anything is searched of them; None of settings that bring and take none."""
    then, today = (bugs_of(each.configuration) for each in (before, now))
    if not asked.against_pulsar and then.keys() == today.keys():
        return None
    names = [str(each.releases) if asked.against_pulsar else each.file for each in (before, now)]
    return bug_change(names[0], then, names[1], today)


def _changed_elsewhere(
    asked: CheckRequest, clusters: Sequence[Cluster], change: BugChange | None, means: Means
) -> Iterator[tuple[tuple[str, ...], BugChange]]:
    """The groups of namespaces in which other bugs that users meet come or go than in the cluster, each with what changes."""
    for names, (now, before) in _of_groups(asked, clusters):
        there = _bugs_changed(asked, now, before, means)
        if there is not None and (change is None or met_by(there) != met_by(change)):
            yield names, there


def _of_groups(asked: CheckRequest, clusters: Sequence[Cluster]) -> Iterator[tuple[tuple[str, ...], list[Cluster]]]:
    """The clusters with the settings of each group of namespaces."""
    for names, settings in settings_of_groups(asked):
        yield names, [replace(each, settings=settings) for each in clusters]


def _met(shortfalls: Sequence[Shortfall], whole: Whole, means: Means) -> dict[str, Way]:
    """What users of the cluster meet where a guarantee falls short, by its name."""
    lost = MATTERS[0]
    rows = {fell.row.guarantee.name: fell.row for fell in shortfalls if fell.kind != "open"}
    ways = {name: reaching(row, lost, whole, means) for name, row in rows.items() if name in lost.through}
    return {name: way for name, way in ways.items() if way is not None}


def answers_ahead(
    asked: CheckRequest, subject: Subject, matters: Sequence[Matter], bugs: Sequence[KnownBug], means: Callable[[Check], Means]
) -> Iterator[Work]:
    """What is searched of the known bugs for what users ask first, for a second process; not of those of which a guarantee
    tells."""
    if _goes_ahead(asked, subject):
        assert subject.cluster is not None, "there is an opening"
        whole = Whole(subject.cluster.configuration)
        of_rows = {question.name: question.bugs for question in questions(subject.clusters(asked)[0])}
        for matter in matters:
            told = {bug for row in matter.rows for bug in of_rows.get(row, ())}
            for bug in reversed([each for each in bugs if each.name not in told]):
                yield lambda check, matter=matter, bug=bug: answer(matter, (), [bug], means(check), whole)  # type: ignore[misc]


def guarantees_ahead(asked: CheckRequest, subject: Subject, means: Callable[[Check], Means]) -> Iterator[Work]:
    """The guarantees, for a second process: from the last to the first, so that it meets the first process in the middle; not
    what a theory tells, since only checks are shared."""
    if _goes_ahead(asked, subject):
        for cluster in subject.clusters(asked):
            for question in reversed([each for each in questions(cluster) if isinstance(each.entry, Entry)]):
                yield lambda check, question=question, cluster=cluster: answer_to(  # type: ignore[misc]
                    question, cluster, means(check)
                )


def _goes_ahead(asked: CheckRequest, subject: Subject) -> bool:
    """Whether there is an opening, and no limit of its time, which two processes would count differently."""
    return subject.cluster is not None and come_first(asked) and asked.budget is None


def means_ahead(asked: CheckRequest) -> Callable[[Check], Means]:
    """What makes the means of a second process; what it has found of known bugs it does not search again."""
    found = dict[object, Checked]()
    return lambda check: Means(_approach(asked), check=check, found=found)


def for_questions(means: Means, asked: CheckRequest) -> Means:
    """The means of a command with the limits of a question."""
    return replace(means, approach=_approach(asked))


def _approach(asked: CheckRequest) -> Approach:
    memory = MEMORY if asked.memory is None else int(asked.memory * (1 << 30))
    return Approach(by="exhaustive", workers=asked.cores, memory=memory, symmetry_of_many=True)


def parts_of_opening(asked: CheckRequest, subject: Subject) -> int:
    """How many questions there are before the first screen: guarantees, answers, the first of these again with each remedy and
    with all of them, and with each group of namespaces."""
    (cluster,) = subject.clusters(asked)
    again = most_searches(cluster.releases) + 1 + len(list(settings_of_groups(asked)))
    return len(list(questions(cluster))) + len(MATTERS) + again


def _parts(asked: CheckRequest, subject: Subject) -> int:
    """How many questions ``run_alone`` has: the guarantees of each cluster, and what users meet by each bug that changes."""
    clusters = subject.clusters(asked)
    if len(clusters) == 1:
        return len(list(questions(clusters[0])))
    pairs = [clusters, *(several for _, several in _of_groups(asked, clusters))]
    changes = [_other_bugs(asked, now, before) for now, before in pairs]
    bugs = sum(len(change.come) + len(change.go) for change in changes if change is not None)
    return sum(len(list(questions(each))) for each in clusters) + bugs


def _comparison(asked: CheckRequest, subject: Subject) -> str:
    """Which cluster it is, and with which it is compared."""
    before = subject.before
    against = None if before is None else str(before.releases) if asked.against_pulsar else before.file
    return heading_of(asked, subject) + (f"; against {against}" if against else "")


def run_alone(asked: CheckRequest, subject: Subject, started: float) -> ExitStatus:
    """Tells the guarantees, how they differ from those of another configuration, and what falls short.

    The answer begins with yes or no, which only the last search settles. So which cluster it is about, and how far the
    searches are, goes to standard error meanwhile.
    """
    if (baseline := accepted(asked)) is not None:
        asked = replace(asked, accepted=baseline.known_bugs)
    reporter, teller = Reporter(quiet=asked.quiet), Teller(asked, at_the_end=True)
    reporter.head(_comparison(asked, subject))
    reporter.expect(_parts(asked, subject), "question")
    with interruptible() as interrupt, Ahead(guarantees_ahead(asked, subject, means_ahead(asked)), asked.cores) as ahead:
        means = for_questions(means_of(asked, started, Watch(reporter, interrupt), ahead.check), asked)
        opening = opening_of(asked, subject, means)
    assert opening is not None, "parts are refused"
    unread = "; ".join(filter(None, [subject.left_out, subject.unread(subject.run)]))
    notes = [*subject.settings_notes, *subject.classes, *filter(None, [unread])]
    run = FinishedRun(subject.releases, notes, bool(unread), opening=opening, whole=asked.all, alone=True)
    if asked.html is not None:
        from fencepost.checks.commands.pages import default_page, write_report

        page = default_page(asked.trace_dir) if asked.html == UNNAMED else asked.html
        write_report(run, page, reporter)
        teller.name(f"page: {page}")
    outputs = Outputs.of(asked)
    for written in outputs.write(lambda each: each.run(run)):
        teller.name(written)
    print(outputs.printed.run(replace(run, messages=teller.lines)), end="")
    return run.status
