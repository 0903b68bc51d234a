"""The arguments of ``fencepost policy compare`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.policy.request import CompareRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.extras import PARQUET, PLOTS, SPARK, require
from fencepost.checks.console.numbers import share, whole
from fencepost.checks.console.options import (
    Commands,
    add_command,
    add_format,
    add_hours,
    add_pulsar,
    add_quiet,
    add_seed,
    page_name,
)
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.world import add_world

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

The exit status is 12 if a measure gets worse by more than the tolerance, 20 if more runs are needed to decide, else 0."""

EXAMPLES = """examples:
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
  fencepost policy compare --conf proposed.conf --scenario rolling-restart --runs 1000 --hours 6 --out found \\
      --master spark://host:7077 --html found.html
                               a thousand paired runs on a cluster, and a page to share"""


def add_compare(questions: Commands) -> None:
    """Adds the question."""
    parser = add_command(questions, "compare", "what a proposed policy makes better and worse", COMPARE, EXAMPLES)
    add = parser.add_argument
    add("--against", metavar="POLICY", help="the present policy (default: what Pulsar does without a configuration)")
    add("--conf", metavar="POLICY", action="append", required=True, help="a proposed policy; may be given several times")
    add_pulsar(parser)
    add("--out", type=Path, required=True, metavar="DIR", help="keep the runs there; the same command resumes them")
    add("--runs", type=whole(1), default=100, metavar="N", help="number of runs under each policy (default: 100)")
    add_hours(parser, 6.0, "how long each run is")
    add_seed(parser, "all runs")
    add(
        "--tolerance",
        action="append",
        default=[],
        metavar="AMOUNT|MEASURE=AMOUNT",
        help="how much worse a measure may get: 10%% of the baseline's mean, or 3 in its unit (default: 5%%)",
    )
    add("--confidence", type=share, default=0.95, metavar="P", help="joint confidence of all intervals (default: 0.95)")
    add("--strict", action="store_true", help="exit with 20 while a measure may still be worse than the tolerance")
    add("--master", metavar="URL", help="make the runs on Spark, such as spark://host:7077 (default: on this machine)")
    add("--html", type=page_name, metavar="PAGE", help="write the answer as a page, with plots")
    add_format(parser)
    add_quiet(parser)
    add_world(parser)
    parser.set_defaults(command=_compare)


def _compare(asked: argparse.Namespace) -> ExitStatus:
    require(PARQUET, "policy compare")
    if asked.master is not None:
        require(SPARK, "policy compare --master")
    if asked.html is not None:
        require(PLOTS, "policy compare --html")
    from fencepost.checks.commands.policy.compare.run import compare_policies

    return compare_policies(request_of(CompareRequest, asked))
