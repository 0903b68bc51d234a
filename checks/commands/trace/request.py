"""What each verb of ``fencepost trace`` is asked for, and what its help teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from fencepost.checks.commands.tree import Command, Entry, Group
from fencepost.checks.console.options import Quiet, page_name
from fencepost.checks.console.requests import Argument, Option

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

SHOW = """Prints a trace for people, as its file has it. `fencepost trace replay` takes its steps again."""

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


Own: TypeAlias = Annotated[
    Path | None, Option("a file of your own, such as my_protocol.py, that has the trace's protocol", "FILE.py")
]


@dataclass(frozen=True, kw_only=True)
class TraceRequest:
    """The trace file that a verb is about, and the file that has its protocol if that is one's own."""

    file: Annotated[Path, Argument("an ITF file (*.itf.json)", "FILE")]
    protocol: Own = None


@dataclass(frozen=True, kw_only=True)
class ShowRequest(TraceRequest):
    """Print it: with the whole initial state, or only what concerns an actor."""

    full: Annotated[bool, Option("with the whole initial state")] = False
    actor: Annotated[str | None, Option("only what NAME does, and what changes its variables", "NAME")] = None


@dataclass(frozen=True, kw_only=True)
class ReplayRequest(TraceRequest):
    """Take its steps again."""


@dataclass(frozen=True, kw_only=True)
class DiffRequest(TraceRequest):
    """Compare it with another."""

    file: Annotated[Path, Argument("an ITF file (*.itf.json)", "FILE")]
    other: Annotated[Path, Argument("the ITF file to compare with", "OTHER")]


@dataclass(frozen=True, kw_only=True)
class ExplainRequest(TraceRequest):
    """Why an action cannot happen after a step, the last unless named."""

    step: Annotated[int | None, Option("the state after step N (default: the last)", "N")] = None
    action: Annotated[str, Option("as traces show it, or without its arguments", "LABEL")]


@dataclass(frozen=True, kw_only=True)
class DiagramRequest(TraceRequest):
    """Draw it, and write that to a file or print it."""

    format: Annotated[str, Option("how to draw it", choices=("mermaid", "svg"))] = "mermaid"
    out: Annotated[Path | None, Option("write it there (default: print it)", "FILE", writes="file")] = None


@dataclass(frozen=True, kw_only=True)
class NeighbourhoodRequest(DiagramRequest):
    """Draw what is around it, up to so many steps and states."""

    format: Annotated[str, Option("how to draw it", choices=("svg", "graphml"))] = "svg"
    radius: Annotated[int, Option("up to N steps from the trace", "N")] = 1
    limit: Annotated[int, Option("at most N states besides its own", "N")] = 200


@dataclass(frozen=True, kw_only=True)
class ShrinkRequest(TraceRequest):
    """Make it shorter, with its parameters as they are or with smaller ones."""

    out: Annotated[Path | None, Option("write the shrunk trace there, as an ITF file", "FILE", writes="file")] = None
    keep_instance: Annotated[bool, Option("leave the parameters as they are")] = False
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class PinRequest(TraceRequest):
    """Write a test of it to a folder, and what the test is to expect."""

    out: Annotated[Path, Option("the folder for both", "DIR", writes="folder")] = Path()
    expect: Annotated[str | None, Option("what it asserts", choices=("both", "violated", "gone"))] = None


@dataclass(frozen=True, kw_only=True)
class JavaRequest(TraceRequest):
    """Write it as a Maven project for a release of the real code, and for a storage of its bookies."""

    out: Annotated[Path, Option("the folder of the project, new or empty", "DIR", writes="folder")]
    release: Annotated[str | None, Option("of the real code (default: the first that the target is tried with)", "RELEASE")] = (
        None
    )
    storage: Annotated[str | None, Option("of the bookies: db (the default), sorted or interleaved", "KIND")] = None
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class HtmlRequest:
    """Write the page of some trace files."""

    files: Annotated[Sequence[Path], Argument("an ITF file (*.itf.json)", "FILE")]
    protocol: Own = None
    out: Annotated[Path | None, Option("write it there (default: beside the first FILE)", "PAGE", page_name, writes="file")] = (
        None
    )
    quiet: Quiet = False


SHOW_COMMAND = Command(ShowRequest, "trace.show:run", SHOW)
REPLAY_COMMAND = Command(ReplayRequest, "trace.run:run", "Takes the steps of a trace again and compares the states.")
DIFF_COMMAND = Command(DiffRequest, "trace.run:run", "Prints where two traces diverge, and what differs after.")
EXPLAIN_COMMAND = Command(ExplainRequest, "trace.run:run", EXPLAIN)
DIAGRAM_COMMAND = Command(DiagramRequest, "trace.run:run", "Draws a trace as a sequence diagram.")
NEIGHBOURHOOD_COMMAND = Command(NeighbourhoodRequest, "trace.run:run", NEIGHBOURHOOD)
HTML_COMMAND = Command(HtmlRequest, "trace.html:run", HTML)
SHRINK_COMMAND = Command(ShrinkRequest, "trace.run:run", SHRINK)
JAVA_COMMAND = Command(JavaRequest, "trace.java:run", JAVA)
PIN_COMMAND = Command(PinRequest, "trace.run:run", PIN)

COMMAND = Group(
    TRACE,
    {
        "verbs": {
            "show": Entry("trace.request:SHOW_COMMAND", "print a trace for people"),
            "replay": Entry("trace.request:REPLAY_COMMAND", "take its steps again and compare the states"),
            "diff": Entry("trace.request:DIFF_COMMAND", "where two traces diverge, and what differs after"),
            "explain": Entry("trace.request:EXPLAIN_COMMAND", "why an action cannot happen in a state of a trace"),
            "diagram": Entry("trace.request:DIAGRAM_COMMAND", "draw a trace as a sequence diagram"),
            "neighbourhood": Entry("trace.request:NEIGHBOURHOOD_COMMAND", "what else could have happened, as a graph"),
            "html": Entry("trace.request:HTML_COMMAND", "write a page to explore traces in a browser"),
            "shrink": Entry("trace.request:SHRINK_COMMAND", "make a trace shorter"),
            "java": Entry("trace.request:JAVA_COMMAND", "write the run as a Maven project that runs on the real code"),
            "pin": Entry("trace.request:PIN_COMMAND", "write a pytest test that keeps a trace"),
        }
    },
    EXAMPLES,
    metavar="VERB",
)
