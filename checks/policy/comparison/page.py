"""The answer of a comparison as a page: the verdict, then the evidence. It needs no network and is read by day and by night."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fencepost.checks.policy.comparison import plots
from fencepost.checks.policy.comparison.contenders import changes
from fencepost.checks.policy.comparison.judgement import Judgement, same_in_every_run, sentence
from fencepost.checks.policy.comparison.paired import FEWEST, Difference
from fencepost.checks.policy.comparison.preference import RULE, first_moves, preferred, recommendation
from fencepost.checks.policy.comparison.text import (
    NO_CHOICE,
    confidence,
    heading,
    in_words,
    interval,
    not_chosen,
    not_excluded,
    number,
    short,
    signed,
    told_in_short,
)
from fencepost.checks.policy.comparison.worst import WORST, Shown
from fencepost.checks.policy.text import by_pods, timeline
from fencepost.traces.comparison.comparison import Contender
from fencepost.traces.pages.markup import Html, each, html, joined, palette

_CSS = Html("""
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 var(--sans); }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .4rem 0; max-width: 46rem; }
.dim { color: var(--quiet); }
.answer { background: var(--sheet); border-left: .35rem solid var(--rule); padding: .75rem 1rem; margin: 1rem 0; }
.answer.worse { border-color: var(--bad); }
.answer.better { border-color: var(--good); }
.answer p { margin: .2rem 0; }
.worse-text { color: var(--bad); font-weight: 600; }
.better-text { color: var(--good); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin-bottom: 1rem; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { font-weight: 600; }
td.number, th.number { text-align: right; }
figure { margin: .75rem 0; overflow-x: auto; }
svg { width: 100%; height: auto; }
svg text { font-family: var(--sans) !important; }
code, pre { font: .85rem/1.45 var(--mono); }
pre { background: var(--sheet); padding: .75rem; overflow-x: auto; max-height: 24rem; }
summary { cursor: pointer; }
details { margin: .4rem 0; }
ol { padding-left: 1.5rem; max-width: 46rem; }
li, h1, h2, p, summary { overflow-wrap: anywhere; }
figure svg { min-width: 36rem; }
""")

_DIM = "<p class='dim'>{}</p>"


def page(judgement: Judgement, shown: Sequence[Shown]) -> Html:
    """The whole page: what to prefer, what is traded for what, and the evidence, of which the details are folded."""
    title = f"{' and '.join(c.name for c in judgement.proposed)} against {judgement.baseline.name}"
    parts = [html("<h1>{}</h1>", title), html(_DIM, heading(judgement))]
    parts += _order(judgement, shown)
    parts += [_answer(judgement, contender) for contender in judgement.proposed]
    if judgement.happened is not None:
        parts += [Html("<h2>What happened</h2>"), html("<pre>{}</pre>", judgement.happened.text)]
    parts += [Html("<h2>What changes</h2>"), *(_changes(judgement, contender) for contender in judgement.proposed)]
    parts += [Html("<h2>The measures</h2>"), _table(judgement), html(_DIM, _how_to_read(judgement))]
    parts += _evidence(judgement)
    parts.append(Html("<h2>Runs to look at</h2>"))
    for contender in judgement.proposed:
        own = [one for one in shown if one.contender is contender]
        parts += [_shown(judgement, one) for one in own[:_RUNS_SHOWN]]
    parts.append(html(_DIM, f"The worst run of every measure is in {judgement.folder / WORST}."))
    parts += [Html("<h2>What this does not say</h2>"), html("<p>{}</p>", _LIMITS)]
    body, without = by_pods("\n".join(parts), judgement.comparison.scenario.brokers)
    return html(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{}</title>\n'
        "<style>\n{}{}</style>\n</head>\n<body>\n<main>\n{}\n</main>\n</body>\n</html>\n",
        title,
        palette(),
        _CSS,
        joined([Html(body), each(_DIM, [f"{without[0].upper()}{without[1:]}."] if without else [])]),
    )


def _order(judgement: Judgement, shown: Sequence[Shown]) -> list[Html]:
    """Which policy to prefer, and what is traded for what; nothing if there are too few runs to say so."""
    order = preferred(judgement)
    if not order:
        return []
    rows = []
    for one in order:
        what = " (what you have)" if one.contender is judgement.baseline else ""
        reason = "" if one.contender is judgement.baseline else f": {one.text}"
        rows.append(html("<li><strong>{}</strong>{}{}</li>", one.contender.name, what, reason))
    run, moves = first_moves(judgement, shown, order)
    begins = html("<p>Its first actions in run {}, a typical run:</p><pre>{}</pre>", run, "\n".join(moves)) if moves else Html()
    points = [_point(judgement, contender) for contender in judgement.comparison.contenders]
    return [
        Html("<h2>Which to prefer</h2>"),
        html("<ol>{}</ol>", joined(rows)),
        each(_DIM, (f"{name}: {NO_CHOICE}." for name in not_chosen(judgement))),
        each("<p>{}</p>", (line.strip() for line in recommendation(judgement, order))),
        begins,
        html(_DIM, RULE),
        html("<p>{}</p>", _TRADED),
        html(_FIGURE, plots.tradeoff(points)),
    ]


_FIGURE = "<figure>{}</figure>"

_TRADED = (
    "What is traded for what: further down is more even, further left is fewer moves. The bars are where a policy's mean may "
    "be, as its runs differ from those of what you have."
)


def _point(judgement: Judgement, contender: Contender) -> plots.Point:
    """A policy's unloads and imbalance, with the intervals of their differences."""
    spans = []
    for name in ("unloads_per_hour", "imbalance"):
        d = next((d for d in judgement.of(contender) if d.measure.name == name), None)
        mean = float(judgement.values(contender)[name].mean())
        spans.append((mean, mean, mean) if d is None else (d.proposed, d.baseline + d.low, d.baseline + d.high))
    return contender.name, judgement.comparison.contenders.index(contender), spans[0], spans[1]


_LIMITS = (
    "These are simulations. They show what the policies do in worlds like the one described, not what a cluster will do. A "
    "verdict of no difference says that none was shown, and the interval how large one may yet be. All runs and their seeds "
    "are kept, and each can be made again."
)


def _answer(judgement: Judgement, contender: Contender) -> Html:
    own = judgement.of(contender)
    differences = [d for verdict in ("worse", "better") for d in own if d.verdict == verdict]
    kind = "worse" if judgement.violating(contender) else differences[0].verdict if differences else ""
    more = each("<p>{}</p>", [*map(_in_words, differences), *not_excluded(judgement, contender)])
    if len(judgement.proposed) > 1 and more:
        more = html("<details><summary>by how much</summary>{}</details>", more)
    head = html("<p><strong>{}.</strong></p>", sentence(judgement, contender))
    return html("<div class='answer {}'>{}{}</div>", kind, head, more)


_RUNS_SHOWN = 3
"""Of each policy: the page would be long, and the others are in files."""


def _in_words(d: Difference) -> Html:
    worst = f"; the worst is run {d.worst}" if d.verdict == "worse" and d.worst is not None else ""
    return html(
        "<span class='{0}-text'>{0}</span> {1}: {2} &rarr; {3} {4} (difference {5}){6}",
        d.verdict,
        d.measure.name,
        number(d.baseline),
        number(d.proposed),
        d.measure.unit,
        interval(d),
        worst,
    )


def _changes(judgement: Judgement, contender: Contender) -> Html:
    changed = changes(judgement.baseline, contender)
    if not changed:
        return html("<p>{} changes nothing.</p>", contender.name)
    rows = [(name, before, after) for name, before, after in changed]
    return _rows(("setting", judgement.baseline.name, contender.name), rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    lines = each("<tr>{}</tr>", [each("<td>{}</td>", row) for row in rows])
    return html(_TABLE, each("<th>{}</th>", head), lines)


_TABLE = "<div class='scroll'><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
_NUMBER = "<td class='number'>{}</td>"


def _table(judgement: Judgement) -> Html:
    lines = []
    several = len(judgement.proposed) > 1
    for own in judgement.by_measure():
        measure = own[0].measure
        for place, d in enumerate([] if same_in_every_run(own) else own):
            of_measure = Html("<td></td><td></td>")
            if place == 0:
                of_measure = html(
                    "<td title='{}'>{} <span class='dim'>{}</span></td><td class='number'>{}</td>",
                    measure.meaning,
                    measure.name,
                    measure.unit,
                    number(d.baseline),
                )
            policy = html("<td title='{}'>{}</td>", d.policy, short(d.policy)) if several else Html()
            verdict = html("<td class='{}-text'>{}</td>", d.verdict.split()[0], in_words(d))
            cells = (number(d.proposed), signed(d.difference), interval(d), f"{d.lower} / {d.higher}")
            lines.append(html("<tr>{}{}{}{}</tr>", of_measure, policy, verdict, each(_NUMBER, cells)))
    proposed = ("policy", "verdict", "mean") if several else ("verdict", judgement.proposed[0].name)
    names = ("measure", judgement.baseline.name, *proposed, "difference", "interval", "less / more")
    head = joined(html("<th>{}</th>" if name in _WORDS else "<th class=number>{}</th>", name) for name in names)
    return html(_TABLE, head, joined(lines))


_WORDS = ("measure", "policy", "verdict")


def _how_to_read(judgement: Judgement) -> str:
    short = "".join(f"{sentence[0].upper()}{sentence[1:]}. " for sentence in told_in_short(judgement))
    return (
        f"{short}Less is better, except for splits and bundles. Less / more: in how many runs. All intervals hold together "
        f"with {confidence(judgement)} confidence. A difference counts if its interval leaves 0 out and it is larger than "
        f"tolerated. A measure with fewer than {FEWEST} runs is left open."
    )


_DOTS = (
    "A dot is a mean difference, and its bar the interval; the shaded range is tolerated. Left means less. A hollow dot is a "
    "difference that does not count. Measures that are 0 under the baseline are left out."
)


def _evidence(judgement: Judgement) -> list[Html]:
    places = {contender.name: place for place, contender in enumerate(judgement.comparison.contenders) if place}
    apart = (own for own in judgement.by_measure() if not same_in_every_run(own))
    shown = [finite for own in apart if (finite := [d for d in own if d.baseline and math.isfinite(d.low)])]
    parts = [Html("<h2>The differences</h2>")]
    if shown:
        parts += [html("<p>{}</p>", _DOTS), html(_FIGURE, plots.intervals(shown, places))]
    for contender in judgement.proposed:
        own = judgement.of(contender)
        if any(d.lower or d.higher for d in own):
            spread = plots.distributions(own, judgement.values(judgement.baseline), judgement.values(contender))
            parts.append(
                html(
                    "<details><summary>How the differences of {} vary from run to run</summary>"
                    "<p>The number of runs by their difference. The dotted line is the mean. Measures in colour count.</p>"
                    "<figure>{}</figure></details>",
                    contender.name,
                    spread,
                )
            )
    return parts if len(parts) > 1 else []


def _shown(judgement: Judgement, one: Shown) -> Html:
    place = judgement.comparison.contenders.index(one.contender)
    runs = [(judgement.baseline.name, one.baseline, 0), (one.contender.name, one.proposed, place)]
    actions = joined(
        html(
            "<details><summary>What {} did: {} actions</summary><pre>{}</pre></details>",
            name,
            len(run.actions),
            "\n".join(timeline(run)),
        )
        for name, run, _ in reversed(runs)
    )
    return html(
        "<details class='run'><summary>{}</summary><figure>{}</figure><figure>{}</figure>{}</details>",
        one.title,
        plots.loads(runs),
        plots.unloads(runs),
        actions,
    )
