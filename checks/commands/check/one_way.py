"""``--way N``: one way in which something happens, as a story. Nothing is searched but what its number and its remedy take."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.commands.check.asked_again import numbered_answers, remedy_for
from fencepost.checks.commands.check.guarantees import answers_ahead, for_questions, heading_of, means_ahead, parts_of_opening
from fencepost.checks.commands.check.jobs import means_of
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.subject import Subject
from fencepost.checks.console.printing import screen
from fencepost.checks.console.progress import Reporter, Watch, interruptible
from fencepost.checks.engines.ahead import Ahead
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answers.remedies import most_searches
from fencepost.checks.questions.answers.ways import Answer
from fencepost.checks.questions.bugs.searching import KnownBug
from fencepost.checks.questions.guarantees.judging import UNASKED
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.reports.decisions import closing_of_one_way
from fencepost.checks.reports.ways import Numbered, numbered, story
from fencepost.model.counts import count_of
from fencepost.properties.registry import RegistryError


def tell_way(asked: CheckRequest, subject: Subject, number: int, bugs: Sequence[KnownBug], started: float) -> ExitStatus:
    """Prints the way of that number, of which RegistryError if there is none. The status says whether a known bug is among the
    ways that were found until then."""
    (cluster,) = subject.clusters(asked)
    reporter, answers, chosen = Reporter(quiet=asked.quiet), list[Answer](), list[Numbered]()
    reporter.expect(parts_of_opening(asked, subject), "question", even=False)
    works = answers_ahead(asked, subject, MATTERS, bugs, means_ahead(asked))
    with interruptible() as interrupt, Ahead(works, asked.cores) as ahead:
        means = for_questions(means_of(asked, started, Watch(reporter, interrupt), ahead.check), asked)
        for answer in numbered_answers(asked, cluster, bugs, means, {}):
            answers.append(answer)
            if chosen := [each for each in numbered([answer]) if each.number == number]:
                break
        reporter.left(most_searches(cluster.releases))
        cut_short = means.why_over
        remedy = remedy_for(asked, cluster, chosen[0].way, chosen[0].answer, means) if chosen and not cut_short else None
    reporter.end()
    if not chosen:
        ways = count_of(len(numbered(answers)), "way")
        so_far = f"; {cut_short} at the rest{UNASKED[cut_short]}" if cut_short else ""
        raise RegistryError(f"there is no way {number}: this cluster has {ways}{so_far}")
    print(story(chosen[0], heading_of(asked, subject), remedy, cluster.releases, screen(), cut_short=cut_short))
    affected = any(each.way.bug is not None for each in numbered(answers))
    status = ExitStatus.KNOWN_BUG if affected else ExitStatus.HOLDS
    print(closing_of_one_way(answers[0], status))
    return status
