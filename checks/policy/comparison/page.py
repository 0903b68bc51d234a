"""The answer of a comparison as a page: the verdict, then the evidence. It needs no network and is read by day and by night."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

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
from fencepost.checks.policy.timeline import timeline
from fencepost.traces.comparison.comparison import Contender

_LIGHT = {
    "ink": "#1d2430",
    "faint": "#8b93a1",
    "paper": "#ffffff",
    "panel": "#f4f6f9",
    "line": "#d8dde5",
    "good": "#1a7f4b",
    "bad": "#c0362c",
    "policy-0": "#2a6db0",
    "policy-1": "#c96a10",
    "policy-2": "#6a4fb3",
    "policy-3": "#128277",
    "policy-4": "#a8447e",
    "policy-5": "#6b6f1d",
}
_DARK = {
    "ink": "#e4e8ef",
    "faint": "#7d8796",
    "paper": "#12161d",
    "panel": "#1b212b",
    "line": "#323b49",
    "good": "#4cc38a",
    "bad": "#ff7a70",
    "policy-0": "#6cb0f5",
    "policy-1": "#f2a14c",
    "policy-2": "#b39bf5",
    "policy-3": "#4fc4b7",
    "policy-4": "#e88abf",
    "policy-5": "#c3c75a",
}
_CSS = """
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .4rem 0; max-width: 46rem; }
.dim { color: var(--faint); }
.answer { background: var(--panel); border-left: .35rem solid var(--line); padding: .75rem 1rem; margin: 1rem 0; }
.answer.worse { border-color: var(--bad); }
.answer.better { border-color: var(--good); }
.answer p { margin: .2rem 0; }
.worse-text { color: var(--bad); font-weight: 600; }
.better-text { color: var(--good); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin-bottom: 1rem; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; }
td.number, th.number { text-align: right; }
figure { margin: .75rem 0; overflow-x: auto; }
svg { width: 100%; height: auto; }
svg text { font-family: system-ui, sans-serif !important; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { background: var(--panel); padding: .75rem; overflow-x: auto; max-height: 24rem; }
summary { cursor: pointer; }
details { margin: .4rem 0; }
ol { padding-left: 1.5rem; max-width: 46rem; }
li, h1, h2, p, summary { overflow-wrap: anywhere; }
figure svg { min-width: 36rem; }
"""


def page(judgement: Judgement, shown: Sequence[Shown]) -> str:
    """The whole page: what to prefer, what is traded for what, and the evidence, of which the details are folded."""
    title = f"{' and '.join(c.name for c in judgement.proposed)} against {judgement.baseline.name}"
    parts = [f"<h1>{escape(title)}</h1>", f"<p class='dim'>{escape(heading(judgement))}</p>"]
    parts += _order(judgement, shown)
    parts += [_answer(judgement, contender) for contender in judgement.proposed]
    parts += ["<h2>What changes</h2>", *(_changes(judgement, contender) for contender in judgement.proposed)]
    parts += ["<h2>The measures</h2>", _table(judgement), f"<p class='dim'>{escape(_how_to_read(judgement))}</p>"]
    parts += _evidence(judgement)
    parts.append("<h2>Runs to look at</h2>")
    for contender in judgement.proposed:
        own = [one for one in shown if one.contender is contender]
        parts += [_shown(judgement, one) for one in own[:_RUNS_SHOWN]]
    parts.append(f"<p class='dim'>The worst run of every measure is in {escape(str(judgement.folder / WORST))}.</p>")
    parts += ["<h2>What this does not say</h2>", f"<p>{escape(_LIMITS)}</p>"]
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{_colours()}{_CSS}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _order(judgement: Judgement, shown: Sequence[Shown]) -> list[str]:
    """Which policy to prefer, and what is traded for what; nothing if there are too few runs to say so."""
    order = preferred(judgement)
    if not order:
        return []
    rows = []
    for one in order:
        what = " (what you have)" if one.contender is judgement.baseline else ""
        told = "" if one.contender is judgement.baseline else f": {one.text}"
        rows.append(f"<li><strong>{escape(one.contender.name)}</strong>{what}{escape(told)}</li>")
    run, moves = first_moves(judgement, shown, order)
    begins = [f"<p>It begins with, in run {run}, a typical one:</p><pre>{escape(chr(10).join(moves))}</pre>"] if moves else []
    points = [_point(judgement, contender) for contender in judgement.comparison.contenders]
    return [
        "<h2>Which to prefer</h2>",
        f"<ol>{''.join(rows)}</ol>",
        *(f"<p class='dim'>{escape(name)}: {escape(NO_CHOICE)}.</p>" for name in not_chosen(judgement)),
        *(f"<p>{escape(line.strip())}</p>" for line in recommendation(judgement, order)),
        *begins,
        f"<p class='dim'>{escape(RULE)}</p>",
        f"<p>{_TRADED}</p>",
        f"<figure>{plots.tradeoff(points)}</figure>",
    ]


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


def _colours() -> str:
    light, dark = ("".join(f"--{name}:{colour};" for name, colour in theme.items()) for theme in (_LIGHT, _DARK))
    return f":root{{color-scheme:light dark;{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _answer(judgement: Judgement, contender: Contender) -> str:
    own = judgement.of(contender)
    told = [d for verdict in ("worse", "better") for d in own if d.verdict == verdict]
    kind = "worse" if judgement.violating(contender) else told[0].verdict if told else ""
    said = f"<p><strong>{escape(sentence(judgement, contender))}.</strong></p>"
    lines = [*map(_in_words, told), *(escape(remark) for remark in not_excluded(judgement, contender))]
    more = "".join(f"<p>{line}</p>" for line in lines)
    several = len(judgement.proposed) > 1
    folded = f"<details><summary>by how much</summary>{more}</details>" if several and more else more
    return f"<div class='answer {kind}'>{said}{folded}</div>"


_RUNS_SHOWN = 3
"""Of each policy: the page would be long, and the others are in files."""


def _in_words(d: Difference) -> str:
    worst = f"; the worst is run {d.worst}" if d.verdict == "worse" and d.worst is not None else ""
    return (
        f"<span class='{d.verdict}-text'>{d.verdict}</span> {escape(d.measure.name)}: {number(d.baseline)} &rarr; "
        f"{number(d.proposed)} {escape(d.measure.unit)} (difference {interval(d)}){worst}"
    )


def _changes(judgement: Judgement, contender: Contender) -> str:
    changed = changes(judgement.baseline, contender)
    if not changed:
        return f"<p>{escape(contender.name)} changes nothing.</p>"
    rows = [(name, before, after) for name, before, after in changed]
    return _rows(("setting", judgement.baseline.name, contender.name), rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class='scroll'><table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>"


def _table(judgement: Judgement) -> str:
    lines = []
    several = len(judgement.proposed) > 1
    for own in judgement.by_measure():
        measure = own[0].measure
        for place, d in enumerate([] if same_in_every_run(own) else own):
            first = f"<td title='{escape(measure.meaning)}'>{measure.name} <span class='dim'>{escape(measure.unit)}</span></td>"
            before = f"<td class='number'>{number(d.baseline)}</td>"
            policy = f"<td title='{escape(d.policy)}'>{escape(short(d.policy))}</td>" if several else ""
            cells = (number(d.proposed), signed(d.difference), interval(d), f"{d.lower} / {d.higher}")
            numbers = "".join(f"<td class='number'>{cell}</td>" for cell in cells)
            lines.append(
                f"<tr>{'<td></td><td></td>' if place else first + before}{policy}"
                f"<td class='{d.verdict.split()[0]}-text'>{in_words(d)}</td>{numbers}</tr>"
            )
    proposed = ("policy", "verdict", "mean") if several else ("verdict", judgement.proposed[0].name)
    names = ("measure", judgement.baseline.name, *proposed, "difference", "interval", "less / more")
    head = "".join(f"<th{'' if n in _WORDS else ' class=number'}>{escape(n)}</th>" for n in names)
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


_WORDS = ("measure", "policy", "verdict")


def _how_to_read(judgement: Judgement) -> str:
    short = "".join(f"{told[0].upper()}{told[1:]}. " for told in told_in_short(judgement))
    return (
        f"{short}Less is better, but for splits and bundles. Less / more: in how many runs. All intervals hold together with "
        f"{confidence(judgement)} confidence. A difference counts if its interval leaves 0 out and it is larger than "
        f"tolerated. With fewer than {FEWEST} runs nothing is said of a measure."
    )


_DOTS = (
    "Each dot is a mean difference, each bar where it lies; shaded is what is tolerated. To the left is less. Hollow is a "
    "difference that does not count. A measure that is 0 under what you have is left out."
)


def _evidence(judgement: Judgement) -> list[str]:
    places = {contender.name: place for place, contender in enumerate(judgement.comparison.contenders) if place}
    apart = (own for own in judgement.by_measure() if not same_in_every_run(own))
    shown = [kept for own in apart if (kept := [d for d in own if d.baseline and math.isfinite(d.low)])]
    parts = ["<h2>The differences</h2>"]
    if shown:
        parts += [f"<p>{_DOTS}</p>", f"<figure>{plots.intervals(shown, places)}</figure>"]
    for contender in judgement.proposed:
        own = judgement.of(contender)
        if any(d.lower or d.higher for d in own):
            spread = plots.distributions(own, judgement.values(judgement.baseline), judgement.values(contender))
            parts.append(
                f"<details><summary>How the differences of the single runs of {escape(contender.name)} are spread</summary>"
                "<p>How many runs, by their difference; dotted is the mean. In colour is what counts.</p>"
                f"<figure>{spread}</figure></details>"
            )
    return parts if len(parts) > 1 else []


def _shown(judgement: Judgement, one: Shown) -> str:
    place = judgement.comparison.contenders.index(one.contender)
    runs = [(judgement.baseline.name, one.baseline, 0), (one.contender.name, one.proposed, place)]
    told = "".join(
        f"<details><summary>What {escape(name)} did: {len(run.actions)} actions</summary>"
        f"<pre>{escape(chr(10).join(timeline(run)))}</pre></details>"
        for name, run, _ in reversed(runs)
    )
    return (
        f"<details class='run'><summary>{escape(one.title)}</summary>"
        f"<figure>{plots.loads(runs)}</figure><figure>{plots.unloads(runs)}</figure>{told}</details>"
    )
