"""The plots of a comparison's page, as SVG that takes its colours from the page."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, ScalarFormatter

from fencepost.checks.policy.comparison.paired import Difference, Values
from fencepost.checks.policy.comparison.text import in_words, short
from fencepost.model.balance.simulation.run import Run
from fencepost.traces.drawings.plotting import STYLE
from fencepost.traces.pages.markup import Html

INK, FAINT = "#010101", "#010102"
POLICIES = ("#010110", "#010111", "#010112", "#010113", "#010114", "#010115")
GOOD, BAD = "#010120", "#010121"
NAMES = {INK: "ink", FAINT: "quiet", GOOD: "good", BAD: "bad"} | {colour: f"policy-{n}" for n, colour in enumerate(POLICIES)}
"""What stands for a colour in a figure, and the page's name of that colour."""

_STYLE = STYLE | {
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": FAINT,
    "grid.alpha": 0.25,
    "axes.grid": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
}
_HOUR = 60
_WIDE = 200
"""Percent beyond which the axis of intervals is logarithmic."""


def colour_of(place: int) -> str:
    """What stands for the colour of a policy; the baseline is the first."""
    return POLICIES[place % len(POLICIES)]


def intervals(differences: Sequence[Sequence[Difference]], places: Mapping[str, int]) -> Html:
    """The differences of all policies with their intervals, measure by measure, in percent of the baseline's mean.

    ``places`` are those of the policies among all. A full dot is a difference that counts, a hollow one is none that was shown.
    """
    shown = [d for own in differences for d in own]
    high = max(0.16, 0.3 / len(places))
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 1.0 + high * max(len(shown), 1)))
        axes = figure.add_subplot()
        row, middles = 0, []
        for own in differences:
            middles.append(row + (len(own) - 1) / 2)
            allowed = min(own[0].tolerance * 100 / abs(own[0].baseline), 1e6)
            band = [row - 0.45, row + len(own) - 0.55]
            axes.fill_betweenx(band, -allowed, allowed, color=FAINT, alpha=0.2, linewidth=0)
            for d in own:
                scale, colour = 100 / abs(d.baseline), colour_of(places[d.policy])
                face = colour if d.verdict in ("better", "worse", "differs") else "none"
                axes.plot([d.low * scale, d.high * scale], [row, row], color=colour, linewidth=1.8, solid_capstyle="round")
                axes.plot([d.difference * scale], [row], "o", color=colour, markersize=5, markerfacecolor=face)
                row += 1
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_yticks(middles, [own[0].measure.name for own in differences])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        ends = [end * 100 / abs(d.baseline) for d in shown for end in (d.low, d.high)]
        if max(map(abs, ends), default=0) > _WIDE:
            axes.set_xscale("symlog", linthresh=_WIDE / 2)
            axes.xaxis.set_major_formatter(ScalarFormatter())
        beyond = f" (logarithmic beyond {_WIDE // 2})" if axes.get_xscale() == "symlog" else ""
        axes.set_xlabel(f"difference, % of the baseline's mean{beyond}")
        if len(places) > 1:
            _legend(figure, {name: places[name] for name in dict.fromkeys(d.policy for d in shown)})
        return _svg(figure)


def tradeoff(points: Sequence[Point]) -> Html:
    """What each policy is worth and what it costs: the imbalance that it leaves and the unloads that it takes."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 3.4))
        axes = figure.add_subplot()
        for name, place, unloads, imbalance in points:
            colour = colour_of(place)
            axes.plot(unloads[1:], [imbalance[0]] * 2, color=colour, linewidth=1.2, alpha=0.7)
            axes.plot([unloads[0]] * 2, imbalance[1:], color=colour, linewidth=1.2, alpha=0.7)
            axes.plot([unloads[0]], [imbalance[0]], "s" if place == 0 else "o", color=colour, markersize=7, label=name)
        axes.set(xlabel="bundles unloaded, 1/h", ylabel="imbalance, fullest broker by the mean")
        axes.margins(0.12)
        _legend(figure, {name: place for name, place, *_ in points})
        return _svg(figure)


Span = tuple[float, float, float]
"""A mean, and where it may be: from, to."""
Point = tuple[str, int, Span, Span]
"""A policy by its name and its place among all, with its unloads and its imbalance."""


def _legend(figure: Figure, places: Mapping[str, int]) -> None:
    """Which policy has which colour, above the axes."""
    marks = [Line2D([], [], color=colour_of(n), marker="o" if n else "s", linewidth=0) for n in places.values()]
    names = [short(name) for name in places]
    figure.legend(marks, names, loc="lower left", bbox_to_anchor=(0.1, 0.9), ncols=2, fontsize=8)


def distributions(differences: Sequence[Difference], baseline: dict[str, Values], proposed: dict[str, Values]) -> Html:
    """How the differences of the runs are spread, for each measure in which there are any; in colour where they count."""
    shown = [d for d in differences if d.lower or d.higher]
    columns = 3
    rows = max(1, -(-len(shown) // columns))
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 1.7 * rows), layout="constrained")
        for place, d in enumerate(shown):
            axes = figure.add_subplot(rows, columns, place + 1)
            apart = proposed[d.measure.name] - baseline[d.measure.name]
            _histogram(axes, apart[np.isfinite(apart)], (BAD, GOOD) if d.verdict in ("better", "worse") else (FAINT, FAINT))
            axes.set_title(f"{d.measure.name}\n{d.measure.unit}: {in_words(d)}", fontsize=8)
        return _svg(figure)


def _histogram(axes: Axes, apart: Values, colours: tuple[str, str]) -> None:
    """With a bar in the middle of which is 0, for runs in which nothing differs; ``colours`` are those of more and of less."""
    most = float(np.abs(apart).max())
    count = 2 * min(12, max(3, int(np.sqrt(len(apart))))) + 1
    counts, edges = np.histogram(apart, count, (-most, most))
    filled = slice(np.flatnonzero(counts)[0], np.flatnonzero(counts)[-1] + 1)
    middle = count // 2
    shades = [FAINT if place == middle else colours[place < middle] for place in range(count)]
    axes.bar(edges[:-1][filled], counts[filled], np.diff(edges)[filled], align="edge", color=shades[filled], alpha=0.75)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.axvline(float(apart.mean()), color=INK, linewidth=1.2, linestyle=":")
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.tick_params(labelsize=7)


def loads(runs: Sequence[tuple[str, Run, int]]) -> Html:
    """The usage of each broker over time, one panel for each policy: its name, its run and its place among the policies."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 2.3 * len(runs)), layout="constrained")
        first: Axes | None = None
        for place, (name, run, colour) in enumerate(runs):
            axes = figure.add_subplot(len(runs), 1, place + 1, sharex=first, sharey=first)
            first = first or axes
            hours = np.arange(run.minutes) / _HOUR
            axes.plot(hours, run.usage * 100, color=colour_of(colour), linewidth=0.7, alpha=0.45)
            up = np.isfinite(run.usage)
            mean = np.where(up, run.usage, 0).sum(axis=1) / np.maximum(up.sum(axis=1), 1)
            axes.plot(hours, mean * 100, color=INK, linewidth=1.5)
            axes.axhline(run.overload_threshold * 100, color=BAD, linewidth=0.8, linestyle="--")
            _mark_events(axes, run)
            axes.set(title=f"{short(name)}: a line for each broker, the mean in bold", ylabel="usage, %", ylim=(0, None))
            axes.margins(x=0)
        if first is not None:
            figure.axes[-1].set_xlabel("hours")
        return _svg(figure)


def unloads(runs: Sequence[tuple[str, Run, int]]) -> Html:
    """When bundles were unloaded: each as a tick, and how many so far."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 2.2 + 0.25 * len(runs)), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, len(runs) * 0.45))
        for place, (name, run, colour) in enumerate(runs):
            hours = np.array([action.minute / _HOUR for action in run.done("unload")])
            count = np.arange(1, len(hours) + 1)
            end = run.minutes / _HOUR
            shade = colour_of(colour)
            top.step([0, *hours, end], [0, *count, len(hours)], where="post", color=shade, linewidth=1.5, label=short(name))
            bottom.eventplot(hours, lineoffsets=place, linelengths=0.7, linewidths=1, colors=shade)
        for axes in (top, bottom):
            _mark_events(axes, runs[0][1])
            axes.margins(x=0)
        top.set_ylabel("unloads so far")
        top.legend(loc="lower right")
        bottom.set_yticks(range(len(runs)), [short(name) for name, _, _ in runs])
        bottom.set_ylim(len(runs) - 0.5, -0.5)
        bottom.set_xlabel("hours")
        bottom.grid(visible=False)
        return _svg(figure)


def _mark_events(axes: Axes, run: Run) -> None:
    for minute in sorted({action.minute for action in run.done("crash", "stop", "start")}):
        axes.axvline(minute / _HOUR, color=FAINT, linewidth=0.8, linestyle=":")


def _svg(figure: Figure) -> Html:
    """The figure as an element of a page, its colours those of the page. matplotlib escapes the texts in it."""
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    text = re.sub(r"<metadata>.*?</metadata>", "", written.getvalue()[written.getvalue().index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)
    return Html(re.sub(r"#0101[0-9a-f]{2}", lambda match: f"var(--{NAMES[match[0]]})", text))
