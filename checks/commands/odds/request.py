"""What ``fencepost odds`` is asked, and what its help teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.extras import ODDS, SPARK, require
from fencepost.checks.console.options import Format, Quiet, Workers, conf, number, seed, settings
from fencepost.checks.console.requests import Argument, Option, local_or_url

if TYPE_CHECKING:
    from fencepost.checks.engines.results.verdicts import ExitStatus

HELP = """Computes how often an acknowledged message is lost: in each way that is known, from the protocols that check searches,
with how long steps take and how often faults happen.

There are three kinds of rows. A frequency has more than the model behind it: a count on real code, or the textbook. What cannot
matter happens less than once in a million years, even at the upper end of its interval. The others are not decided by rates:
they have an upper end, and the number to measure. Nine tenths of an answer are within its interval, if each number is within
its factor. Numbers that nobody has published are called guesses.

--numbers is a TOML file with the measurements of a cluster in a table [odds]. measure writes such a table from metrics."""

EXAMPLES = """examples:
  fencepost odds                              every way, for 100 topics on 10 bookies
  fencepost odds disks                        one way
  fencepost odds topic --topics 400           those of one protocol
  fencepost odds --conf broker.conf --numbers odds.toml
                                              with the settings and the measurements of a cluster
  fencepost odds disks --draws 300            an interval from draws of the numbers
  fencepost odds terminated_reopened --walks 1000000
                                              the same from weighted walks
  fencepost odds disks --prism chains         also a CTMC, to ask PRISM or Storm
  fencepost odds numbers                      the numbers, with their units and sources
  fencepost odds measure --metrics bookie.prom --metrics broker.prom
                                              numbers from what Prometheus scrapes
  fencepost odds measure --tables tables      numbers from weeks of it"""


@dataclass(frozen=True, kw_only=True)
class OddsRequest:
    """The ways by ``names``, or all of a protocol, or all; ``set`` changes the instance of one.

    ``conf`` and ``numbers`` have an operator's settings and measurements; ``topics`` and ``bookies`` are how many. ``draws`` is
    how many draws of the numbers make an interval, ``walks`` how many weighted walks there are besides, on the Spark of
    ``master`` if one is named, which keeps their sums in ``out``. ``prism`` is where chains are written. With ``metrics``, and
    the name ``measure``, numbers are read from there instead.
    """

    names: Annotated[
        Sequence[str],
        Argument("ways, by the names of their bugs, or a protocol (default: all); or numbers, or measure", "NAME"),
    ] = ()
    set: Annotated[Sequence[str], settings("parameters of the instance, if one way is named")] = ()
    conf: Annotated[Sequence[Path], conf("a broker.conf, whose durations replace the published ones")] = ()
    numbers: Annotated[
        Path | None, Option("a TOML file with the numbers of a cluster in a table [odds]", "FILE", once=True)
    ] = None
    topics: Annotated[int | None, number("how many topics (default: 100)")] = None
    bookies: Annotated[int | None, number("how many bookies (default: 10)", 2)] = None
    draws: Annotated[
        int, number("draw the numbers N times, each within its factor, for the interval (0: by the effect of each)", 20)
    ] = 0
    walks: Annotated[
        int,
        number("also estimate by N weighted walks, which need no graph: for --set of an instance that is too large for one"),
    ] = 0
    seed: Annotated[int, seed("the draws and the walks")] = 0
    master: Annotated[
        str | None, Option("make the walks, and solve the draws, on this Spark, such as local[*]", "URL", once=True)
    ] = None
    out: Annotated[
        str | None,
        Option("with --master: keep the sums of the walks there as Parquet, to add more", "DIR", once=True, writes="folder"),
    ] = None
    prism: Annotated[
        Path | None,
        Option(
            "also write the chain of each way into this folder, in PRISM's language, which Storm reads",
            "DIR",
            once=True,
            writes="folder",
        ),
    ] = None
    metrics: Annotated[
        Sequence[Path],
        Option("with measure: a file in the format that Prometheus scrapes; may be given several times", "FILE"),
    ] = ()
    tables: Annotated[
        Path | str | None,
        Option("with measure: the tables of fencepost ingest, which may have weeks of metrics", "DIR", local_or_url),
    ] = None
    cluster_name: Annotated[str | None, Option("with --tables: only this cluster", "NAME")] = None
    format: Format = "text"
    workers: Workers = None
    quiet: Quiet = False


COMMAND = Command(OddsRequest, "odds.request:answer", HELP, EXAMPLES)


def answer(asked: OddsRequest) -> ExitStatus:
    """Answers, with the packages that it needs. Raises ExtraError without them."""
    require(ODDS, "odds")
    if asked.master is not None or asked.tables is not None:
        require(SPARK, "odds --master" if asked.tables is None else "odds measure --tables")
    from fencepost.checks.commands.odds.run import run

    return run(asked)
