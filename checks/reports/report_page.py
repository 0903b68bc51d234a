"""A run as a page: what users ask first, what settings guarantee, then the bugs of the release, then the rest, folded.

It needs no script and loads nothing; of two configurations each row has both numbers side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from math import inf

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.guarantees.judging import compared
from fencepost.checks.reports.answers import (
    SURVIVES_NOTHING,
    about,
    covered,
    headline,
    in_short,
    left_out,
    meanings,
    ordered,
    survived,
)
from fencepost.checks.reports.changes import heading, sentences
from fencepost.checks.reports.changes import verdict as verdict_on
from fencepost.checks.reports.decisions import decisions, stops
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.finished import about as about_bug
from fencepost.checks.reports.front import front
from fencepost.checks.reports.guarantees import Opening, details, unseen
from fencepost.checks.reports.in_short import last_line
from fencepost.checks.reports.report import text
from fencepost.model.counts import count_of
from fencepost.model.releases import Releases
from fencepost.traces.pages.markup import Html, each, filled, html, joined, palette

FIGURE, NARROW = "3.5rem", "2.7rem"
"""How wide a column of numbers is, and on a narrow screen."""

QUIET = '<p class="quiet">{}</p>'

CHANGES = {"open": "cannot be compared", "other": "(of other steps: not compared)"}
"""How a change is told that has not its own word."""


def report_page(run: FinishedRun, runs: str) -> Html:
    """The page; ``runs`` is the name of the page that shows the runs step by step, empty if there is none."""
    assert run.opening is not None, "it is of a configuration"
    opening, everything = run.opening, run.everything
    now, before = opening.now, opening.before
    columns = 2 if before else 1
    bookies = count_of(now.cluster.bookies, "bookie") + (" (assumed)" if now.cluster.assumed else "")
    against = f"; before: {before.cluster.file}" if before else ""
    end = last_line(run)
    falls = (f"{s.place}: {s.headline}" for s in opening.shortfalls)
    short = each('<p class="short">{}</p>', [*decisions(opening), *stops(opening), *falls])
    link = html('<p><a href="{}">The runs, step by step</a></p>', runs) if runs else Html()
    page = files("fencepost.checks.reports").joinpath("report_page.html").read_text(encoding="utf-8")
    return filled(
        page,
        palette=palette(),
        title=f"{now.cluster.file}: what it guarantees",
        file=html("<code>{}</code>", now.cluster.file),
        about=f"{now.cluster.releases}; {bookies}{against}",
        answers=joined(
            [_front(opening), *(answer_section(answer, now.cluster.releases) for answer in opening.answers), _survival(opening)]
        ),
        outcome=html("<p><strong>{}</strong></p>{}", end, short),
        columns=" ".join([FIGURE] * columns),
        narrow=" ".join([NARROW] * columns),
        rows=html('<div class="rows">{}</div>', joined(_row(opening, row) for row in opening.ordered)),
        unseen=each(QUIET, unseen(opening)),
        changes=joined([_odds(opening), _bugs(opening), _policy(opening)]),
        rest=joined([_known_bugs(opening, everything), _others(everything)]),
        runs=link,
    )


def _odds(opening: Opening) -> Html:
    """How often a message is lost, if that was asked for."""
    if opening.odds is None:
        return Html()
    from fencepost.checks.reports.odds import odds_section

    return odds_section(opening.odds)


def _front(opening: Opening) -> Html:
    """The first screen, as a terminal has it."""
    return html("<pre>{}</pre>", front(opening, 100)) if opening.answers else Html()


def answer_section(answer: Answer, releases: Releases) -> Html:
    """A question that users ask first, with yes or no, and the ways in which it happens."""
    ways = joined(_way(way, releases, answer.matter.name) for _, way in answer.numbered)
    numbered = html('<ol start="{}">{}</ol>', answer.first, ways) if answer.numbered else Html()
    listed = joined([numbered, each("<p>{}</p>", [*left_out(answer), *ordered(answer), *covered(answer)])])
    return html('<section class="answer"><h2>{}</h2><p>{}</p>{}</section>', answer.matter.asks, headline(answer), listed)


def _way(way: Way, releases: Releases, section: str) -> Html:
    runs = [_run("the run", way.checked, way.verdict)]
    if way.whole is not None and way.whole is not way.checked:
        title = f"the run in {way.checked.entry.name}, which the known bug makes possible"
        runs = [_run("the run", way.whole, way.whole.verdicts[0]), _run(title, way.checked, way.verdict)]
    return html("<li><p>{}</p>{}{}</li>", in_short(way), each(QUIET, about(way, releases, section)), joined(runs))


def _survival(opening: Opening) -> Html:
    """What the cluster survives, after the answers."""
    if not opening.answers:
        return Html()
    events = ", ".join(survived(opening.now.rows)) or SURVIVES_NOTHING
    return html('<section class="answer"><h2>What it survives</h2><p>{}</p></section>', events)


def _row(opening: Opening, row: Established) -> Html:
    now, before = opening.now, opening.before
    old = before.row(row.guarantee.name) if before else None
    cells = _figure(row, "now" if old else "")
    change = Html()
    if before is not None and old is not None:
        cells = joined([_figure(old, "before"), cells])
        word = compared(row, old)
        if word != "same":
            change = html(' <span class="{}">{}</span>', word, CHANGES.get(word, word))
    run = Html()
    if row.failure is not None:
        what = "how" if row.guarantee.bugs else f"that {row.failure.events} is too many"
        run = _run(f"the run that shows {what}", row.failure.checked, row.failure.verdict)
    lines = each(QUIET, details(now, row, opening.met.get(row.guarantee.name), run=False))
    return html(
        '<div class="row{fell}" id="{name}">{cells}'
        '<div><p>{sentence}{change} <code class="quiet">{name}</code></p>{lines}{run}</div></div>',
        fell=" fell" if opening.of(row) else "",
        name=row.guarantee.name,
        cells=cells,
        sentence=row.sentence,
        change=change,
        lines=lines,
        run=run,
    )


def _bugs(opening: Opening) -> Html:
    """Which known bugs a change of releases takes and brings."""
    if opening.bugs is None:
        return Html()
    lines = each("<p>{}</p>", [verdict_on(opening.bugs), *sentences(opening.bugs)])
    return html('<section id="bugs"><h2>{}</h2>{}</section>', heading(opening.bugs), lines)


def _policy(opening: Opening) -> Html:
    """What changes in the balancing of load, and the commands that tell what that does."""
    if opening.policy is None:
        return Html()
    changes = each("<p><strong>{}</strong></p>", opening.policy.changes)
    lines = each(QUIET, opening.policy.lines)
    commands = "\n".join(opening.policy.commands)
    head = "<h2>Load balancing changes</h2>"
    return html('<section id="policy">' + head + "{}{}<pre>{}</pre></section>", changes, lines, commands)


def _run(title: str, checked: Checked, verdict: Verdict) -> Html:
    """A run, folded: each step with what it is in the real system."""
    meaning = meanings(checked.protocol)
    steps = joined(
        html('<li><code>{}</code> <span class="quiet">{}</span></li>', step.action, meaning[step.action])
        for step in verdict.run.steps
    )
    return html("<details><summary>{}</summary><ol>{}</ol></details>", title, steps)


def _figure(row: Established, when: str) -> Html:
    shown = "?" if row.figure is None else str(row.figure)
    bad = " none" if row.figure == 0 else ""
    caption = html("<small>{}</small>", when) if when else Html()
    return html('<div class="figure{}">{}{}</div>', bad, shown, caption)


def _known_bugs(opening: Opening, everything: Sequence[Checked]) -> Html:
    bugs = [(checked, verdict) for checked, verdict in _verdicts(everything) if verdict.verdict == "known bug"]
    met = opening.met_bugs
    bugs.sort(key=lambda bug: met.get(bug[1].property.name, (inf,))[0])
    if not bugs:
        return Html()
    parts = joined(_bug(*pair) for pair in bugs)
    names = {verdict.property.name for _, verdict in bugs}
    accepted = {verdict.property.name for _, verdict in bugs if verdict.accepted is not None}
    heading = f"{count_of(len(names), 'known bug')} of the release"
    heading += f", {len(accepted)} accepted" if accepted else ""
    heading += ", each in every protocol that has it" if len(bugs) > len(names) else ""
    return html("<section><h2>{}</h2>{}</section>", heading, parts)


def _bug(checked: Checked, verdict: Verdict) -> Html:
    bug = verdict.bug
    explanation = about_bug(bug, checked.entry.name, verdict.property.name) if bug else ()
    run = _run(f"{verdict.violated.name} is violated", checked, verdict) if verdict.trace else Html()
    accepted = f" (accepted: {verdict.accepted})" if verdict.accepted is not None else ""
    prop = verdict.property
    head = html("<p><strong><code>{}</code></strong> {}{}</p>", prop.name, prop.doc, accepted)
    return html('<div class="bug">{}{}{}</div>', head, each(QUIET, explanation), run)


def _others(everything: Sequence[Checked]) -> Html:
    rest = [c for c in everything if not any(v.property.kind == "known bug" for v in c.verdicts)]
    if not rest:
        return Html()
    blocks = each("<pre>{}</pre>", (_without_times(text(checked, width=110)) for checked in rest))
    head = html("<summary>What else was checked: {}</summary>", count_of(len(rest), "instance"))
    return html("<section><details>{}{}</details></section>", head, blocks)


def _without_times(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _verdicts(everything: Sequence[Checked]) -> Iterator[tuple[Checked, Verdict]]:
    return ((checked, verdict) for checked in everything for verdict in checked.verdicts)
