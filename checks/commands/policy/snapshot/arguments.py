"""The arguments of ``fencepost policy snapshot`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.policy.request import SnapshotRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.numbers import positive
from fencepost.checks.console.options import Commands, Once, add_command, add_quiet
from fencepost.checks.engines.results.verdicts import ExitStatus

SNAPSHOT = """Reads the load of a running cluster and writes it as a snapshot, for the other questions.

It only sends GET requests to Pulsar's Admin REST interface at the given addresses. A broker reports only its own load, so give
the address of each, or one address behind which all of them answer in turn. --load-report and --metadata read the output of
pulsar-admin broker-stats load-report and a dump of the metadata store, instead of an address or besides.

--metrics needs no token. It reads what Prometheus scrapes: the /metrics of each broker, or the /federate of Prometheus itself.
The brokers need exposeBundlesMetricsInPrometheus=true, and the modular load manager.

The token is read from a file and sent to the given addresses only. It never appears in the output."""

EXAMPLES = """examples:
  fencepost policy snapshot --admin http://broker-1:8080 --admin http://broker-2:8080 --out now.json
                               two brokers
  fencepost policy snapshot --admin https://pulsar.example.org:8443 --token-file token --out now.json
                               one address behind which all brokers answer
  pulsar-admin broker-stats load-report > b1.json; fencepost policy snapshot --load-report b1.json --out now.json
                               without a request
  curl -Ls http://broker-1:8080/metrics > b1.txt; fencepost policy snapshot --metrics b1.txt --out now.json
                               what Prometheus scrapes of a broker"""


def add_snapshot(questions: Commands) -> None:
    """Adds the question."""
    parser = add_command(questions, "snapshot", "the load of a running cluster, as a file", SNAPSHOT, EXAMPLES)
    add = parser.add_argument
    add("--admin", action="append", default=[], metavar="URL", help="a broker's web address; may be given several times")
    add("--token-file", type=Path, action=Once, metavar="FILE", help="a file with the token of a superuser")
    add("--timeout", type=positive, default=10.0, metavar="SECONDS", help="how long a request may take (default: 10)")
    add("--cluster", metavar="NAME", help="the name of the cluster (default: as its brokers report it)")
    add("--load-report", type=Path, action="append", default=[], metavar="FILE", help="what pulsar-admin prints of one broker")
    add("--metrics", type=Path, action="append", default=[], metavar="FILE", help="what Prometheus scrapes of the brokers")
    add("--metadata", type=Path, action=Once, metavar="FILE", help="a dump of the metadata store: JSON, the value of each path")
    add("--partial", action="store_true", help="accept brokers without a report")
    add("--out", type=Path, required=True, metavar="FILE", help="the snapshot to write")
    add_quiet(parser)
    parser.set_defaults(command=_take)


def _take(asked: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.policy.snapshot.run import take

    return take(request_of(SnapshotRequest, asked))
