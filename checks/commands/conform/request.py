"""What ``fencepost conform`` is asked, of a target or by a verb, and what its help teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from fencepost.checks.commands.conform.formats import FORMATS
from fencepost.checks.commands.tree import Command, Entry, Group
from fencepost.checks.console.options import Bugs, Classes, Format, Jars, Quiet, Set, number, seed, traces
from fencepost.checks.console.requests import Argument, Option, local_or_url

CONFORM = """Checks protocols against the code that they mirror: the real Java classes of a release. It needs a JDK, 17 or
newer, and Maven, which fetches the release's jars once into the user's cache."""

TARGET = """Checks a protocol against the code that it mirrors. The model chooses the steps, and the real Java classes of a
release take them. After each step the observable state and the outstanding requests are compared.

The first run fetches the release's jars with Maven, checks them against pinned checksums, and compiles the harness. Both stay
in the user's cache. A difference is shrunk and shown as a run; --out writes it as a trace file, and --trace replays
one. Known differences have names; the others are reported as new. The command needs a JDK, 17 or newer, and Maven."""

TARGETS = {
    "ledger": "BookKeeper's client and bookies, with the protocol ledger",
    "bookie": "one bookie with its journal and its ledger storage, stopped, killed and without power, with the protocol bookie",
    "replication": "BookKeeper's workers of auto-recovery over bookies and a ZooKeeper server, with the protocol replication",
    "metadata-store": "Pulsar's metadata store and its clients over a ZooKeeper server, with the protocol metadata_store",
    "election": "Pulsar's leader election over a ZooKeeper server, with the protocol election",
    "ownership": "Pulsar's locks on bundles and OwnershipCache over a ZooKeeper server, with the protocol ownership",
    "unload": "Pulsar's NamespaceService as it unloads bundles, over a ZooKeeper server, with the protocol unload",
    "split": "Pulsar's NamespaceService as it splits bundles, over a ZooKeeper server, with the protocol split",
    "service-unit": "the extensible load manager's channel over a ZooKeeper server, with the protocol service_unit",
    "topic": "managed ledgers, PersistentTopic and deduplication, over metadata and ledgers in memory, with the protocol topic",
    "subscription": "the cursor of a subscription, over metadata and ledgers in memory, with the protocol subscription",
    "kafka-controller": "Kafka's election of a controller and its epoch over a ZooKeeper server, with the protocol "
    "kafka_controller",
}
"""The targets, as ``checks/conformance/registry.py`` has them: that they are the same is tested, here and below."""

ONLY_FOR = {
    "storage": ("ledger", "bookie"),
    "processes": ("bookie",),
    "sockets": ("election", "metadata-store", "ownership", "service-unit", "split", "unload"),
}
"""Options that only some targets take: bookies have a storage, one target's process can be killed, a ZooKeeper is called
unless its sockets are asked for."""

MIRRORS = """Looks in the jars of each modelled release for the classes and methods that the actions of the protocols mirror.
Methods that only some releases have are declared (ONLY_IN of model/releases.py). The exit status is 12 if a method is missing
without such a declaration, or present against it. The command needs Maven and a JDK; it fetches a few jars for each release."""

BUGS = """Replays the known bugs on the real code of every release that their targets support. For each bug it takes the
model's shortest run to an observable violation. The bug is "reproduced" if the code takes every step as the model does;
processes that are down at the end are started again. It is "gone" if a release without the bug departs from the run. It is
"not tried" if the adapter cannot take a step.

exit status: 0 every bug is where it should be, 12 a release that should have a bug does not take its run, 20 interrupted,
2 wrong usage, 153 no Java or no Maven, or the harness failed"""

LOG = """Looks for a run of a protocol that explains a log of events, a JSON object on each line. Each event is a step of the
run, or one of several possible steps, and what the line shows must hold in the model at that point. Steps that no line
mentions may happen at any time in between. All candidate states are kept, so failure is conclusive. The report then has the
longest prefix that a run explains, the states possible there, and why no step fits.

A log in the protocol's own words has "steps" and "seen" on each line, and perhaps a first line with "parameters". For any
other, --mapping says which field names what a line is about, which steps it may be, and which fields show which variables.

--tables explains the lines of every ledger, or every bundle (service_unit), in the tables of fencepost ingest, on Spark, and
adds a row for each to the table verdicts."""

LOG_EXAMPLES = """examples:
  fencepost conform log ledger run.jsonl                              in the protocol's own words
  fencepost conform log ledger client.jsonl --mapping mapping.json --set entries=3
  fencepost conform log election run.jsonl --out run.itf.json         the run that explains it, as a trace
  fencepost conform log ledger --tables tables --out unexplained      every ledger whose lines were ingested
  fencepost conform log service_unit --tables tables --set store=metadata

exit status: 0 explained, 12 no run explains it, 20 interrupted or too many states, 2 wrong usage, 75 the log is empty or the
mapping matches none of its lines, 150 the log or the mapping cannot be read or does not fit"""

EXAMPLES = """examples:
  fencepost conform ledger                                  200 random runs on the usual release
  fencepost conform ledger --release 4.17.3 --runs 10000
  fencepost conform ledger --trace run.itf.json             one run, step by step
  fencepost conform bookie --storage sorted --processes     one bookie, killed by SIGKILL
  fencepost conform bookie --classes build --without failed_save_forgotten
                                                            your fix, and the model without that bug
  fencepost conform metadata-store --release 4.0.8          Pulsar's metadata store, over a ZooKeeper server
  fencepost conform election --release 4.2.4                Pulsar's leader election, over a ZooKeeper server
  fencepost conform ownership --release 5.0.0-M1            Pulsar's locks on bundles, over a ZooKeeper server
  fencepost conform split --release 4.0.8                   splits of bundles, by NamespaceService
  fencepost conform ledger --bug closes_at_lac           is a bug in the model noticed?
  fencepost conform mirrors election                        are the methods that it mirrors in the jars?
  fencepost conform service-unit --release 4.0.8            the channel of service units, over the metadata store
  fencepost conform topic --release 4.0.8                   a topic's managed ledger, over ledgers in memory
  fencepost conform resolver                                does its conflict resolver decide as Pulsar's does?
  fencepost conform log ledger run.jsonl                    does a run of the model explain this log?
  fencepost conform bugs election                        which known bugs happen on the real code?"""

STATUS = """exit status: 0 no difference except known ones, 12 a difference, 20 interrupted, 2 wrong usage,
75 no step was taken, 150 the trace cannot be read, 153 no Java or no Maven, or the harness failed"""


POLICY = """Asks the modelled rules of load balancing and the real classes of a release the same random questions, edge values
included. The answers must be the same. The questions are about shedders and their memory over rounds, placement strategies,
splits and their boundaries, hashes and lookups, averages, and which reports are written.

For each rule that differs one case is shrunk and reported; --out writes it as snapshots and a configuration for `fencepost
policy decide`. A case is a function of the seed, the release and its number."""

POLICY_EXAMPLES = """examples:
  fencepost conform policy                                  5,000 cases on the newest release
  fencepost conform policy --release 2.10.1 --cases 100000 --seed 7
  fencepost conform policy --rule TransferShedder --cases 20000
                                                            one rule alone
  fencepost conform policy --out found                      write what differs, for `fencepost policy decide`

exit status: 0 no difference, 12 a difference, 20 interrupted, 2 wrong usage, 153 no Java or no Maven, or the harness failed"""

RESOLVER = """Asks the modelled conflict resolver of service units and the real class of a release which of two records is
kept. The answers must be the same. The questions are all pairs of records of a small domain, and random pairs with versions
up to the largest and smallest possible. The bugs are those of `fencepost check service_unit_resolver`."""

PLACEMENT = """Asks the placement policies of a release of BookKeeper for ensembles, and for the bookies that replace members of
a rack or a region that is cut off. What they draw must be among what the protocol placement allows, and what they refuse among
what it refuses. A case is some racks with one to three bookies each, some of which may be away, with quorums and settings. Four
of ten cases have regions. With --pulsar all cases have isolation groups, as Pulsar's own policy knows them. The draws follow
the seed."""

PLACEMENT_EXAMPLES = """examples:
  fencepost conform placement                                1,000 cases
  fencepost conform placement --release 4.17.3 --cases 20000 --seed 7
  fencepost conform placement --pulsar 4.2.4                 isolation groups
  fencepost conform placement --bug racks_not_checked        is a bug in the model noticed?"""

RESOLVER_EXAMPLES = """examples:
  fencepost conform resolver                                on the newest release
  fencepost conform resolver --release 4.0.8 --cases 1000000
  fencepost conform resolver --bug jumps_accepted    is a bug in the model noticed?

exit status: 0 no difference, 12 a difference, 20 interrupted, 2 wrong usage, 153 no Java or no Maven, or the harness failed"""


Like: TypeAlias = Annotated[
    str | None,
    Option(
        "the modelled release that the code is taken for (default: --release, or the one that it follows)",
        "RELEASE",
        names=("--as",),
    ),
]


@dataclass(frozen=True, kw_only=True)
class TargetRequest:
    """The target, and how it is run: random runs of an instance, or the steps of a ``trace``; on which release and storage.

    ``jars`` and ``classes`` are a build of one's own, ``like`` the release whose model is used, ``without`` known bugs of that
    release that the model is not to have.
    """

    target: Annotated[str, Argument("what is held against its protocol", "TARGET", choices=TARGETS)]
    release: Annotated[
        str | None,
        Option(
            "of the real code, also one in your local Maven repository (default: the first that the target is tried with)",
            "RELEASE",
        ),
    ] = None
    jars: Jars = None
    classes: Classes = ()
    like: Like = None
    without: Annotated[
        Sequence[str],
        Option(
            "the model is not to have this known bug of the release, which your build fixes; may be given several times", "NAME"
        ),
    ] = ()
    runs: Annotated[int, number("number of random runs")] = 200
    steps: Annotated[int, number("maximum number of chosen steps in a run")] = 60
    seed: Annotated[int, seed("the runs")] = 0
    workers: Annotated[
        int | None,
        number(
            "number of parallel JVMs, max. 8 (default: one more than there are cores, if the runs are many); the runs do not "
            "depend on it"
        ),
    ] = None
    trace: Annotated[Path | None, Option("take the steps of a trace file instead", "FILE")] = None
    storage: Annotated[
        str | None, Option(f"({', '.join(ONLY_FOR['storage'])}) db, Pulsar's and the default, sorted or interleaved", "KIND")
    ] = None
    processes: Annotated[
        bool, Option(f"({', '.join(ONLY_FOR['processes'])}) kill real processes, by SIGKILL; the next one gets the files")
    ] = False
    sockets: Annotated[
        bool,
        Option(f"({', '.join(ONLY_FOR['sockets'])}) reach ZooKeeper through its sockets and threads, not by calls: slower"),
    ] = False
    set: Set = ()
    bug: Bugs = ()
    trace_dir: Annotated[Path | None, traces("write each difference there, as an ITF file")] = None
    format: Annotated[str, Option("how to print the answer", choices=FORMATS)] = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class MirrorsRequest:
    """The protocols, or all, whose methods are looked up, and in which releases."""

    protocols: Annotated[Sequence[str], Argument("the protocols (default: all)", "PROTOCOL")] = ()
    release: Annotated[
        Sequence[str], Option("only in this release of Pulsar or BookKeeper; may be given several times", "RELEASE")
    ] = ()
    format: Format = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class LogRequest:
    """The log of a real system to explain by a run of a protocol, and what its lines mean."""

    protocol: Annotated[str, Argument("the protocol to explain the log with", "PROTOCOL")]
    file: Annotated[Path | None, Argument("the log: a JSON object on each line", "FILE")] = None
    tables: Annotated[
        Path | str | None,
        Option("explain each ledger, or bundle, of these tables instead, which fencepost ingest writes", "DIR", local_or_url),
    ] = None
    mapping: Annotated[Path | None, Option("what the lines mean, if they are not in the protocol's own words", "FILE")] = None
    set: Set = ()
    bug: Bugs = ()
    out: Annotated[
        Path | None,
        Option(
            "write the run that explains the log, as far as it goes, as an ITF file (--tables: a folder)", "FILE", writes="any"
        ),
    ] = None
    master: Annotated[str, Option("with --tables: Spark's master", "URL")] = "local[*]"
    spark_conf: Annotated[Sequence[str], Option("with --tables: a setting of Spark; may be repeated", "NAME=VALUE")] = ()
    limit: Annotated[int, number("give up when more than N states are possible at once")] = 20_000_000
    format: Format = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class PolicyRequest:
    """How many cases of which rules of load balancing are compared with the classes of a release. ``jars`` and ``classes`` are
    a build of one's own, ``like`` the release whose rules are used."""

    release: Annotated[
        str | None, Option("of Pulsar, also one in your local Maven repository, with --as (default: 4.2.4)", "RELEASE")
    ] = None
    jars: Jars = None
    classes: Classes = ()
    like: Like = None
    cases: Annotated[int, number("number of cases over all rules")] = 5000
    rule: Annotated[Sequence[str] | None, Option("only this rule; may be given several times (default: all)", "NAME")] = None
    seed: Annotated[int, seed("the cases")] = 0
    out: Annotated[Path | None, Option("write what differs there, as snapshots and configurations", "DIR", writes="folder")] = (
        None
    )
    format: Format = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class ResolverRequest:
    """How many pairs of records the conflict resolver of a release decides on. ``jars`` and ``classes`` are a build of one's
    own, ``like`` the release whose resolver it is taken for."""

    release: Annotated[
        str, Option("of Pulsar, from 4.0.8 on, also one in your local Maven repository, with --as", "RELEASE")
    ] = "4.2.4"
    jars: Jars = None
    classes: Classes = ()
    like: Like = None
    cases: Annotated[int, number("random pairs over each store")] = 100_000
    seed: Annotated[int, seed("the pairs")] = 0
    bug: Bugs = ()
    format: Format = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class PlacementRequest:
    """How many cases of racks the placement policies of a release are asked about."""

    release: Annotated[str, Option("of BookKeeper", "RELEASE")] = "4.18.0"
    pulsar: Annotated[
        str | None,
        Option("ask this release of Pulsar about isolation groups instead, with the BookKeeper that it ships", "RELEASE"),
    ] = None
    cases: Annotated[int, number("cases, each with twelve draws")] = 1000
    seed: Annotated[int, seed("the cases")] = 0
    bug: Bugs = ()
    format: Format = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class BugsRequest:
    """The targets, or all, on which the known bugs of their releases are replayed; perhaps only some bugs or one release, or a
    build of one's own in the place of its jars; whether to ``record`` that beside them."""

    targets: Annotated[Sequence[str], Argument("the targets (default: all)", "TARGET")] = ()
    bug: Annotated[Sequence[str], Option("only this known bug; may be given several times", "NAME")] = ()
    release: Annotated[str | None, Option("only on this release (default: all of the targets)", "RELEASE")] = None
    jars: Jars = None
    classes: Classes = ()
    out: Annotated[Path | None, Option("also write the result there as JSON", "FILE", writes="file")] = None
    record: Annotated[bool, Option("also write each into the rows beside the bugs (in a checkout)")] = False
    format: Format = "text"
    quiet: Quiet = False


TARGET_COMMAND = Command(TargetRequest, "conform.run:run", TARGET, STATUS)
MIRRORS_COMMAND = Command(MirrorsRequest, "conform.mirrors:run", MIRRORS)
LOG_COMMAND = Command(LogRequest, "conform.log:run", LOG, LOG_EXAMPLES)
POLICY_COMMAND = Command(PolicyRequest, "conform.policy:run", POLICY, POLICY_EXAMPLES)
RESOLVER_COMMAND = Command(ResolverRequest, "conform.resolver:run", RESOLVER, RESOLVER_EXAMPLES)
PLACEMENT_COMMAND = Command(PlacementRequest, "conform.placement:run", PLACEMENT, PLACEMENT_EXAMPLES)
BUGS_COMMAND = Command(BugsRequest, "conform.bugs:run", BUGS)

COMMAND = Group(
    CONFORM,
    {
        "targets": {name: Entry("conform.request:TARGET_COMMAND", helps, is_argument=True) for name, helps in TARGETS.items()},
        "other questions": {
            "mirrors": Entry(
                "conform.request:MIRRORS_COMMAND", "is each method that an action mirrors in the jars of its releases?"
            ),
            "log": Entry("conform.request:LOG_COMMAND", "is there a run of the model that explains the log of a real system?"),
            "policy": Entry("conform.request:POLICY_COMMAND", "do the rules of load balancing answer what the classes do?"),
            "resolver": Entry(
                "conform.request:RESOLVER_COMMAND", "does the conflict resolver of service units decide as the class does?"
            ),
            "placement": Entry(
                "conform.request:PLACEMENT_COMMAND",
                "do the placement policies of BookKeeper place ensembles as the model does?",
            ),
            "bugs": Entry("conform.request:BUGS_COMMAND", "which known bugs happen on the real code?"),
        },
    },
    EXAMPLES,
    metavar="TARGET",
)
