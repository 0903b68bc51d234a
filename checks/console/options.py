"""What commands have in common on the command line, each declared once: how a command is made, and the options of several."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fencepost.checks.console.numbers import hours, positive, whole
from fencepost.model.releases import USUAL_KAFKA, Releases

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_command(
    commands: Commands, name: str, helps: str, description: str, epilog: str = "", usage: str | None = None
) -> argparse.ArgumentParser:
    """Adds a command whose help keeps its line breaks; ``helps`` is its line in the list of commands."""
    parser = commands.add_parser(
        name,
        help=helps,
        usage=usage,
        description=description or None,
        epilog=epilog or None,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.register("type", Path, local_path)
    return parser


def local_path(text: str) -> Path:
    """The file or folder of that name; argparse's error for a URL, which would be a folder called like its scheme."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        raise argparse.ArgumentTypeError(f"{text} is a URL: name a file or folder that this machine has mounted")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"the name {text} is not UTF-8: rename it") from None
    return Path(text)


class Once(argparse.Action):
    """Keeps the value of an option that may be given once: of two the first would be lost without a word."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: object, *_: object) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{self.option_strings[0]} is given twice; give it once")
        setattr(namespace, self.dest, values)


def add_conf(to: argparse.ArgumentParser, helps: str) -> None:
    helps += "; later files override earlier ones"
    to.add_argument("--conf", type=Path, action="append", default=[], metavar="FILE", help=helps)


def add_size(to: argparse.ArgumentParser, usual: str = "ci") -> None:
    to.add_argument("--size", choices=("ci", "standard", "deep"), help=f"which instances (default: {usual})")


def add_set(to: argparse.ArgumentParser, helps: str = "parameters of the instance") -> None:
    to.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=helps)


def add_own_build(to: argparse.ArgumentParser, *, taken_for: bool = True) -> None:
    """A build of one's own in the place of a release's jars, and the release that it is ``taken_for`` where a model is."""
    helps = "your own jars, each in the place of the release's of that artifact"
    to.add_argument("--jars", type=Path, metavar="DIR", help=helps)
    helps = "your own classes, before all jars; the folder above the packages; may be given several times"
    to.add_argument("--classes", type=Path, action="append", default=[], metavar="DIR", help=helps)
    if taken_for:
        helps = "the modelled release that the code is taken for (default: --release, or the one that it follows)"
        to.add_argument("--as", dest="like", metavar="RELEASE", help=helps)


def add_bug(to: argparse.ArgumentParser) -> None:
    helps = "switch a known bug on; may be given several times"
    to.add_argument("--bug", action="append", default=[], metavar="NAME", help=helps)
    to.add_argument("--defect", action="append", dest="bug", help=argparse.SUPPRESS)  # as it was spelled before


def add_walks(to: argparse.ArgumentParser, count: int, helps: str) -> None:
    """Random walks: ``count`` is how many there are if nothing else is said."""
    add = to.add_argument
    add("--walks", type=whole(1), default=count, metavar="N", help=f"{helps} (default: {count})")
    add("--steps", type=whole(1), default=100, metavar="N", help="maximum steps of a walk (default: 100)")
    add_seed(to, "the walks")
    add(
        "--strategy",
        choices=("uniform", "swarm", "held"),
        default="held",
        help="uniform: choose uniformly among enabled actions; swarm: the same, with a random subset of actions left out of "
        "each walk; held: every other walk keeps a random order of priority for some steps (default: held)",
    )


def add_seed(to: argparse.ArgumentParser, of: str) -> None:
    to.add_argument("--seed", type=whole(0), default=0, metavar="S", help=f"seed for {of} (default: 0)")


def add_workers(to: argparse.ArgumentParser) -> None:
    to.add_argument("--workers", type=whole(1), metavar="N", help="threads or processes (default: one for each core)")


def add_memory(to: argparse.ArgumentParser, usual: float, of: str) -> None:
    to.add_argument("--memory", type=positive, default=usual, metavar="GIB", help=f"memory of {of} (default: {usual:g})")


def add_format(to: argparse.ArgumentParser, names: Iterable[str] = ("text", "json")) -> None:
    """Text or JSON, or the formats of the command's own table, of which text is one."""
    to.add_argument("--format", choices=tuple(names), default="text", help="how to print the answer (default: text)")


UNNAMED = Path()
"""A page that is asked for without a name."""


def page_name(text: str) -> Path:
    """The name of a page: it ends in .html, so that a forgotten name is not the next argument."""
    if not text.endswith((".html", ".htm")):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a page, which ends in .html")
    return local_path(text)


def add_page(to: argparse.ArgumentParser, helps: str) -> None:
    """A page, with its name or without."""
    to.add_argument("--html", nargs="?", const=UNNAMED, type=page_name, metavar="PAGE", help=helps)


def add_quiet(to: argparse.ArgumentParser) -> None:
    to.add_argument("--quiet", action="store_true", help="no progress on standard error")


def add_pulsar(to: argparse.ArgumentParser) -> None:
    """Adds the release of Pulsar whose rules are followed; the command checks that it is modelled."""
    helps = "the release whose rules and defaults apply (default: the newest; 2.10 and current are understood)"
    to.add_argument("--pulsar", action=Once, metavar="RELEASE", help=helps)


def add_releases(to: argparse.ArgumentParser, helps: str = "behave as this release of Pulsar") -> None:
    """The releases that are meant; ``chosen_releases`` reads them."""
    to.add_argument("--pulsar", action=Once, metavar="RELEASE", help=helps)
    helps = "the release of BookKeeper (default: what that Pulsar ships)"
    to.add_argument("--bookkeeper", action=Once, metavar="RELEASE", help=helps)
    helps = f"the release of Kafka whose controller is meant (default: none; its protocol is that of {USUAL_KAFKA})"
    to.add_argument("--kafka", action=Once, metavar="RELEASE", help=helps)


@dataclass(frozen=True)
class NamedReleases:
    """The releases of Pulsar, BookKeeper and Kafka that ``add_releases`` has on the command line, each if it is named."""

    pulsar: str | None
    bookkeeper: str | None
    kafka: str | None


def chosen_releases(asked: NamedReleases) -> Releases | None:
    """The releases that are named; None if none is named, ReleaseError if one is not modelled."""
    named = (asked.pulsar, asked.bookkeeper, asked.kafka)
    return None if named == (None, None, None) else Releases.of(*named)


def add_budget(to: argparse.ArgumentParser) -> None:
    helps = "time for the whole run; what is not settled by then is inconclusive (default: no limit)"
    to.add_argument("--budget", "--time-limit", type=positive, metavar="SECONDS", help=helps)


def add_traces(to: argparse.ArgumentParser, helps: str) -> None:
    """The folder for traces: ``--out``, as everywhere, and by its longer name."""
    to.add_argument("--out", "--trace-dir", dest="trace_dir", type=Path, metavar="DIR", help=helps)


def add_hours(to: argparse.ArgumentParser, usual: float, helps: str) -> None:
    to.add_argument("--hours", type=hours, default=usual, metavar="H", help=f"{helps} (default: {usual:g})")
