"""What ``fencepost check`` is asked for, and what its help teaches."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fencepost.checks.commands.tree import EXIT_STATUS, Command
from fencepost.checks.console.numbers import positive
from fencepost.checks.console.options import (
    UNNAMED,
    Budget,
    Bugs,
    NamedReleases,
    Quiet,
    Set,
    Sizes,
    Steps,
    Strategies,
    Workers,
    conf,
    number,
    page,
    seed,
    traces,
)
from fencepost.checks.console.requests import Argument, Option
from fencepost.checks.questions.planning import Wanted

CHECK = """Checks protocols and prints a verdict on each of their properties.

With a cluster's settings (--conf broker.conf or values.yaml, --cluster URL,
--profile FILE) it says whether messages can be lost, and what to change first;
with --against-pulsar, whether to upgrade.

Without --set, --conf or --bug the instances of a size are checked (ci, unless
--size says otherwise). --conf takes the instance from a cluster's broker.conf;
--set changes parameters of whatever is checked; --bug switches a known bug on,
in a small instance in which it shows. `fencepost list ledger` shows parameters,
sizes, properties and bugs.

--pulsar and --bookkeeper name the releases that a cluster runs (with --conf the
newest, unless a file or an option names them). The check then also searches for
the known bugs of these releases, and shows the shortest run to each, its
impact, and the release that fixes it."""

EXAMPLES = """examples:
  fencepost check                                     all protocols at the size for continuous integration
  fencepost check --conf broker.conf                  can messages be lost, and what to change first
  fencepost check --conf new.conf --against old.conf  which guarantees get weaker, with a run for each
  fencepost check --conf broker.conf --way 1          the first way to lose a message, step by step
  fencepost check --conf broker.conf --pulsar 5.0.1 --against-pulsar 4.0.8  may I upgrade
  fencepost check --conf broker.conf --guarantees --require 'disks>=1' --require 'bookies_down>=1'
                                                      fail if it guarantees less, and say what to change
  fencepost check --conf broker.conf --pulsar 4.0.8   the known bugs that affect you with that release
  fencepost check ledger --set bookies=4 changes=1    an instance of your own
  fencepost check ledger --bug recovery_reads_do_not_fence --property no_truncation
                                                      the shortest way to lose an acknowledged entry
  fencepost check my_protocol.py --set clients=3      a protocol of your own, with the same options
  fencepost check --conf broker.conf --baseline accepted.json
                                                      fail only on findings that nobody has accepted
"""


def document(what: str) -> Option:
    """The answer in a file, beside what is printed."""
    return Option(f"write the answer as {what} (-: print it in place of the text)", "FILE", once=True, writes="file")


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Wanted, NamedReleases):
    """What to check, of which configuration ``against`` which, by which means, and where to write what was found."""

    protocols: Annotated[
        Sequence[str], Argument("names, or files of your own protocols, such as my_protocol.py (default: all)", "PROTOCOL")
    ] = ()
    conf: Annotated[
        Sequence[Path],
        conf("take the settings from a broker.conf, an environment file, Helm values or a ConfigMap (-: standard input)"),
    ] = ()
    cluster: Annotated[
        Sequence[str],
        Option("ask a running cluster, by GET requests only: the address of each broker, or a folder of --save", "URL"),
    ] = ()
    bookie: Annotated[Sequence[str], Option("ask this bookie for its settings, at the address of its HTTP server", "URL")] = ()
    token_file: Annotated[Path | None, Option("the token for --cluster, in a file", "FILE", once=True)] = None
    save: Annotated[
        Path | None,
        Option("keep what --cluster read, to check it again or to compare two days", "DIR", once=True, writes="folder"),
    ] = None
    name: str = ""
    facts: Sequence[str] = ()
    racks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    accepted: Mapping[str, str] = field(default_factory=dict)
    all: Annotated[bool, Option("print everything: each property, each run, the settings that were read")] = False
    profile: Annotated[
        Path | None,
        Option("a file that says which cluster it is and what does not happen there: cluster.toml", "FILE", once=True),
    ] = None
    namespace: Annotated[
        Sequence[str], Option("the policies of a namespace, as pulsar-admin namespaces policies prints them", "NAME=FILE")
    ] = ()
    way: Annotated[int | None, number("show one way in which something happens, step by step", once=True)] = None
    never: Annotated[
        Sequence[str],
        Option("leave out ways that need this event, such as termination (list --events has the names)", "EVENT[,EVENT]"),
    ] = ()
    guarantees: Annotated[bool, Option("check only the guarantees; --all prints the shortest run that exceeds each")] = False
    require: Annotated[
        Sequence[str], Option("fail if less is guaranteed (exit 16; 14 if a known bug affects you, too)", "NAME>=N")
    ] = ()
    against: Annotated[
        Sequence[Path], Option("fail if less is guaranteed than with this file (exit 15; 14 if a known bug comes, too)", "FILE")
    ] = ()
    against_pulsar: Annotated[
        str | None,
        Option(
            "compare with this release of Pulsar: which known bugs go and come, and what is guaranteed less (exit 15)",
            "RELEASE",
            once=True,
        ),
    ] = None
    bookies: Annotated[int | None, number("number of bookies in the cluster (default: ensemble size + 1)", once=True)] = None
    odds: Annotated[
        Path | None,
        Option(
            "print how often a message is lost, in each way, with the numbers in the table [odds] of FILE if it is named",
            "FILE",
            once=True,
            unnamed=UNNAMED,
        ),
    ] = None
    pulsar: Annotated[
        str | None, Option("behave as this release of Pulsar, and search for its known bugs", "RELEASE", once=True)
    ] = None
    set: Set = ()
    size: Sizes = None
    by: Annotated[
        str | None,
        Option("the engine (default: the strongest that terminates)", choices=("exhaustive", "walks", "induction")),
    ] = None
    bug: Bugs = ()
    property: Annotated[Sequence[str], Option("check only this property; may be given several times", "NAME")] = ()
    json: Annotated[Path | None, document("one JSON object")] = None
    sarif: Annotated[Path | None, document("SARIF, for code scanning")] = None
    junit: Annotated[Path | None, document("JUnit XML, for the page of a pipeline")] = None
    markdown: Annotated[Path | None, document("Markdown, for a comment on a pull request")] = None
    annotations: Annotated[bool, Option("mark lines by annotations of GitHub Actions, among the text")] = False
    budget: Budget = None
    memory: Annotated[
        float | None,
        Option("memory of an exhaustive search (default: 4; of one question of a configuration 0.5)", "GIB", positive),
    ] = None
    workers: Workers = None
    trace_dir: Annotated[Path | None, traces("write the traces of violated properties there, as ITF files")] = None
    html: Annotated[Path | None, page("write a page to explore these traces in a browser")] = None
    walks: Annotated[int, number("number of walks of --by walks")] = 100_000
    steps: Steps = 100
    seed: Annotated[int, seed("the walks")] = 0
    strategy: Strategies = "held"
    any: Annotated[
        Sequence[str],
        Option(
            "prove it by induction for any number of these: entries, bookies, recoverers (ledger), brokers (ownership), ...",
            "NAME",
            several=True,
        ),
    ] = ()
    second_solver: Annotated[bool, Option("have cvc5 confirm every obligation that Z3 discharges")] = False
    symmetry: Annotated[bool, Option("explore one representative of symmetric states")] = False
    no_slice: Annotated[bool, Option("search all of a protocol, not only what the named properties can see")] = False
    checkpoint: Annotated[Path | None, Option("keep the levels of an exhaustive search there", "DIR", writes="folder")] = None
    resume: Annotated[bool, Option("go on from what --checkpoint DIR holds")] = False
    strict: Annotated[bool, Option("fail on suspicious successes (exit 10)")] = False
    baseline: Annotated[
        Path | None,
        Option("fail only on findings missing from FILE, or on entries that no longer occur", "FILE", once=True),
    ] = None
    write_baseline: Annotated[
        Path | None,
        Option(
            "accept the known bugs and suspicions of this run, in FILE; whatever else fails still does",
            "FILE",
            once=True,
            writes="file",
        ),
    ] = None
    quiet: Quiet = False

    @builtins.property
    def cores(self) -> int:
        """How many threads or processes may work at once: as many as are asked for, or as there are cores."""
        return self.workers or os.cpu_count() or 1


COMMAND = Command(CheckRequest, "check.run:run", CHECK, f"{EXAMPLES}\n{EXIT_STATUS}", refuses=True)
