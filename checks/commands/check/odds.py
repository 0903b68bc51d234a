"""How often a message is lost by the ways that a check has found: what ``--odds`` adds to the answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.console.options import UNNAMED
from fencepost.checks.console.progress import Watch
from fencepost.checks.odds.answering import Means, Odds, odds_of
from fencepost.checks.odds.operator import with_file, with_settings
from fencepost.checks.odds.solving import Solver
from fencepost.checks.odds.ways import Fleet
from fencepost.checks.questions.answers.ways import Answer
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.settings.cluster_settings import Settings
from fencepost.model.odds.numbers import published


def found_odds(asked: CheckRequest, settings: Settings, answers: Iterable[Answer], watch: Watch) -> Odds:
    """The odds of the ways in which a message is lost by some answers. Raises InputError for numbers that cannot be read."""
    watch.reporter.begin("odds")
    ways = [way.name for answer in answers if answer.matter == MATTERS[0] for way in answer.ways]
    means = Means(Solver(asked.workers), tell=watch.reporter.telling, should_stop=watch.should_stop)
    odds = _odds(asked, settings, ways, means)
    watch.reporter.end()
    return odds


def _odds(asked: CheckRequest, settings: Settings, ways: list[str], means: Means) -> Odds:
    fleet = Fleet(copies=settings.ledger.ack_quorum.value)
    numbers = with_settings(published(), tuple(asked.conf))
    if asked.odds is not None and asked.odds != UNNAMED:
        numbers, fleet = with_file(numbers, fleet, asked.odds)
    bookies = max(asked.bookies or fleet.bookies, fleet.copies)
    return odds_of(dict.fromkeys(ways), numbers, replace(fleet, bookies=bookies), means)
