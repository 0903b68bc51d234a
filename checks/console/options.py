"""The options that several commands have, each declared once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from fencepost.checks.console.numbers import hours, positive, whole
from fencepost.checks.console.requests import Option, local_path
from fencepost.model.releases import USUAL_KAFKA, Releases

Strategy: TypeAlias = Literal["uniform", "swarm", "held"]

UNNAMED = Path()
"""A page or a file that is asked for without a name."""


def page_name(text: str) -> Path:
    """The name of a page: it ends in .html, so that a forgotten name is not the next argument."""
    if not text.endswith((".html", ".htm")):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a page, which ends in .html")
    return local_path(text)


def conf(helps: str) -> Option:
    """Files of settings."""
    return Option(f"{helps}; later files override earlier ones", "FILE")


def size(usual: str = "ci") -> Option:
    """Which instances."""
    return Option(f"which instances (default: {usual})", choices=("ci", "standard", "deep"))


def seed(of: str) -> Option:
    """Where what is random begins."""
    return Option(f"seed for {of}", "S", whole(0))


def settings(helps: str = "parameters of the instance") -> Option:
    """``--set``."""
    return Option(helps, "NAME=VALUE", several=True)


def memory(of: str) -> Option:
    """A limit in GiB."""
    return Option(f"memory of {of}", "GIB", positive)


def page(helps: str) -> Option:
    """A page, with its name or without."""
    return Option(helps, "PAGE", page_name, unnamed=UNNAMED, writes="file")


def traces(helps: str) -> Option:
    """The folder for traces: ``--out``, as everywhere, and by its longer name."""
    return Option(helps, "DIR", names=("--out", "--trace-dir"), writes="folder")


def lasting(helps: str) -> Option:
    """A time in hours."""
    return Option(helps, "H", hours)


def number(helps: str, least: int = 1, *, once: bool = False) -> Option:
    """A whole number."""
    return Option(helps, "N", whole(least), once=once)


Bugs: TypeAlias = Annotated[
    Sequence[str], Option("switch a known bug on; may be given several times", "NAME", hidden=("--defect",))
]
Sizes: TypeAlias = Annotated[str | None, size()]
Set: TypeAlias = Annotated[Sequence[str], settings()]
Workers: TypeAlias = Annotated[int | None, number("threads or processes (default: one for each core)")]
Format: TypeAlias = Annotated[str, Option("how to print the answer", choices=("text", "json"))]
Quiet: TypeAlias = Annotated[bool, Option("no progress on standard error")]
Steps: TypeAlias = Annotated[int, number("maximum steps of a walk")]
Strategies: TypeAlias = Annotated[
    Strategy,
    Option(
        "uniform: choose uniformly among enabled actions; swarm: the same, with a random subset of actions left out of "
        "each walk; held: every other walk keeps a random order of priority for some steps",
    ),
]
Budget: TypeAlias = Annotated[
    float | None,
    Option(
        "time for the whole run; what is not settled by then is inconclusive (default: no limit)",
        "SECONDS",
        positive,
        names=("--budget", "--time-limit"),
    ),
]
RulesOf: TypeAlias = Annotated[
    str | None,
    Option(
        "the release whose rules and defaults apply (default: the newest; 2.10 and current are understood)",
        "RELEASE",
        once=True,
    ),
]


Jars: TypeAlias = Annotated[Path | None, Option("your own jars, each in the place of the release's of that artifact", "DIR")]
Classes: TypeAlias = Annotated[
    Sequence[Path],
    Option("your own classes, before all jars; the folder above the packages; may be given several times", "DIR"),
]


@dataclass(frozen=True, kw_only=True)
class NamedReleases:
    """The releases of Pulsar, BookKeeper and Kafka that are meant, each if it is named."""

    pulsar: Annotated[str | None, Option("behave as this release of Pulsar", "RELEASE", once=True)] = None
    bookkeeper: Annotated[
        str | None, Option("the release of the bookies (default: the BookKeeper that this Pulsar ships)", "RELEASE", once=True)
    ] = None
    bookkeeper_client: Annotated[
        str | None,
        Option(
            "the release of the brokers' BookKeeper client (default: what a --pulsar ships, else that of the bookies)",
            "RELEASE",
            once=True,
        ),
    ] = None
    kafka: Annotated[
        str | None,
        Option(
            f"the release of Kafka whose controller is meant (default: none; its protocol is that of {USUAL_KAFKA})",
            "RELEASE",
            once=True,
        ),
    ] = None


def chosen_releases(asked: NamedReleases) -> Releases | None:
    """The releases that are named; None if none is named, ReleaseError if one is not modelled."""
    named = (asked.pulsar, asked.bookkeeper, asked.kafka, asked.bookkeeper_client)
    return None if named == (None,) * len(named) else Releases.of(*named)
