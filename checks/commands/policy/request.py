"""What each question of ``fencepost policy`` is asked, and what its help teaches."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from fencepost.checks.commands.tree import Command, Entry, Group
from fencepost.checks.console.extras import PARQUET, PLOTS, SPARK, require
from fencepost.checks.console.numbers import moment, positive, share, window, written_hash
from fencepost.checks.console.options import Format, Quiet, RulesOf, conf, lasting, number, page_name, seed, settings
from fencepost.checks.console.requests import Option, local_or_url
from fencepost.checks.policy.world import WorldRequest

if TYPE_CHECKING:
    from fencepost.checks.engines.results.verdicts import ExitStatus

HISTORY = "the history of a cluster"

POLICY = """Shows what Pulsar's load balancing would do with your data, by the rules of the brokers themselves.

A snapshot is a JSON file with the load reports and the bundle data as Pulsar stores them, under /loadbalance/brokers and
/loadbalance/bundle-data. The configuration is a broker.conf; settings that it leaves out have Pulsar's defaults."""

EXAMPLES = """examples:
  fencepost policy snapshot --admin http://broker-1:8080 --admin http://broker-2:8080 --out now.json
                               the load of a running cluster, for the questions below
  fencepost policy decide --conf broker.conf --snapshot now.json
                               which bundles would be unloaded, where they may go, what would be split, and why
  fencepost policy decide --conf broker.conf --snapshot now.json --shedder UniformLoadShedder
                               the same with another shedder
  fencepost policy decide --conf broker.conf --snapshot 1.json --snapshot 2.json --snapshot 3.json
                               three rounds of one policy, whose averages and counters carry over
  fencepost policy decide --snapshot now.json --shedder my_policy.py:shed
                               what a shedder of your own would do
  fencepost policy check --conf broker.conf
                               whether the shedder keeps its rules, with these thresholds, on random loads
  fencepost policy simulate --conf broker.conf --snapshot now.json --scenario rolling-restart --hours 3
                               what the policy does to the cluster while all brokers are restarted
  fencepost policy compare --conf proposed.conf --against broker.conf --snapshot now.json --out found
                               what a change makes better and worse over hours, how certain that is, and in which run
  fencepost policy place --conf broker.conf --snapshot now.json --bundle public/default/0x00000000_0x40000000
                               which brokers may get a bundle, and which filter drops which
  fencepost policy split --algorithm topic_count_equally_divide --bundle 0x00000000_0x40000000 --topics topics.json
                               where a bundle would be cut
  fencepost policy bundle --boundaries 0x00000000,0x80000000,0xffffffff --topic persistent://public/default/orders
                               the bundle of a topic"""

DECIDE = """Prints what the leader would do now: the bundles that leave each broker, in order; the brokers
that may get each (all candidates, where Pulsar draws at random); the splits with their boundaries; the reasons.

Several snapshots are consecutive rounds of one policy; averages and hit counters carry over. --change changes a setting from
a round on, as a dynamic configuration does. --only-shedder asks the shedder even where its load manager would not: with one
broker, or with shedding switched off."""

CHECK = """Asks the shedder, with the thresholds of a configuration, about small random clusters, and checks every answer
against its rules. A broker may shed only if it is overloaded by the shedder's own definition, only bundles that it owns, never
its only one, none within the grace period, no more than required, and so on. Each broken rule is shown with the smallest load
found.

Known bugs of Pulsar's own shedders are reported as expected. The exit status is 12 if anything else breaks a rule, and 20 if
nothing was ever unloaded."""


SIMULATE = """Simulates a cluster for hours: topics with rates, brokers that measure and report, a leader that places, sheds and
splits by the policy, crashes and restarts. It prints the measures of the run, the actions and their reasons, and replays every
action through the protocols ownership, unload and split.

The same arguments give the same output. The cluster refuses actions that rest on outdated reports; they are counted and change
nothing. The exit status is 12 if an action breaks the protocols."""

COMPARE = """Simulates the same runs under the present policy and under proposed ones. For every measure it reports whether it
gets better or worse, by how much, how certain that is, and in which run it is worst.

A policy is a list of parts, separated by commas: a broker.conf, a setting as KEY=VALUE, the name of a shedder or placement
strategy, a function of your own as FILE.py:FUNCTION. A proposed policy without a broker.conf is the baseline with these
changes. NAME= before its parts names the policy.

Other parts change the cluster; in the baseline they apply to all policies:
  add-brokers=2                two brokers join after the first minute
  remove-broker=NAME           a broker stops after the first minute, for good
  bigger-brokers=2[@NAME]      all brokers, or one, have twice the capacity
  load=2[@NAME]                all topics carry twice the load, or those of a namespace or bundle, or a topic by its full name
  split-first=3|BUNDLE         the three bundles with the most messages are split first, or one by its name

--history takes the world from the tables of fencepost ingest instead: each run begins with the brokers, the bundles and the
rates of a window. What the cluster did in it stands beside, and how far the simulation of the present policy departs from it.

The exit status is 12 if a measure gets worse by more than the tolerance, 20 if more runs are needed to decide, else 0."""

COMPARE_EXAMPLES = """examples:
  fencepost policy compare --against broker.conf --conf proposed.conf --snapshot now.json --out found
                               two configurations, from a snapshot of the cluster
  fencepost policy compare --against broker.conf --conf AvgShedder --conf UniformLoadShedder --out found
                               other shedders with the same settings, on a generated cluster
  fencepost policy compare --against UniformLoadShedder --conf maxUnloadPercentage=0.1 \\
      --conf maxUnloadPercentage=0.4 --out found
                               one setting, two values
  fencepost policy compare --conf mine=my_policy.py:shed,my_policy.py:place --out found
                               a shedder and a placement strategy of your own
  fencepost policy compare --against broker.conf --snapshot now.json --conf two-more=add-brokers=2 \\
      --conf bigger=bigger-brokers=1.5 --conf busy=load=2@public/default --out found
                               the same policy with two more brokers, with bigger ones, and with twice the load in a namespace
  fencepost policy compare --against broker.conf --conf proposed.conf --history tables --window 6h --out found
                               each stretch of six hours of the real load, beside what the cluster did
  fencepost policy compare --conf proposed.conf --scenario rolling-restart --runs 1000 --hours 6 --out found \\
      --master spark://host:7077 --html found.html
                               a thousand paired runs on a cluster, and a page to share"""

SNAPSHOT = """Reads the load of a running cluster and writes it as a snapshot, for the other questions.

It only sends GET requests to Pulsar's Admin REST interface at the given addresses. A broker reports only its own load, so give
the address of each, or one address behind which all of them answer in turn. --load-report and --metadata read the output of
pulsar-admin broker-stats load-report and a dump of the metadata store, instead of an address or besides.

--metrics needs no token. It reads what Prometheus scrapes: the /metrics of each broker, or the /federate of Prometheus itself.
The brokers need exposeBundlesMetricsInPrometheus=true, and the modular load manager.

The token is read from a file and sent to the given addresses only. It never appears in the output."""

SNAPSHOT_EXAMPLES = """examples:
  fencepost policy snapshot --admin http://broker-1:8080 --admin http://broker-2:8080 --out now.json
                               two brokers
  fencepost policy snapshot --admin https://pulsar.example.org:8443 --token-file token --out now.json
                               one address behind which all brokers answer
  pulsar-admin broker-stats load-report > b1.json; fencepost policy snapshot --load-report b1.json --out now.json
                               without a request
  curl -Ls http://broker-1:8080/metrics > b1.txt; fencepost policy snapshot --metrics b1.txt --out now.json
                               what Prometheus scrapes of a broker"""


def _hash(text: str) -> int:
    try:
        value = written_hash(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 0xFFFFFFFF:
        raise argparse.ArgumentTypeError(f"{text!r} is not a hash from 0x00000000 to 0xffffffff")
    return value


def _hashes(text: str) -> list[int]:
    return [_hash(part.strip()) for part in text.split(",")]


Shedder: TypeAlias = Annotated[str | None, Option("another shedder, such as OverloadShedder or my_policy.py:shed", "NAME")]
Placement: TypeAlias = Annotated[str | None, Option("another placement strategy, such as my_policy.py:place", "NAME")]
Snapshots: TypeAlias = Annotated[Sequence[Path], Option("the cluster's load, as JSON; several are consecutive rounds", "FILE")]


@dataclass(frozen=True, kw_only=True)
class ConfiguredRequest:
    """The configuration and the release whose rules are followed, and the format of the answer."""

    format: Format = "text"
    conf: Annotated[
        Sequence[Path],
        conf("a broker.conf, an environment file, Helm values or a ConfigMap (default: what Pulsar has without one)"),
    ] = ()
    pulsar: RulesOf = None


@dataclass(frozen=True, kw_only=True)
class DecideRequest(ConfiguredRequest):
    """What is done with the load of each of these snapshots, with which changes of the settings."""

    snapshot: Snapshots
    shedder: Shedder = None
    placement: Placement = None
    change: Annotated[
        Sequence[str], Option("change a setting from a round on; may be given several times", "ROUND:KEY=VALUE")
    ] = ()
    only_shedder: Annotated[
        bool, Option("what the shedder itself answers, even if its load manager would not ask it, as with one broker")
    ] = False


@dataclass(frozen=True, kw_only=True)
class CheckShedderRequest(ConfiguredRequest):
    """On how many random loads a shedder is checked, and where those that break a rule are written."""

    shedder: Shedder = None
    loads: Annotated[int, number("how many loads")] = 500
    seed: Annotated[int, seed("the loads")] = 0
    out: Annotated[Path | None, Option("write the loads that break a property there", "DIR", writes="folder")] = None
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class SimulateRequest(ConfiguredRequest, WorldRequest):
    """Which policy is simulated, how long, and where the run is written."""

    set: Annotated[Sequence[str], settings("settings that override the configured ones")] = ()
    shedder: Shedder = None
    placement: Placement = None
    hours: Annotated[float, lasting("how long")] = 1.0
    seed: Annotated[int, seed("everything that is random")] = 0
    actions: Annotated[int, number("how many actions are shown")] = 20
    out: Annotated[Path | None, Option("write run.json, usage.csv and actions.csv there", "DIR", writes="folder")] = None
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class PlaceRequest(ConfiguredRequest):
    """Where a bundle may go."""

    snapshot: Snapshots
    bundle: Annotated[str, Option("such as public/default/0x00000000_0x40000000", "NAME")]
    non_persistent: Annotated[bool, Option("look up for a non-persistent topic")] = False
    placement: Placement = None


@dataclass(frozen=True, kw_only=True)
class SplitRequest(ConfiguredRequest):
    """Where a bundle would be cut, by which algorithm, with which topics or at which positions."""

    algorithm: Annotated[str | None, Option("the split algorithm (default: the configured one)", "NAME")] = None
    bundle: Annotated[str, Option("such as 0x00000000_0x40000000", "LOWER_UPPER")]
    topics: Annotated[Path | None, Option('a JSON list of topics, {"name" or "hash", "msgRateIn", ...}', "FILE")] = None
    positions: Annotated[
        Sequence[int], Option("where specified_positions_divide should cut", "HASH,...", _hashes, listed=True)
    ] = ()
    force: Annotated[bool, Option("cut at the positions however few topics there are")] = False


@dataclass(frozen=True, kw_only=True)
class BundleRequest:
    """Which bundle of a layout a topic or a hash is in."""

    format: Format = "text"
    boundaries: Annotated[
        Sequence[int],
        Option("the layout: every boundary, including the first and the last", "HASH,...", _hashes, listed=True),
    ]
    topic: Annotated[
        str | None,
        Option("the full name, such as persistent://public/default/orders-partition-0", "NAME", either="topic"),
    ] = None
    hash: Annotated[int | None, Option("the hash itself, such as 0x7fffffff", "HASH", _hash, either="topic")] = None
    upstream_lookup: Annotated[bool, Option("look up as Pulsar does, which finds no bundle for hash 0xffffffff")] = False


@dataclass(frozen=True, kw_only=True)
class CompareRequest(WorldRequest):
    """Which policies are compared, in how many runs, by which tolerances, and where the runs and the page are written."""

    against: Annotated[
        str | None, Option("the present policy (default: what Pulsar does without a configuration)", "POLICY")
    ] = None
    conf: Annotated[Sequence[str], Option("a proposed policy; may be given several times", "POLICY")]
    pulsar: RulesOf = None
    out: Annotated[Path, Option("keep the runs there; the same command resumes them", "DIR", writes="folder")]
    history: Annotated[
        Path | str | None,
        Option(
            "each run is a window of the load in these tables, which fencepost ingest writes",
            "TABLES",
            local_or_url,
            group=HISTORY,
        ),
    ] = None
    window: Annotated[float, Option("how long a window is, such as 6h (the default) or 30m", "TIME", window, group=HISTORY)] = (
        6.0
    )
    begin: Annotated[
        int | None, Option("only windows that begin then or later, in UTC", "TIME", moment, names=("--from",), group=HISTORY)
    ] = None
    end: Annotated[int | None, Option("only windows before then", "TIME", moment, names=("--to",), group=HISTORY)] = None
    cluster_name: Annotated[str | None, Option("the cluster, if the tables have several", "NAME", group=HISTORY)] = None
    spark_conf: Annotated[Sequence[str], Option("a setting of Spark; may be repeated", "NAME=VALUE", group=HISTORY)] = ()
    runs: Annotated[int, number("number of runs under each policy")] = 100
    hours: Annotated[float, lasting("how long each run is")] = 6.0
    seed: Annotated[int, seed("all runs")] = 0
    tolerance: Annotated[
        Sequence[str],
        Option(
            "how much worse a measure may get: 10%% of the baseline's mean, or 3 in its unit (default: 5%%)",
            "AMOUNT|MEASURE=AMOUNT",
        ),
    ] = ()
    confidence: Annotated[float, Option("joint confidence of all intervals", "P", share)] = 0.95
    strict: Annotated[bool, Option("exit with 20 while a measure may still be worse than the tolerance")] = False
    master: Annotated[
        str | None, Option("make the runs on Spark, such as spark://host:7077 (default: on this machine)", "URL")
    ] = None
    html: Annotated[Path | None, Option("write the answer as a page, with plots", "PAGE", page_name, writes="file")] = None
    format: Format = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class SnapshotRequest:
    """From where the load of a cluster is read, and the file to write it to."""

    admin: Annotated[Sequence[str], Option("a broker's web address; may be given several times", "URL")] = ()
    token_file: Annotated[Path | None, Option("a file with the token of a superuser", "FILE", once=True)] = None
    timeout: Annotated[float, Option("how long a request may take", "SECONDS", positive)] = 10.0
    cluster_name: Annotated[str | None, Option("the name of the cluster (default: as its brokers report it)", "NAME")] = None
    load_report: Annotated[Sequence[Path], Option("what pulsar-admin prints of one broker", "FILE")] = ()
    metrics: Annotated[Sequence[Path], Option("what Prometheus scrapes of the brokers", "FILE")] = ()
    metadata: Annotated[
        Path | None, Option("a dump of the metadata store: JSON, the value of each path", "FILE", once=True)
    ] = None
    partial: Annotated[bool, Option("accept brokers without a report")] = False
    out: Annotated[Path, Option("the snapshot to write", "FILE", writes="file")]
    quiet: Quiet = False


PLACE = "Prints which brokers each filter leaves for a bundle that nobody owns, and the candidates that remain."
SPLIT = "Prints the boundaries at which a split algorithm cuts a bundle, or why it does not."
BUNDLE = "Prints the hash of a topic and the bundle in which it is looked up."

SNAPSHOT_COMMAND = Command(SnapshotRequest, "policy.snapshot:take", SNAPSHOT, SNAPSHOT_EXAMPLES)
DECIDE_COMMAND = Command(DecideRequest, "policy.questions:decide", DECIDE)
CHECK_COMMAND = Command(CheckShedderRequest, "policy.questions:check", CHECK)
SIMULATE_COMMAND = Command(SimulateRequest, "policy.simulate:run", SIMULATE)
COMPARE_COMMAND = Command(CompareRequest, "policy.request:compare", COMPARE, COMPARE_EXAMPLES)
PLACE_COMMAND = Command(PlaceRequest, "policy.questions:place", PLACE)
SPLIT_COMMAND = Command(SplitRequest, "policy.questions:split", SPLIT)
BUNDLE_COMMAND = Command(BundleRequest, "policy.questions:bundle", BUNDLE)

COMMAND = Group(
    POLICY,
    {
        "questions": {
            "snapshot": Entry("policy.request:SNAPSHOT_COMMAND", "the load of a running cluster, as a file"),
            "decide": Entry("policy.request:DECIDE_COMMAND", "what would be unloaded and split now, and why"),
            "check": Entry("policy.request:CHECK_COMMAND", "whether a shedder keeps its rules on random loads"),
            "simulate": Entry("policy.request:SIMULATE_COMMAND", "what a policy does to a cluster over hours"),
            "compare": Entry("policy.request:COMPARE_COMMAND", "what a proposed policy makes better and worse"),
            "place": Entry("policy.request:PLACE_COMMAND", "which brokers may get a bundle"),
            "split": Entry("policy.request:SPLIT_COMMAND", "where a bundle would be cut"),
            "bundle": Entry("policy.request:BUNDLE_COMMAND", "the bundle of a topic"),
        }
    },
    EXAMPLES,
    metavar="QUESTION",
)


def compare(asked: CompareRequest) -> ExitStatus:
    """Compares, with the packages that it needs. Raises ExtraError without them."""
    require(PARQUET, "policy compare")
    if asked.master is not None or asked.history is not None:
        require(SPARK, "policy compare --master" if asked.history is None else "policy compare --history")
    if asked.html is not None:
        require(PLOTS, "policy compare --html")
    from fencepost.checks.commands.policy.compare import compare_policies

    return compare_policies(asked)
