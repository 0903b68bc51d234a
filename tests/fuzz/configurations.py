"""Random configurations, each through ``fencepost check --conf``, held to laws: tests/fuzz/configurations.py --count 1000.

Configuration number n of a seed is always the same, and so are the laws that are tried on it. What decides which instances are
searched, a cluster, is drawn once for EACH configurations that follow each other, and a search is made once for all of them: so
1,000 configurations are 20 clusters, each with what is read besides drawn 50 times, and with 50 draws of laws and of what else
these try. It prints how many configurations each law was tried on, and for each that breaks one the files and the law.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.checks.commands.check import run
from fencepost.checks.console.progress import Watch
from fencepost.checks.engines import ahead
from fencepost.checks.engines.plan import Task
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.questions.planning import planned_with_bugs
from fencepost.checks.reports.documents import plain
from fencepost.model.releases import PULSAR
from tests.command import Ran, fencepost

ENOUGH, LITTLE = "0.02", "0.0008"
"""GiB of a search: the first is enough for most of them, the second for few."""

EACH = 50
"""Configurations of one cluster."""

BROKER: Mapping[str, Sequence[str]] = {
    "brokerDeduplicationEnabled": ("true", "false"),
    "lazyCursorRecovery": ("true", "false"),
    "managedLedgerAddEntryTimeoutSeconds": ("0", "120"),
    "brokerDeleteInactiveTopicsEnabled": ("true", "false"),
    "defaultRetentionTimeInMinutes": ("0", "-1", "10"),
    "zookeeperSessionExpiredPolicy": ("reconnect", "shutdown"),
    "metadataStoreUrl": ("zk:localhost:2181", "etcd:http://localhost:2379", "oxia://localhost:6648"),
    "loadBalancerEnabled": ("true", "false"),
    "loadBalancerAutoBundleSplitEnabled": ("true", "false"),
    "loadManagerClassName": (
        "org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl",
        "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl",
    ),
}
BESIDES: Mapping[str, Sequence[str]] = {
    "ttlDurationDefaultInSeconds": ("0", "3600"),
    "backlogQuotaDefaultLimitGB": ("-1", "10"),
    "backlogQuotaDefaultRetentionPolicy": ("producer_request_hold", "consumer_backlog_eviction"),
    "subscriptionExpirationTimeMinutes": ("0", "60"),
    "autoSkipNonRecoverableData": ("true", "false"),
    "transactionCoordinatorEnabled": ("true", "false"),
    "managedLedgerOffloadDriver": ("aws-s3",),
    "bookkeeperClientRackawarePolicyEnabled": ("true", "false"),
}
"""What answers speak of and no search depends on."""
BOOKIE: Mapping[str, Sequence[str]] = {
    "journalSyncData": ("true", "false"),
    "journalWriteData": ("true", "false"),
    "ledgerStorageClass": (
        "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage",
        "org.apache.bookkeeper.bookie.SortedLedgerStorage",
    ),
    "dataIntegrityChecking": ("true", "false"),
    "autoRecoveryDaemonEnabled": ("true", "false"),
    "auditorPeriodicBookieCheckInterval": ("0", "86400"),
    "auditorPeriodicCheckInterval": ("0", "604800"),
}
OPPOSITE = {"weaker": "stronger", "stronger": "weaker"}
DISKS = ("disks", "usual_disks", "disks_after_change")


class Broken(AssertionError):
    """An answer that breaks a law; the message says which and how."""


@dataclass(frozen=True)
class Drawn:
    """A configuration: the lines of its files, its release and its number of bookies."""

    sizes: tuple[int, int, int]
    broker: tuple[tuple[str, str], ...]
    bookie: tuple[tuple[str, str], ...] | None
    release: str
    bookies: int

    def write(self, folder: Path, name: str) -> list[str]:
        """Writes the files; the words that name them to ``fencepost check``."""
        keys = ("managedLedgerDefaultEnsembleSize", "managedLedgerDefaultWriteQuorum", "managedLedgerDefaultAckQuorum")
        lines = [*zip(keys, map(str, self.sizes), strict=True), *self.broker]
        files = {folder / f"{name}.conf": lines}
        if self.bookie is not None:
            files[folder / f"{name}-bookkeeper.conf"] = [("bookiePort", "3181"), *self.bookie]
        for file, content in files.items():
            file.write_text("".join(f"{key}={value}\n" for key, value in content), encoding="utf-8")
        return [str(file) for file in files]

    @property
    def options(self) -> list[str]:
        return ["--pulsar", self.release, "--bookies", str(self.bookies), "--workers", "1", "--quiet"]


def drawn(seed: int, number: int) -> Drawn:
    """A configuration: that of its cluster, with what is read besides."""
    base = cluster(seed, number // EACH)
    return replace(base, broker=(*base.broker, *_some(Random(f"{seed}/{number}"), BESIDES)))


def cluster(seed: int, number: int) -> Drawn:
    """A cluster of small sizes."""
    chance = Random(f"{seed}/cluster {number}")
    ensemble = chance.randint(1, 3)
    write = chance.randint(1, ensemble)
    sizes = (ensemble, write, chance.randint(1, write))
    of_bookie = tuple(_some(chance, BOOKIE)) if chance.random() < 0.4 else None
    bookies = ensemble + chance.randint(0, 1)
    return Drawn(sizes, tuple(_some(chance, BROKER)), of_bookie, chance.choice([*PULSAR]), bookies)


def _some(chance: Random, of: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for key, values in of.items():
        if chance.random() < 0.4:
            yield key, chance.choice(values)


class Remembering:
    """Makes each check once for a cluster, whichever configuration asks for it first."""

    def __init__(self) -> None:
        self._make, self._made = ahead.check, dict[int, Checked]()

    def forget(self) -> None:
        """Another cluster follows."""
        self._made.clear()

    def __call__(self, task: Task, *watched: Watch) -> Checked:
        key = ahead._key(task)
        if not key:
            return self._make(task, *watched)
        if key not in self._made:
            self._made[key] = self._make(task, *watched)
        return self._made[key]


@contextmanager
def answers_alone() -> Iterator[Remembering]:
    """Of a whole check what a configuration is asked, and the known bugs, without the protocols' own instances; no search is
    made twice."""

    def without_instances(*asked: Any) -> tuple[list[Any], list[Any]]:
        return [], planned_with_bugs(*asked)[1]

    remembering = Remembering()
    with patch.object(ahead, "check", remembering), patch.object(run, "planned_with_bugs", without_instances):
        yield remembering


def same_in_every_format(configuration: Drawn, folder: Path, chance: Random) -> bool:
    """Text, JSON, SARIF and Markdown say the same, with the same status; a *no* says what was searched."""
    ran, document = asked(configuration, folder, "base", ENOUGH, "--all", "--sarif", folder / "s", "--markdown", folder / "m")
    if document is None:
        return False
    text, markdown = " ".join(ran.stdout.split()), (folder / "m").read_text(encoding="utf-8")
    (log,) = json.loads((folder / "s").read_text(encoding="utf-8"))["runs"]
    results = {result["ruleId"]: result for result in log["results"]}
    must(log["invocations"][0]["exitCode"] == document["status"] == ran.returncode, "the status is the same")
    for answer in document["guarantees"]["answers"]:
        name, headline, ways = answer["question"], answer["headline"], [way["name"] for way in answer["ways"]]
        result = results[f"answer/{name}"]
        must(headline in text, f"{name}: the text has the headline {headline!r}")
        must(result["message"]["text"].splitlines()[0] == headline, f"{name}: SARIF has the headline")
        must(result["properties"] == {"answer": answer["answer"], "ways": ways}, f"{name}: SARIF has the ways {ways}")
        must(plain(headline) in markdown, f"{name}: Markdown has the headline")
        if answer["answer"] == "no":
            must(bool(answer["searched"] or answer["shown"]) and not answer["open"], f"{name}: a no was searched, and is whole")
            must(re.search(r"not (with|by) .*\d", headline) is not None, f"{name}: a no names what was searched: {headline}")
    return True


def no_claim_with_little_memory(configuration: Drawn, folder: Path, chance: Random) -> bool:
    """What is claimed with little memory is claimed with more."""
    little, enough = (asked(configuration, folder, "base", memory)[1] for memory in (LITTLE, ENOUGH))
    if little is None or enough is None:
        return False
    with_more = {answer["question"]: answer for answer in enough["guarantees"]["answers"]}
    for answer in little["guarantees"]["answers"]:
        other = with_more[answer["question"]]
        if answer["answer"] == "no":
            must(other["answer"] == "no" or bool(other["open"]), f"{answer['question']}: no with little memory alone")
        faults = {way["name"]: way["faults"] for way in other["ways"]}
        for way in answer["ways"]:
            if way["known_bug"] and not way["open"]:
                must(faults.get(way["name"], 99) <= way["faults"], f"{way['name']}: a way with little memory alone")
    rows = {row["guarantee"]: row for row in enough["guarantees"]["rows"]}
    for row in little["guarantees"]["rows"]:
        more = rows[row["guarantee"]]
        if row["figure"] is not None and more["figure"] is not None and row["verdict"] != "inconclusive":
            must(row["figure"] == more["figure"] or more["verdict"] == "inconclusive", f"{row['guarantee']}: {row} and {more}")
    return True


def never_fewer_with_more_copies(configuration: Drawn, folder: Path, chance: Random) -> bool:
    """One copy more never guarantees fewer lost disks."""
    ensemble, write, ack = configuration.sizes
    grown = (max(ensemble, write + 1), write + 1, ack + chance.randint(0, 1))
    if grown[0] > 3:
        return False
    more = replace(configuration, sizes=grown, bookies=max(configuration.bookies, grown[0]))
    before, after = (asked(each, folder, "base", ENOUGH, "--guarantees")[1] for each in (configuration, more))
    if before is None or after is None:
        return False
    rows = {row["guarantee"]: row for row in after["guarantees"]["rows"]}
    for row in before["guarantees"]["rows"]:
        other = rows.get(row["guarantee"])
        if row["guarantee"] in DISKS and other and row["figure"] is not None and other["figure"] is not None:
            known = other["verdict"] != "inconclusive"
            must(
                not known or row["figure"] <= other["figure"],
                f"{row['guarantee']}: {row['figure']}, and with more {other['figure']}",
            )
    return True


def the_other_way_round(configuration: Drawn, folder: Path, chance: Random) -> bool:
    """A comparison the other way round says the opposite."""
    other = replace(cluster(0, chance.randrange(3)), release=configuration.release, bookies=3)
    one = replace(configuration, bookies=3)
    if (one.bookie is None) != (other.bookie is None):
        other = replace(other, bookie=one.bookie)
    changes = []
    for now, before in ((one, other), (other, one)):
        files = before.write(folder, "before")
        _, document = asked(now, folder, "now", ENOUGH, "--guarantees", *(w for file in files for w in ("--against", file)))
        if document is None:
            return False
        changes.append({row["guarantee"]: row["change"] for row in document["guarantees"]["rows"]})
    for name, change in changes[0].items():
        if name in changes[1]:
            must(changes[1][name] == OPPOSITE.get(change, change), f"{name}: {change}, and the other way {changes[1][name]}")
    return True


Law = Callable[[Drawn, Path, Random], bool]
"""Whether it applies, and holds: of a configuration, in a folder, with what else chance draws. Raises Broken if it does not."""
LAWS: Mapping[str, tuple[Law, int]] = {
    "every format says the same": (same_in_every_format, 100),
    "little memory claims nothing": (no_claim_with_little_memory, 30),
    "more copies, no fewer disks": (never_fewer_with_more_copies, 40),
    "the other way round": (the_other_way_round, 40),
}
"""By what is tried: how, and on how many of a hundred configurations."""


def asked(
    configuration: Drawn, folder: Path, name: str, memory: str, *options: str | Path
) -> tuple[Ran, dict[str, Any] | None]:
    """What the command prints, and its JSON; None if the configuration is refused, which takes one line."""
    files = [word for file in configuration.write(folder, name) for word in ("--conf", file)]
    document = folder / "j"
    document.unlink(missing_ok=True)
    ran = fencepost("check", *files, *configuration.options, "--memory", memory, "--json", document, *options)
    if ran.returncode in (2, 150):
        said = json.loads(document.read_text())["error"]["message"]
        must(ran.stderr == f"fencepost: {said}\n", f"a refusal takes one line, which its document says, too: {ran.stderr}")
        return ran, None
    must(ran.returncode in (0, 10, 11, 12, 13, 14, 15, 16, 17, 20), f"status {ran.returncode}: {ran.stderr}")
    return ran, json.loads(document.read_text(encoding="utf-8"))


def must(holds: bool, law: str) -> None:
    """Raises Broken unless it holds."""
    if not holds:
        raise Broken(law)


def hold(seed: int, number: int, counts: Counter[str], laws: Mapping[str, tuple[Law, int]] = LAWS) -> None:
    """Tries laws on a configuration, those that chance picks, and counts them. Raises Broken, and what the command raises."""
    configuration, chance = drawn(seed, number), Random(number)
    with tempfile.TemporaryDirectory() as folder:
        for name, (law, share) in laws.items():
            if chance.randrange(100) < share:
                counts[name if law(configuration, Path(folder), chance) else f"refused, or not for it: {name}"] += 1


def main() -> int:
    """Runs what the command line asks for; 1 if a law was broken."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first configuration")
    parser.add_argument("--count", type=int, default=1000)
    wanted = parser.parse_args()
    counts, broken, started = Counter[str](), 0, time.monotonic()
    with answers_alone() as remembering:
        for number in range(wanted.first, wanted.first + wanted.count):
            if number % EACH == 0:
                remembering.forget()
            try:
                hold(wanted.seed, number, counts)
            except Exception as error:
                broken += 1
                print(f"=== seed {wanted.seed}, configuration {number}: {type(error).__name__}: {error}", flush=True)
                print(drawn(wanted.seed, number), flush=True)
            if (number - wanted.first) % 10 == 9 or number == wanted.first + wanted.count - 1:
                print(
                    f"{number - wanted.first + 1} configurations, {broken} broken, {time.monotonic() - started:.0f} s: "
                    f"{dict(sorted(counts.items()))}",
                    flush=True,
                )
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
