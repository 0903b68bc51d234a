"""What ``fencepost policy`` answers."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from json import dumps

from fencepost.checks.commands.policy.check import check_shedder
from fencepost.checks.commands.policy.request import (
    BundleRequest,
    CheckShedderRequest,
    ConfiguredRequest,
    DecideRequest,
    PlaceRequest,
    SplitRequest,
)
from fencepost.checks.console.printing import in_format
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.settings import Settings, changed, read_settings
from fencepost.checks.policy.snapshot import note_ports, read_snapshot, read_topics
from fencepost.checks.policy.strategies import asking, manager_of
from fencepost.checks.policy.text import placement_text, rounds_text, shortened
from fencepost.checks.policy.usage import WrongUsage
from fencepost.model.balance.configuration import NOT_DYNAMIC, STRATEGIES
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.load_manager import LoadManager, Round
from fencepost.model.balance.selection import Selection
from fencepost.model.balance.splitting import boundaries
from fencepost.model.balance.strategies import strategy_name
from fencepost.model.language.mistakes import guess
from fencepost.model.pulsar.hash_range import ALGORITHMS, FULL, Bundle, HashRange, Layout, Refused, topic_hash
from fencepost.model.pulsar.hash_range.algorithms import POSITIONS, RANGE


def decide(asked: DecideRequest) -> ExitStatus:
    """What would be unloaded, placed and split in each round."""
    manager = _manager(asked, asked.shedder, asked.placement)
    snapshots = [read_snapshot(path) for path in asked.snapshot]
    changes = [_change(text, len(snapshots)) for text in asked.change]
    note_ports(asked.snapshot[-1], snapshots[-1], manager.conf)
    rounds: list[Round] = []
    for number, (file, snapshot) in enumerate(zip(asked.snapshot, snapshots, strict=True), start=1):
        texts = [setting for since, setting in changes if since == number]
        manager = replace(manager, conf=changed(manager.conf, texts, "--change"))
        with asking(file):
            done, manager = manager.asked_alone(snapshot) if asked.only_shedder else manager.next_round(snapshot)
        rounds.append(done)
    _print(
        asked.format,
        text=lambda: shortened(rounds_text(rounds, asked.snapshot, manager), snapshots[-1].load.brokers),
        json=lambda: {"rounds": [_round(done) for done in rounds]},
    )
    return ExitStatus.HOLDS


def check(asked: CheckShedderRequest) -> ExitStatus:
    """Whether the properties of a shedder hold on random loads."""
    manager = _manager(asked, asked.shedder, None)
    return check_shedder(asked, strategy_name(manager.shedder), manager.shedder, manager.conf)


def place(asked: PlaceRequest) -> ExitStatus:
    """Which brokers may get a bundle, after the last of the rounds."""
    manager = _manager(asked, None, asked.placement)
    if "/" not in asked.bundle:
        raise WrongUsage(f"--bundle {asked.bundle}: names no namespace; write such as public/default/0x00000000_0x40000000")
    snapshots = [read_snapshot(path) for path in asked.snapshot]
    note_ports(asked.snapshot[-1], snapshots[-1], manager.conf)
    _may_be_there(asked.bundle, snapshots[-1].load)
    if asked.non_persistent:
        snapshots = [replace(one, load=replace(one.load, non_persistent=(asked.bundle,))) for one in snapshots]
    selection = Selection({}, ())
    for file, snapshot in zip(asked.snapshot, snapshots, strict=True):
        with asking(file):
            selection, manager = manager.placed(asked.bundle, snapshot)
    candidates = {name: list(brokers) for name, brokers in selection.candidates.items()}
    _print(
        asked.format,
        text=lambda: shortened(placement_text(asked.bundle, selection), snapshots[-1].load.brokers),
        json=lambda: {"candidates": candidates, "selected_any_of": list(selection.any_of)},
    )
    return ExitStatus.HOLDS


def split(asked: SplitRequest) -> ExitStatus:
    """Where an algorithm cuts a bundle, or why it does not."""
    conf = _settings(asked).conf
    algorithm = asked.algorithm or conf.defaultNamespaceBundleSplitAlgorithm
    if algorithm not in ALGORITHMS:
        meant = guess(algorithm, ALGORITHMS)
        raise WrongUsage(f"there is no split algorithm {algorithm!r}{meant}; there are {', '.join(ALGORITHMS)}")
    if (algorithm == POSITIONS) != bool(asked.positions):
        raise WrongUsage("--positions and specified_positions_divide go together: give both or neither")
    if asked.topics is None and algorithm != RANGE and not (algorithm == POSITIONS and asked.force):
        raise WrongUsage(f"{algorithm} looks at the topics of the bundle; give them with --topics")
    topics = read_topics(asked.topics) if asked.topics is not None else ()
    bundle = _bundle(asked.bundle)
    try:
        cuts, why = boundaries(algorithm, bundle, topics, conf, asked.positions, force=asked.force)
    except Refused as refusal:
        cuts, why = None, str(refusal)
    _print(
        asked.format,
        text=lambda: f"not split: {why}\n" if cuts is None else _lines(_hex(cuts)),
        json=lambda: {"boundaries": None, "why": why} if cuts is None else {"boundaries": _hex(cuts)},
    )
    return ExitStatus.HOLDS


def bundle(asked: BundleRequest) -> ExitStatus:
    """The hash of a topic and its bundle."""
    hashes = HashRange(bugs=frozenset({"lookup_hits_last_boundary"})) if asked.upstream_lookup else FULL
    layout = _layout(asked.boundaries, hashes)
    if asked.topic == "":
        raise WrongUsage("--topic is empty; give the full name, such as persistent://public/default/orders")
    place = topic_hash(asked.topic) if asked.topic is not None else asked.hash
    assert place is not None, "the command line has a topic or a hash"
    holder = layout.find(place)
    if asked.topic is not None and "://" not in asked.topic:
        print("note: this is not a full topic name, which begins with persistent:// or non-persistent://", file=sys.stderr)
    _print(
        asked.format,
        text=lambda: f"hash 0x{place:08x}: {holder or 'no bundle: the lookup ends outside the layout'}\n",
        json=lambda: {"hash": f"0x{place:08x}", "bundle": None if holder is None else str(holder)},
    )
    return ExitStatus.HOLDS


def _settings(asked: ConfiguredRequest) -> Settings:
    settings = read_settings(asked.conf, asked.pulsar)
    for note in settings.notes:
        print(f"note: {note}", file=sys.stderr)
    return settings


def _manager(asked: ConfiguredRequest, shedder: str | None, placement: str | None) -> LoadManager:
    """The load manager that is asked for; raises as ``manager_of`` does."""
    settings = _settings(asked)
    return manager_of(settings.conf, settings.places, shedder, placement)


def _change(text: str, rounds: int) -> tuple[int, str]:
    """The round from which a setting is another one, and the setting."""
    number, colon, setting = text.partition(":")
    if not (colon and number.isdigit() and 1 <= int(number) <= rounds):
        raise WrongUsage(f"--change {text}: write ROUND:KEY=VALUE with a round from 1 to {rounds}")
    key = setting.partition("=")[0].strip()
    if key in STRATEGIES:
        raise WrongUsage(f"--change {text}: a strategy that is another one remembers nothing; ask for its rounds alone")
    if key in NOT_DYNAMIC:
        raise WrongUsage(f"--change {text}: {key} is not dynamic: brokers begin again for it; ask for these rounds with --conf")
    return int(number), setting


def _may_be_there(name: str, load: LoadData) -> None:
    """Raises WrongUsage for a bundle that the namespace cannot have, because it has another that overlaps it."""
    namespace, bundle = name.rpartition("/")[0], _bundle(name)
    if name != f"{namespace}/{bundle}":
        raise WrongUsage(f"--bundle {name}: Pulsar writes it {namespace}/{bundle}")
    owned = [one for report in load.reports.values() for one in report.bundles]
    there = sorted({one for one in [*owned, *load.bundles] if one.rpartition("/")[0] == namespace})
    for other in there if name not in there else ():
        lower, upper = _bundle(other)
        if lower < bundle.upper and bundle.lower < upper:
            raise WrongUsage(f"--bundle {name}: there is no such bundle: {other} overlaps it")


def _bundle(name: str) -> Bundle:
    """The bundle of a name; raises WrongUsage if there is none."""
    try:
        bundle = Bundle.parse(name)
    except Refused as refusal:
        if re.search(r"[\[\]()]", name):
            raise WrongUsage(
                f"--bundle {name}: write such as 0x00000000_0x40000000; the lower boundary is in it, the upper one is not, "
                f"except for 0x{FULL.last:x}, and Pulsar takes no other range"
            ) from None
        raise WrongUsage(f"--bundle: {refusal}") from None
    if not bundle.lower < bundle.upper <= FULL.last:
        raise WrongUsage(f"--bundle {name}: its boundaries must rise, and are at most 0x{FULL.last:08x}")
    return bundle


def _layout(boundaries: Sequence[int], hashes: HashRange) -> Layout:
    """The layout of these boundaries; raises WrongUsage if they are none."""
    if (boundaries[0], boundaries[-1]) != (0, hashes.last):
        raise WrongUsage(f"--boundaries: they must reach from 0x00000000 to 0x{hashes.last:08x}, and name both")
    for before, after in pairwise(boundaries):
        if after <= before:
            raise WrongUsage(f"--boundaries: 0x{after:08x} follows 0x{before:08x}; give each once, in rising order")
    return Layout(tuple(boundaries), hashes)


def _round(done: Round) -> Mapping[str, object]:
    return {
        "unload": {broker: list(bundles) for broker, bundles in done.unload.items()},
        "destinations": {bundle: list(brokers) for bundle, brokers in done.destinations.items()},
        "usage": _finite(done.usage),
        "average": _finite(done.averages),
        "splits": [
            {"bundle": split.bundle, "boundaries": None if split.boundaries is None else _hex(split.boundaries)}
            for split in done.splits
        ],
        "why": list(done.why),
    }


def _finite(values: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers as JSON has them, which knows neither infinity nor NaN."""
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def _hex(hashes: Sequence[int]) -> list[str]:
    return [f"0x{place:08x}" for place in hashes]


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _print(name: str, *, text: Callable[[], str], json: Callable[[], Mapping[str, object]]) -> None:
    """Prints the answer in the format of that name."""
    print(in_format(name, text=text, json=lambda: dumps(json(), indent=2, ensure_ascii=False) + "\n"), end="")
