"""The arguments of ``fencepost policy`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.policy.compare.arguments import add_compare
from fencepost.checks.commands.policy.request import (
    BundleRequest,
    CheckShedderRequest,
    DecideRequest,
    PlaceRequest,
    SimulateRequest,
    SplitRequest,
)
from fencepost.checks.commands.policy.snapshot.arguments import add_snapshot
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.numbers import whole, written_hash
from fencepost.checks.console.options import (
    Commands,
    add_command,
    add_conf,
    add_format,
    add_hours,
    add_pulsar,
    add_quiet,
    add_seed,
    add_set,
)
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.world import add_world

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


def add_policy(commands: Commands) -> None:
    """Adds the command and its questions."""
    policy = add_command(commands, "policy", "what a load-balancing policy would do", POLICY, EXAMPLES)
    questions = policy.add_subparsers(required=True, metavar="QUESTION")
    add_snapshot(questions)
    _add_decide(questions)
    _add_check(questions)
    _add_simulate(questions)
    add_compare(questions)
    _add_place(questions)
    _add_split(questions)
    _add_bundle(questions)


def _question(questions: Commands, name: str, helps: str, description: str) -> argparse.ArgumentParser:
    parser = add_command(questions, name, helps, description)
    add_format(parser)
    return parser


def _add_configuration(parser: argparse.ArgumentParser) -> None:
    add_conf(parser, "a broker.conf, an environment file, Helm values or a ConfigMap (default: what Pulsar has without one)")
    add_pulsar(parser)


def _add_snapshots(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--snapshot",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="the cluster's load, as JSON; several are consecutive rounds",
    )


def _add_shedder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shedder", metavar="NAME", help="another shedder, such as OverloadShedder or my_policy.py:shed")


def _add_placement(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--placement", metavar="NAME", help="another placement strategy, such as my_policy.py:place")


def _add_decide(questions: Commands) -> None:
    parser = _question(questions, "decide", "what would be unloaded and split now, and why", DECIDE)
    _add_configuration(parser)
    _add_snapshots(parser)
    _add_shedder(parser)
    _add_placement(parser)
    helps = "change a setting from a round on; may be given several times"
    parser.add_argument("--change", action="append", default=[], metavar="ROUND:KEY=VALUE", help=helps)
    alone = "what the shedder itself answers, even if its load manager would not ask it, as with one broker"
    parser.add_argument("--only-shedder", action="store_true", help=alone)
    parser.set_defaults(command=_decide)


def _add_check(questions: Commands) -> None:
    parser = _question(questions, "check", "whether a shedder keeps its rules on random loads", CHECK)
    _add_configuration(parser)
    _add_shedder(parser)
    parser.add_argument("--loads", type=whole(1), default=500, metavar="N", help="how many loads (default: 500)")
    add_seed(parser, "the loads")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the loads that break a property there")
    add_quiet(parser)
    parser.set_defaults(command=_check)


def _add_simulate(questions: Commands) -> None:
    parser = _question(questions, "simulate", "what a policy does to a cluster over hours", SIMULATE)
    _add_configuration(parser)
    add_set(parser, "settings that override the configured ones")
    _add_shedder(parser)
    _add_placement(parser)
    add_world(parser)
    add_hours(parser, 1.0, "how long")
    add_seed(parser, "everything that is random")
    parser.add_argument("--actions", type=whole(1), default=20, metavar="N", help="how many actions are shown (default: 20)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write run.json, usage.csv and actions.csv there")
    add_quiet(parser)
    parser.set_defaults(command=_simulate)


def _add_place(questions: Commands) -> None:
    parser = _question(
        questions,
        "place",
        "which brokers may get a bundle",
        "Prints which brokers each filter leaves for a bundle that nobody owns, and the candidates that remain.",
    )
    _add_configuration(parser)
    _add_snapshots(parser)
    parser.add_argument("--bundle", required=True, metavar="NAME", help="such as public/default/0x00000000_0x40000000")
    parser.add_argument("--non-persistent", action="store_true", help="look up for a non-persistent topic")
    _add_placement(parser)
    parser.set_defaults(command=_place)


def _add_split(questions: Commands) -> None:
    parser = _question(
        questions,
        "split",
        "where a bundle would be cut",
        "Prints the boundaries at which a split algorithm cuts a bundle, or why it does not.",
    )
    _add_configuration(parser)
    parser.add_argument("--algorithm", metavar="NAME", help="the split algorithm (default: the configured one)")
    parser.add_argument("--bundle", required=True, metavar="LOWER_UPPER", help="such as 0x00000000_0x40000000")
    parser.add_argument(
        "--topics", type=Path, metavar="FILE", help='a JSON list of topics, {"name" or "hash", "msgRateIn", ...}'
    )
    parser.add_argument(
        "--positions", type=_hashes, default=[], metavar="HASH,...", help="where specified_positions_divide should cut"
    )
    parser.add_argument("--force", action="store_true", help="cut at the positions however few topics there are")
    parser.set_defaults(command=_split)


def _add_bundle(questions: Commands) -> None:
    parser = _question(
        questions,
        "bundle",
        "the bundle of a topic",
        "Prints the hash of a topic and the bundle in which it is looked up.",
    )
    parser.add_argument(
        "--boundaries",
        type=_hashes,
        required=True,
        metavar="HASH,...",
        help="the layout: every boundary, including the first and the last",
    )
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--topic", metavar="NAME", help="the full name, such as persistent://public/default/orders-partition-0")
    asked.add_argument("--hash", type=_hash, metavar="HASH", help="the hash itself, such as 0x7fffffff")
    parser.add_argument(
        "--upstream-lookup", action="store_true", help="look up as Pulsar does, which finds no bundle for hash 0xffffffff"
    )
    parser.set_defaults(command=_bundle)


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


def _simulate(asked: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.policy.simulate import run

    return run(request_of(SimulateRequest, asked))


def _decide(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.policy.questions import decide

    return decide(request_of(DecideRequest, options))


def _check(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.policy.questions import check

    return check(request_of(CheckShedderRequest, options))


def _place(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.policy.questions import place

    return place(request_of(PlaceRequest, options))


def _split(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.policy.questions import split

    return split(request_of(SplitRequest, options))


def _bundle(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.policy.questions import bundle

    return bundle(request_of(BundleRequest, options))
