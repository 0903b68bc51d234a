"""Every command in the runbooks is run on processes of a release: those of BookKeeper's shell by that shell, those of brokers'
web service by requests. Those of Oxia's client are only compared."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from fencepost.checks.conformance.java_side.session import Session, SessionError
from fencepost.checks.conformance.reproductions.bookkeeper_cluster import Bookie, BookKeeperCluster
from fencepost.checks.conformance.reproductions.restarted_ids import LONG_IDS
from fencepost.checks.conformance.reproductions.stage import Stage
from tests.checks.conformance.real import tools
from tests.checks.policy.brokers import MODULAR, brokers
from tests.docs.examples import ROOT, blocks

RELEASE = "4.18.0"
SHELL = "bookkeeper shell "
RUNBOOKS = {
    page: (ROOT / "docs" / "how-to" / f"{page}.md")
    for page in ("zookeeper-was-away", "upgrade-in-which-order", "a-disk-died", "decommission-a-bookie")
}
"""The runbooks with commands of the shell, in the order in which one cluster takes them."""


MIGRATION = ROOT / "docs" / "how-to" / "migrate-the-metadata-store.md"
"""The runbook with requests to brokers, and to Oxia."""
REQUEST = "curl "
OXIA = "oxia client "


def commands(page: Path, first: str) -> list[str]:
    """The commands of a page that begin so, in its order, without that."""
    shown = [block for block in blocks(page.read_text(encoding="utf-8")) if block.language == "sh"]
    lines = [line for block in shown for line in block.text.splitlines()]
    return [line.removeprefix(first) for line in lines if line.startswith(first)]


class Operator:
    """A cluster with auto-recovery, and whoever types commands there."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self.cluster, self._typed = stage, BookKeeperCluster(stage, RELEASE), 0
        self.client: Session = self.cluster.client("client")
        self.client.ask({"do": "format"})

    def starts_bookie(self) -> Bookie:
        bookie = self.cluster.bookie()
        bookie.start()
        bookie.ready()
        return bookie

    def starts_auto_recovery(self) -> None:
        main = "org.apache.bookkeeper.replication.AutoRecoveryMain"
        self.cluster.program("autorecovery", main, "--conf", [], advertisedAddress="127.0.0.1").start()

    def types(self, command: str) -> None:
        """Runs a command of the shell to its end. Raises SessionError if its status is not 0."""
        self._typed += 1
        name = f"shell{self._typed}"
        shell = self.cluster.program(name, "org.apache.bookkeeper.bookie.BookieShell", "-conf", shlex.split(command))
        shell.start()
        shell.ended()

    def follows(self, page: str, **names: str) -> None:
        """Takes the commands of a page in its order."""
        for command in commands(RUNBOOKS[page], SHELL):
            self.types(re.sub(r"\b[A-Z]{4,}\b", lambda word: names[word[0]], command))

    def ensemble(self, ledger: object) -> list[str]:
        (only,) = self.client.ask({"do": "ensembles", "ledger": ledger})["ensembles"]
        return sorted(only)


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    with Stage(tmp_path / "stage", tools(), say=print, logs=True) as stage:
        yield Operator(stage)


def test_every_command_of_the_shell_is_in_a_runbook_that_is_followed() -> None:
    with_commands = {page.stem for page in (ROOT / "docs").rglob("*.md") if f"\n{SHELL}" in page.read_text(encoding="utf-8")}
    assert with_commands == RUNBOOKS.keys()
    assert all(commands(page, SHELL) for page in RUNBOOKS.values())
    for page, firsts in ((MIGRATION, (REQUEST, OXIA)), *((page, (SHELL,)) for page in RUNBOOKS.values())):
        shown = [block for block in blocks(page.read_text(encoding="utf-8")) if block.language == "sh"]
        typed = sum(len(commands(page, first)) for first in firsts)
        assert typed == sum(len(block.text.splitlines()) for block in shown)


def test_an_operator_puts_what_the_control_of_the_reproduction_puts() -> None:
    """There is no server of Oxia here that could be asked."""
    *puts, _ = (shlex.split(command) for command in commands(MIGRATION, OXIA))
    assert [(put[0], *put[-2:]) for put in puts] == [("put", str(path), "") for path in (Path(LONG_IDS).parent, Path(LONG_IDS))]


@pytest.mark.java
@pytest.mark.deep
def test_the_runbooks_are_followed_on_bookies_of_a_release(operator: Operator) -> None:
    """A ledger on b0 and b1 is moved to b2 as b0 loses its disk, and to b3 as b1 is decommissioned."""
    b0, b1 = operator.starts_bookie(), operator.starts_bookie()
    ledger = operator.client.ask({"do": "create", "copies": 2, "quorum": 2})["ledger"]
    for _ in range(5):
        operator.client.ask({"do": "add", "bytes": 100})
    operator.client.ask({"do": "close"})
    operator.starts_auto_recovery()
    b2 = operator.starts_bookie()
    operator.follows("zookeeper-was-away")
    operator.follows("upgrade-in-which-order")
    assert operator.ensemble(ledger) == sorted([b0.address, b1.address])

    b0.kill()
    for folder in ("journal", "ledgers"):
        shutil.rmtree(b0.folder / folder)
    b0.start()
    with pytest.raises(SessionError, match="b0 ended with status"):
        b0.ready()
    assert "InvalidCookieException" in (b0.folder / "log").read_text(encoding="utf-8")
    b0.kill()
    operator.follows("a-disk-died", BOOKIE=b0.address)
    assert operator.ensemble(ledger) == sorted([b1.address, b2.address])
    b0.start()
    b0.ready()  # its cookie is gone: it is a new bookie
    b0.kill()

    b3 = operator.starts_bookie()
    with pytest.raises(SessionError, match="ended with status"):
        operator.types(f"decommissionbookie -bookieid {b1.address}")  # it runs
    b1.kill()
    operator.follows("decommission-a-bookie", BOOKIE=b1.address)
    assert operator.ensemble(ledger) == sorted([b2.address, b3.address])
    assert operator.client.ask({"do": "read", "ledger": ledger})["read"] == 5


def answered(command: str, broker: str, oxia: str) -> tuple[int, str]:
    """The status and the text with which a broker answers a request of a runbook."""
    *method, address = shlex.split(command)
    url = address.replace("http://BROKER:8080", broker).replace("OXIA:6648", oxia)
    try:
        with urlopen(Request(url, method=method[-1] if method else "GET"), timeout=600) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as refused:
        return refused.code, refused.read().decode()


@pytest.mark.java
@pytest.mark.xdist_group("brokers")
def test_a_broker_of_a_release_takes_the_requests_of_the_migration(tmp_path: Path) -> None:
    """There is no Oxia in Java: that the broker turns to the target shows that it takes the request."""
    start, status = commands(MIGRATION, REQUEST)
    with socket.create_server(("127.0.0.1", 0)) as oxia, ThreadPoolExecutor(1) as asking:
        target = f"127.0.0.1:{oxia.getsockname()[1]}"
        with brokers(tmp_path, 1, MODULAR, "5.0.1") as (broker,):
            assert answered(status, broker, target) == (200, '{"phase":"NOT_STARTED"}')
            assert answered(start.partition("?")[0] + '"', broker, target) == (400, '{"reason":"Target URL is required"}')
            refused = answered(start.replace("oxia://", "zk:"), broker, target)
            assert refused[0] == 500
            assert "Expected target metadata store to be Oxia" in refused[1]
            asked = asking.submit(answered, start, broker, target)
            oxia.settimeout(120)
            oxia.accept()[0].close()
        with suppress(OSError):  # the broker has ended before it answers
            asked.result()
