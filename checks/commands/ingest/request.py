"""What ``fencepost ingest`` is asked, and what its help teaches."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

from fencepost.checks.commands.tree import EXIT_STATUS, Command
from fencepost.checks.console.extras import SPARK, require
from fencepost.checks.console.options import Quiet
from fencepost.checks.console.requests import Argument, Option, local_or_url

if TYPE_CHECKING:
    from fencepost.checks.engines.results.verdicts import ExitStatus

INGEST = """Reads a cluster's files into tables, on Spark: snapshots (fencepost policy snapshot), load reports and dumps of the
metadata store, answers of Prometheus to query_range, what promtool tsdb dump-openmetrics prints, logs of Pulsar and BookKeeper,
folders of fencepost check --cluster --save.

A file whose name ends in .json is a document; every other one has lines, also of JSON. What cannot be read goes to the table
quarantine, with file, line and reason, and is counted. A second run over the same files adds nothing, and a file that grew is
taken up where it was left. Sources and tables may be at any URL that Spark reaches, such as s3a://bucket/logs."""

EXAMPLES = """examples:
  fencepost ingest snapshots/ brokers/*.log prometheus.json --out tables
  fencepost ingest s3a://bucket/logs --out s3a://bucket/tables --master spark://host:7077 --cluster-name prod
  fencepost ingest old.log --zone Europe/Berlin --out tables       times without a zone are those of Berlin
  fencepost policy compare --history tables --conf proposed.conf --against broker.conf --out found
                               whether a policy would have done better"""


def zone(text: str) -> str:
    """A time zone by its name."""
    try:
        ZoneInfo(text)
    except (ValueError, KeyError, OSError):
        raise argparse.ArgumentTypeError(f"there is no time zone {text!r}; write such as UTC or Europe/Berlin") from None
    return text


def cluster(text: str) -> str:
    """The name of a cluster."""
    if not text or any(letter in text for letter in "/'\\"):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a cluster")
    return text


@dataclass(frozen=True, kw_only=True)
class IngestRequest:
    """The files, folders or URLs to read, the folder of the tables, and how what they leave unsaid is to be taken."""

    sources: Annotated[Sequence[str], Argument("files, folders or URLs", "SOURCE")]
    out: Annotated[Path | str, Option("the folder of the tables, or a URL", "DIR", local_or_url, writes="folder")]
    cluster_name: Annotated[str, Option("the cluster of what does not say its own, as metrics do", "NAME", cluster)] = "cluster"
    zone: Annotated[str, Option("the time zone of times that name none", "ZONE", zone)] = "UTC"
    master: Annotated[str, Option("Spark's master", "URL")] = "local[*]"
    spark_conf: Annotated[Sequence[str], Option("a setting of Spark; may be repeated", "NAME=VALUE")] = ()
    quiet: Quiet = False


COMMAND = Command(IngestRequest, "ingest.request:answer", INGEST, f"{EXAMPLES}\n\n{EXIT_STATUS}")


def answer(asked: IngestRequest) -> ExitStatus:
    """Answers, with the packages that it needs. Raises ExtraError without them."""
    require(SPARK, "ingest")
    from fencepost.checks.commands.ingest.run import run

    return run(asked)
