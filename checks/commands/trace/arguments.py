"""The arguments of ``fencepost trace`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.requests import request_of
from fencepost.checks.commands.trace.request import (
    DiagramRequest,
    DiffRequest,
    ExplainRequest,
    HtmlRequest,
    JavaRequest,
    NeighbourhoodRequest,
    PinRequest,
    ReplayRequest,
    ShowRequest,
    ShrinkRequest,
    TraceRequest,
)
from fencepost.checks.console.options import Commands, add_command, add_quiet, page_name
from fencepost.checks.engines.results.verdicts import ExitStatus

TRACE = """Works on trace files, which hold the runs that violate a property. `fencepost check --trace-dir DIR` and `fencepost
explore trace --out FILE` write them."""

EXAMPLES = """examples:
  fencepost trace show broken.itf.json                     who did what, and what it changed
  fencepost trace show broken.itf.json --actor r0          what r0 did, and what others did to it
  fencepost trace replay broken.itf.json                   does it still happen in the current model?
  fencepost trace diff broken.itf.json other.itf.json      where two runs diverge, and what differs after
  fencepost trace explain broken.itf.json --step 6 --action "add(b1, e0)"
                                                           why could this not happen there?
  fencepost trace html broken.itf.json other.itf.json      a page to step through them and compare them, in a browser
  fencepost trace diagram broken.itf.json                  who did what to whom, for Markdown on GitHub and GitLab
  fencepost trace diagram broken.itf.json --format svg --out broken.svg
                                                           the same as a picture
  fencepost trace neighbourhood broken.itf.json --out around.svg
                                                           what else could have happened at each step
  fencepost trace shrink broken.itf.json --out short.itf.json
                                                           the same violation, in fewer steps
  fencepost trace java broken.itf.json --release 4.18.0 --out bug
                                                           the same on the real code, as a Maven project
  fencepost trace pin broken.itf.json --out tests/pinned   a pytest test that keeps it"""

SHRINK = """Makes a trace shorter. The result still violates (or reaches) the same property, with the fewest steps, then the
fewest changes of actor, then the smallest parameters. The output says how far the result is known to be the shortest."""

PIN = """Writes a pytest test, and a copy of the trace beside it. --expect chooses what the test asserts:
  violated   the run still violates its property (the default for a trace without bugs)
  gone       without its bugs the run is impossible or harmless
  both       both of these (the default for a trace with bugs)"""

JAVA = """Runs a trace on the real code of a release, and writes it as a Maven project that runs without Fencepost. The project
has a pom, one test class, and a README with the upstream classes and lines of each step. Its test fails if the release does
what the trace shows. Nothing is written if the code does not take the run. The command needs a JDK, 17 or newer, and Maven.

exit status: 0 written, 12 the code does not take the run as the trace has it, 2 wrong usage, 150 the file cannot be read,
  153 no Java or no Maven"""

NEIGHBOURHOOD = """Draws the states of a trace, the states that other actions lead to, and all transitions between them. The
drawing says what it leaves out, and whether --limit cut it short."""

HTML = """Writes a page to explore traces with: every step, who did what to whom, the state, and each property at each step.
With several traces it compares any two of one protocol. The page is one file that opens from disk and loads nothing."""

EXPLAIN = """Says why an action cannot happen in a state of a trace: which conditions of its guard fail there, and the values
that decide it. A name without arguments stands for all actions of that name."""


def add_trace(commands: Commands) -> None:
    """Adds the command and its verbs."""
    helps = "show, replay, compare, explain, explore, draw, shrink or pin trace files"
    trace = add_command(commands, "trace", helps, TRACE, EXAMPLES)
    verbs = trace.add_subparsers(required=True, metavar="VERB")
    show = _verb(verbs, ShowRequest, "show", "print a trace for people")
    show.add_argument("--full", action="store_true", help="with the whole initial state")
    show.add_argument("--actor", metavar="NAME", help="only what NAME does, and what changes its variables")
    _verb(verbs, ReplayRequest, "replay", "take its steps again and compare the states")
    diff = _verb(verbs, DiffRequest, "diff", "where two traces diverge, and what differs after")
    diff.add_argument("other", type=Path, metavar="OTHER", help="the ITF file to compare with")
    explain = _verb(verbs, ExplainRequest, "explain", "say why an action cannot happen in a state of a trace", EXPLAIN)
    explain.add_argument("--step", type=int, metavar="N", help="the state after step N (default: the last)")
    explain.add_argument("--action", required=True, metavar="LABEL", help="as traces show it, or without its arguments")
    diagram = _verb(verbs, DiagramRequest, "diagram", "draw a trace as a sequence diagram")
    _drawn_as(diagram, "mermaid", "svg")
    around = _verb(verbs, NeighbourhoodRequest, "neighbourhood", "what else could have happened, as a graph", NEIGHBOURHOOD)
    _drawn_as(around, "svg", "graphml")
    around.add_argument("--radius", type=int, default=1, metavar="N", help="up to N steps from the trace (default: 1)")
    around.add_argument("--limit", type=int, default=200, metavar="N", help="at most N states besides its own (default: 200)")
    html = add_command(verbs, "html", "write a page to explore traces in a browser", HTML)
    html.add_argument("files", type=Path, nargs="+", metavar="FILE", help="an ITF file (*.itf.json)")
    html.add_argument("--out", type=page_name, metavar="PAGE", help="write it there (default: beside the first FILE)")
    add_quiet(html)
    html.set_defaults(command=_html)
    shrink = _verb(verbs, ShrinkRequest, "shrink", "make a trace shorter", SHRINK)
    shrink.add_argument("--out", type=Path, metavar="FILE", help="write the shrunk trace there, as an ITF file")
    shrink.add_argument("--keep-instance", action="store_true", help="leave the parameters as they are")
    add_quiet(shrink)
    java = _verb(verbs, JavaRequest, "java", "write the run as a Maven project that runs on the real code", JAVA)
    java.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of the project, new or empty")
    helps = "of the real code (default: the first that the target is tried with)"
    java.add_argument("--release", metavar="RELEASE", help=helps)
    java.add_argument("--storage", metavar="KIND", help="of the bookies: db (the default), sorted or interleaved")
    add_quiet(java)
    java.set_defaults(command=_java)
    pin = _verb(verbs, PinRequest, "pin", "write a pytest test that keeps a trace", PIN)
    pin.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="the folder for both (default: this one)")
    pin.add_argument("--expect", choices=("both", "violated", "gone"), help="what it asserts")


def _verb(verbs: Commands, kind: type[TraceRequest], verb: str, helps: str, description: str = "") -> argparse.ArgumentParser:
    """Adds a verb that works on one file."""
    parser = add_command(verbs, verb, helps, description)
    parser.add_argument("file", type=Path, metavar="FILE", help="an ITF file (*.itf.json)")
    parser.set_defaults(command=_trace, request=kind)
    return parser


def _drawn_as(verb: argparse.ArgumentParser, usual: str, *others: str) -> None:
    verb.add_argument("--format", choices=(usual, *others), default=usual, help=f"default: {usual}")
    verb.add_argument("--out", type=Path, metavar="FILE", help="write it there (default: print it)")


def _trace(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.trace.run import run

    return run(request_of(options.request, options))


def _java(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.trace.java import run

    return run(request_of(JavaRequest, options))


def _html(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.trace.html import run

    return run(request_of(HtmlRequest, options))
