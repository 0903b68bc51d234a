"""``fencepost reproduce``: what a finding says, shown on released software."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from fencepost.checks.commands.tree import Command
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.toolchain import toolchain
from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
from fencepost.checks.conformance.reproductions.reproduction import Comparison, NotSetUp, Observation, Reproduction, compared
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.console.extras import ODDS, require
from fencepost.checks.console.options import Classes, Format, Jars, Quiet
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter
from fencepost.checks.console.requests import Argument, Option
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.language.mistakes import guess
from fencepost.properties.registry import RegistryError

if TYPE_CHECKING:
    from fencepost.checks.conformance.reproductions.study import Study

FORMAT = 1

DESCRIPTION = """Shows a finding on released software, with real processes or a whole broker, and then a control that loses
nothing. It prints what it starts and kills, what is acknowledged, and what a reader then gets. Without a name it lists the
findings: what is lost, in which releases, how long it takes.

Everything listens on the loopback interface only. Every process is ended and every file removed, also after Ctrl-C; --keep
leaves the files, and each JVM a log. It needs a JDK, 17 or newer, and Maven, which fetches the jars once into the user's
cache."""

EPILOG = """examples:
  fencepost reproduce                                      what there is
  fencepost reproduce fence-forgotten                      three bookies, kill -9, and a lost entry
  fencepost reproduce fence-forgotten --release 4.17.3     on another release
  fencepost reproduce fence-forgotten --classes build      with your own classes before the release's
  fencepost reproduce fence-forgotten --keep               leave logs, journals and ledgers
  fencepost reproduce dedup-loses --odds                   how many of such faults lose messages: predicted, then counted

exit status: 0 seen as the finding says, 12 not seen, or also seen in the control, 20 given up, or not tried because what it
needs did not come about in two attempts, 2 wrong usage, 153 no Java or no Maven, or a process failed; with --odds 0 if
  predictions and counts agree, 12 if not"""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The finding to show, or none to list them all; on which release, the first of the finding's unless named."""

    name: Annotated[str | None, Argument("the finding (default: list them)", "NAME")] = None
    release: Annotated[
        str | None, Option("of BookKeeper, Pulsar or Kafka (default: the first that the list names)", "RELEASE")
    ] = None
    jars: Jars = None
    classes: Classes = ()
    odds: Annotated[
        bool, Option("log durations, predict how many of many faults lose a message, count them, and change one input by ten")
    ] = False
    keep: Annotated[bool, Option("leave the folders of the processes, and print where they are")] = False
    format: Format = "text"
    quiet: Quiet = False

    @property
    def own(self) -> OwnBuild:
        """What takes the place of the release's jars."""
        return OwnBuild(self.jars, tuple(self.classes))


COMMAND = Command(Request, "reproduce:run", DESCRIPTION, EPILOG)


def run(request: Request) -> ExitStatus:
    """Does what is asked for; returns the exit status. Raises RegistryError for an unknown name."""
    if request.name is None:
        if request.release or request.keep or request.own or request.odds:
            needing = "--release, --jars, --classes, --odds and --keep"
            raise RegistryError(f"{needing} need the NAME of a finding; without one, all are listed")
        print(in_format(request.format, text=listing, json=_list_as_json), end="")
        return ExitStatus.HOLDS
    if request.odds:
        return _studied(request.name, request)
    reproduction = REPRODUCTIONS.get(request.name)
    if reproduction is None:
        meant, every = guess(request.name, REPRODUCTIONS), ", ".join(REPRODUCTIONS)
        raise RegistryError(f"no finding is called {request.name!r}{meant}; there are {every}")
    try:
        return _shown(reproduction, request)
    except NotSetUp as error:
        print(f"fencepost: not tried: {error}", file=sys.stderr)
        return ExitStatus.INCONCLUSIVE


class _Scene:
    """A folder for the stages of a run, and the account that they give; the folder goes with it unless it is kept."""

    def __init__(self, subject: str, request: Request) -> None:
        self._request, self._tools = request, toolchain()
        self.reporter = Reporter(quiet=request.quiet)
        self.reporter.begin(subject)
        self.lines: list[str] = []
        self.folder = Path()

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="reproduce-" if self._request.keep else "fencepost-"))
        return self

    def __exit__(self, *_: object) -> None:
        self.reporter.end()
        if not self._request.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, line: str) -> None:
        """Prints a line of the account; as JSON it is kept for the end."""
        self.lines.append(line)
        self.reporter.end()
        telling = self.reporter.telling
        in_format(self._request.format, text=lambda: print(f"  {line}", flush=True), json=lambda: telling(line))

    def stage(self, name: str) -> Stage:
        """A stage in a folder of that name."""
        own, logs = self._request.own, self._request.keep
        return Stage(self.folder / name, self._tools, self.say, self.reporter.telling, own, logs=logs)


def _subject(of: Reproduction | Study, request: Request) -> tuple[str, str]:
    """What is shown, and on which release."""
    release = request.release or of.releases[0]
    subject = f"{of.name} on {of.system} {release}"
    return (f"{subject}, own build, not pinned: {request.own}" if request.own else subject), release


def _studied(name: str, request: Request) -> ExitStatus:
    """Predicts how many faults lose a message, and counts them."""
    from fencepost.checks.conformance.reproductions.predictions import (
        agree,
        as_data,
        count_in_words,
        prediction_in_words,
        ratio_in_words,
    )
    from fencepost.checks.conformance.reproductions.registry import STUDIES
    from fencepost.checks.conformance.reproductions.study import Count, studied

    require(ODDS, "reproduce --odds")
    study = STUDIES.get(name)
    if study is None:
        raise RegistryError(f"no prediction is made for {name!r}{guess(name, STUDIES)}; there are {', '.join(STUDIES)}")
    subject, release = _subject(study, request)
    started, counts = time.monotonic(), list[Count]()
    scene = _Scene(subject, request)
    print(in_format(request.format, text=lambda: f"{subject}: predicted, then counted\n", json=str), end="", flush=True)
    with scene:
        for found in studied(study, release, scene.stage):
            if isinstance(found, Count):
                counts.append(found)
                scene.say(count_in_words(found))
            else:
                for line in prediction_in_words(study, found):
                    scene.say(line)
    status = ExitStatus.HOLDS if agree(counts) else ExitStatus.SAFETY
    place = f"# kept: {scene.folder}\n" if request.keep else ""
    seconds = time.monotonic() - started
    rows = {"format": FORMAT, "exit_status": int(status), **as_data(study, release, counts, scene.lines)}
    report = in_format(
        request.format,
        text=lambda: f"{ratio_in_words(study, counts)}\n{place}# {seconds:.0f} s\n",
        json=lambda: json.dumps({**rows, "seconds": round(seconds, 1)}, indent=1) + "\n",
    )
    print(report, end="")
    return status


def _shown(reproduction: Reproduction, request: Request) -> ExitStatus:
    subject, release = _subject(reproduction, request)
    started = time.monotonic()
    scene = _Scene(subject, request)
    print(in_format(request.format, text=lambda: f"{subject}; loses {reproduction.harm}\n", json=str), end="", flush=True)
    with scene:
        comparison = compared(reproduction, release, scene.stage)
    status = ExitStatus.HOLDS if comparison.as_found else ExitStatus.SAFETY
    seconds = time.monotonic() - started
    place = f"# kept: {scene.folder}\n" if request.keep else ""
    report = in_format(
        request.format,
        text=lambda: f"{conclusion(comparison)}\n{place}# {seconds:.0f} s\n",
        json=lambda: _as_json(reproduction, release, comparison, scene.lines, status, seconds),
    )
    print(report, end="")
    return status


def conclusion(comparison: Comparison) -> str:
    """One line: whether it was seen as the finding says."""
    if comparison.as_found:
        return "seen as the finding says, and not in the control"
    if comparison.run.harmed:
        return "not as the finding says: also seen in the control"
    return "not as the finding says: not seen"


def listing() -> str:
    """What can be shown: name, releases, time, what is lost, and the page of the finding."""
    lines = []
    for each in REPRODUCTIONS.values():
        lines.append(f"{each.name}: {each.system} {', '.join(each.releases)}, {each.seconds} s on two busy cores")
        lines += [f"  loses    {each.harm}", f"  control  {each.control}", f"  finding  {each.page}"]
    return "\n".join(lines) + "\n"


def _list_as_json() -> str:
    rows = [
        {
            "name": each.name,
            "system": each.system,
            "releases": each.releases,
            "seconds": each.seconds,
            "harm": each.harm,
            "control": each.control,
            "page": each.page,
        }
        for each in REPRODUCTIONS.values()
    ]
    return json.dumps({"format": FORMAT, "reproductions": rows}, indent=1) + "\n"


def _as_json(
    reproduction: Reproduction, release: str, comparison: Comparison, lines: list[str], status: ExitStatus, seconds: float
) -> str:
    def row(observation: Observation) -> Mapping[str, object]:
        return {"harmed": observation.harmed, "figures": dict(observation.figures)}

    shown = {
        "format": FORMAT,
        "exit_status": int(status),
        "name": reproduction.name,
        "release": release,
        "as_found": comparison.as_found,
        "run": row(comparison.run),
        "control": row(comparison.control),
        "account": lines,
        "seconds": round(seconds, 1),
    }
    return json.dumps(shown, indent=1) + "\n"
