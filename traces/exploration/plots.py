"""A report's plots as SVG: how the states seen grow with the walks, and how often each action was taken."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from fencepost.model.counts import count_of
from fencepost.traces.drawings.plotting import STYLE
from fencepost.traces.exploration.report import Report

_INK = "#1f4e79"


def write_plots(report: Report, folder: Path) -> list[Path]:
    """Writes the plots into the folder and returns their paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        figures = {"states": _states(report), "coverage": _coverage(report)}
        paths = []
        for name, figure in figures.items():
            paths.append(folder / f"{name}.svg")
            figure.savefig(paths[-1], metadata={"Date": None}, bbox_inches="tight")
    return paths


def _states(report: Report) -> Figure:
    figure = Figure(figsize=(6, 3.5))
    axes = figure.add_subplot()
    walks, states = zip((0, 0), *report.growth, strict=True)
    axes.plot(walks, states, color=_INK)
    axes.set(xlabel="walks", ylabel="distinct states visited" + (" (estimated)" if report.error else ""), xlim=0, ylim=0)
    axes.set_title(_title(report))
    return figure


def _coverage(report: Report) -> Figure:
    actions = sorted(report.coverage, key=lambda action: (report.coverage[action].taken, action))
    figure = Figure(figsize=(7, 1 + 0.16 * len(actions)))
    axes = figure.add_subplot()
    axes.barh(actions, [report.coverage[action].taken for action in actions], color=_INK)
    axes.set_xscale("symlog")
    axes.set(xlabel="steps taken (logarithmic)", ylim=(-1, len(actions)))
    axes.tick_params(axis="y", labelsize=7)
    axes.set_title(_title(report))
    return figure


def _title(report: Report) -> str:
    bugs = f" with {', '.join(report.run.bugs)}" if report.run.bugs else ""
    return f"{report.run.protocol}{bugs}: {count_of(report.walks, 'walk')}, seed {report.run.seed}"
