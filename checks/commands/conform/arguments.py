"""The arguments of ``fencepost conform``."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.conform.formats import FORMATS
from fencepost.checks.commands.conform.request import (
    BugsRequest,
    LogRequest,
    MirrorsRequest,
    PolicyRequest,
    ResolverRequest,
    TargetRequest,
)
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.numbers import whole
from fencepost.checks.console.options import (
    Commands,
    add_bug,
    add_command,
    add_format,
    add_own_build,
    add_quiet,
    add_seed,
    add_set,
    add_traces,
)
from fencepost.checks.engines.results.verdicts import ExitStatus

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
    "kafka-controller": "Kafka's election of a controller and its epoch over a ZooKeeper server, with the protocol "
    "kafka_controller",
}
"""The targets, as ``checks/conformance/registry.py`` has them: that they are the same is tested, here and below."""

WITH_STORAGE, WITH_PROCESSES = ("ledger", "bookie"), ("bookie",)
"""The targets whose bookies have a storage to choose, and those whose process can be killed."""
OVER_CALLS = ("election", "metadata-store", "ownership", "service-unit", "split", "unload")
"""The targets whose ZooKeeper is called, unless its sockets are asked for."""

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
other, --mapping says which field names what a line is about, which steps it may be, and which fields show which variables."""

LOG_EXAMPLES = """examples:
  fencepost conform log ledger run.jsonl                              in the protocol's own words
  fencepost conform log ledger client.jsonl --mapping mapping.json --set entries=3
  fencepost conform log election run.jsonl --out run.itf.json         the run that explains it, as a trace

exit status: 0 explained, 12 no run explains it, 20 interrupted or too many states, 2 wrong usage, 75 the log is empty or the
  mapping matches none of its lines, 150 the log or the mapping cannot be read or does not fit"""

EXAMPLES = """examples:
  fencepost conform ledger                                  200 random runs on the usual release
  fencepost conform ledger --release 4.17.3 --runs 10000
  fencepost conform ledger --trace run.itf.json             one run, step by step
  fencepost conform bookie --classes build --without failed_save_forgotten
                                                            your fix, and the model without that bug
  fencepost conform bookie --storage sorted --processes     one bookie, killed by SIGKILL
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

RESOLVER_EXAMPLES = """examples:
  fencepost conform resolver                                on the newest release
  fencepost conform resolver --release 4.0.8 --cases 1000000
  fencepost conform resolver --bug jumps_accepted    is a bug in the model noticed?

exit status: 0 no difference, 12 a difference, 20 interrupted, 2 wrong usage, 153 no Java or no Maven, or the harness failed"""


def add_conform(commands: Commands) -> None:
    """Adds the command, its targets and its verbs."""
    conform = add_command(commands, "conform", "check protocols against the real code", CONFORM, EXAMPLES)
    words = conform.add_subparsers(required=True, metavar="TARGET")
    for target, helps in TARGETS.items():
        _add_target(words, target, helps)
    _add_mirrors(words)
    _add_log(words)
    _add_policy(words)
    _add_resolver(words)
    _add_bugs(words)


def _add_target(words: Commands, target: str, helps: str) -> None:
    conform = add_command(words, target, helps, TARGET, STATUS)
    add = conform.add_argument
    helps = "of the real code, also one that your local Maven repository has (default: the first that the target is tried with)"
    add("--release", metavar="RELEASE", help=helps)
    add_own_build(conform)
    helps = "the model is not to have this known bug of the release, which your build fixes; may be given several times"
    add("--without", action="append", default=[], metavar="NAME", help=helps)
    add("--runs", type=whole(1), default=200, metavar="N", help="number of random runs (default: 200)")
    add("--steps", type=whole(1), default=60, metavar="N", help="maximum number of chosen steps in a run (default: 60)")
    add_seed(conform, "the runs")
    helps = "number of parallel JVMs, max. 8 (default: one more than there are cores, if the runs are many)"
    add("--workers", type=whole(1), metavar="N", help=f"{helps}; the runs do not depend on it")
    add("--trace", type=Path, metavar="FILE", help="take the steps of a trace file instead")
    if target in WITH_STORAGE:
        add("--storage", metavar="KIND", help="of the bookies: db (Pulsar's, the default), sorted or interleaved")
    if target in WITH_PROCESSES:
        add("--processes", action="store_true", help="kill real processes, by SIGKILL; the next one gets the files")
    if target in OVER_CALLS:
        add("--sockets", action="store_true", help="reach ZooKeeper through its sockets and threads, not by calls: slower")
    add_set(conform)
    add_bug(conform)
    add_traces(conform, "write each difference there, as an ITF file")
    add_format(conform, FORMATS)
    add_quiet(conform)
    conform.set_defaults(command=_conform, target=target, storage=None, processes=False, sockets=False)


def _add_mirrors(words: Commands) -> None:
    mirrors = add_command(words, "mirrors", "is each method that an action mirrors in the jars of its releases?", MIRRORS)
    mirrors.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="the protocols (default: all)")
    helps = "only in this release of Pulsar or BookKeeper; may be given several times"
    mirrors.add_argument("--release", action="append", default=[], metavar="RELEASE", help=helps)
    add_format(mirrors)
    add_quiet(mirrors)
    mirrors.set_defaults(command=_mirrors)


def _add_log(words: Commands) -> None:
    log = add_command(words, "log", "is there a run of the model that explains the log of a real system?", LOG, LOG_EXAMPLES)
    add = log.add_argument
    add("protocol", metavar="PROTOCOL", help="the protocol to explain the log with")
    add("file", type=Path, metavar="FILE", help="the log: a JSON object on each line")
    add("--mapping", type=Path, metavar="FILE", help="what the lines mean, if they are not in the protocol's own words")
    add_set(log)
    add_bug(log)
    add("--out", type=Path, metavar="FILE", help="write the run that explains the log, as far as it goes, as an ITF file")
    helps = "give up when more than N states are possible at once (default: 20,000,000)"
    add("--limit", type=whole(1), default=20_000_000, metavar="N", help=helps)
    add_format(log)
    add_quiet(log)
    log.set_defaults(command=_log)


def _add_policy(words: Commands) -> None:
    policy = add_command(words, "policy", "do the rules of load balancing answer what the classes do?", POLICY, POLICY_EXAMPLES)
    add = policy.add_argument
    add("--release", metavar="RELEASE", help="of Pulsar: 2.10.1, 4.0.8, 4.2.4 (the default) or 5.0.0-M1")
    add("--cases", type=whole(1), default=5000, metavar="N", help="number of cases over all rules (default: 5000)")
    add("--rule", action="append", metavar="NAME", help="only this rule; may be given several times (default: all)")
    add_seed(policy, "the cases")
    add("--out", type=Path, metavar="DIR", help="write what differs there, as snapshots and configurations")
    add_format(policy)
    add_quiet(policy)
    policy.set_defaults(command=_policy)


def _add_resolver(words: Commands) -> None:
    helps = "does the conflict resolver of service units decide as the class does?"
    resolver = add_command(words, "resolver", helps, RESOLVER, RESOLVER_EXAMPLES)
    add = resolver.add_argument
    add("--release", default="4.2.4", metavar="RELEASE", help="of Pulsar: 4.0.8, 4.2.4 (the default) or 5.0.0-M1")
    add("--cases", type=whole(1), default=100_000, metavar="N", help="random pairs over each store (default: 100000)")
    add_seed(resolver, "the pairs")
    add_bug(resolver)
    add_format(resolver)
    add_quiet(resolver)
    resolver.set_defaults(command=_resolver)


def _add_bugs(words: Commands) -> None:
    bugs = add_command(words, "bugs", "which known bugs happen on the real code?", BUGS)
    bugs.add_argument("targets", nargs="*", metavar="TARGET", help="the targets (default: all)")
    bugs.add_argument("--out", type=Path, metavar="FILE", help="also write the result there as JSON")
    bugs.add_argument("--record", action="store_true", help="also write each into the rows beside the bugs (in a checkout)")
    add_format(bugs)
    add_quiet(bugs)
    bugs.set_defaults(command=_bugs)


def _conform(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.conform.run import run

    return run(request_of(TargetRequest, options))


def _mirrors(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.conform.mirrors import run

    return run(request_of(MirrorsRequest, options))


def _policy(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.conform.policy import run

    return run(request_of(PolicyRequest, options))


def _resolver(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.conform.resolver import run

    return run(request_of(ResolverRequest, options))


def _log(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.conform.log import run

    return run(request_of(LogRequest, options))


def _bugs(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.conform.bugs import run

    return run(request_of(BugsRequest, options))
