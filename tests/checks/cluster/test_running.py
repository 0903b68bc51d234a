"""A running cluster, asked by GETs: what it says is the configuration, what it refuses is told, what was kept is the same."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.checks.cluster.running import ask, file_name
from fencepost.checks.cluster.saved import Files
from fencepost.checks.commands.check.cluster import with_cluster
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.subject import Subject
from fencepost.checks.inputs.input_files import InputError, Inputs, inputs_read_once
from fencepost.checks.policy.cluster.admin import Admin, AdminError
from fencepost.properties.registry import RegistryError
from tests.checks.policy.brokers import MODULAR, brokers
from tests.checks.policy.fake_broker import FakeBroker, Refusal, fake_broker
from tests.command import fencepost

RUNTIME = {
    "clusterName": "eu",
    "advertisedAddress": "broker-1",
    "brokerServicePort": "Optional[6650]",
    "webServicePort": "Optional[8080]",
    "webServicePortTls": "Optional.empty",
    "supportedNamespaceBundleSplitAlgorithms": "[range_equally_divide, topic_count_equally_divide]",
    "brokerClientTlsKeyStorePassword": "hunter2",
    "managedLedgerDefaultEnsembleSize": "3",
    "managedLedgerDefaultWriteQuorum": "3",
    "managedLedgerDefaultAckQuorum": "2",
    "brokerDeleteInactiveTopicsEnabled": "true",
    "numHttpServerThreads": "8",
    "messagingProtocols": ["kafka", "mqtt"],
    "brokerInterceptorsDirectory": None,
}
POLICIES = {
    "bundles": {"numBundles": 4},
    "replication_clusters": ["eu"],
    "persistence": {"bookkeeperEnsemble": 2, "bookkeeperWriteQuorum": 2, "bookkeeperAckQuorum": 1},
    "deduplicationEnabled": True,
}
PLAIN = {"bundles": {"numBundles": 4}, "replication_clusters": ["eu"]}


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    """A broker of a cluster with five bookies, whose paths are those that a broker of 5.0.1 has."""
    with fake_broker() as one:
        one.answers |= {
            "brokers/version": Refusal(200, raw=b"5.0.1"),
            "brokers": ["broker-2:8080", "broker-1:8080"],
            "brokers/configuration/runtime": RUNTIME,
            "bookies/all": {"bookies": [{"bookieId": f"bookie-{n}:3181"} for n in (4, 3, 2, 1, 0)]},
            "bookies/racks-info": {"default": {"bookie-0:3181": {"rack": "/a"}, "bookie-1:3181": {"rack": "/b"}}},
            "tenants": ["public", "acme"],
            "namespaces/acme": ["acme/orders"],
            "namespaces/public": ["public/default"],
            "namespaces/acme/orders": POLICIES,
            "namespaces/public/default": PLAIN,
        }
        yield one


def files_of(*brokers: FakeBroker, bookies: tuple[FakeBroker, ...] = ()) -> Files:
    said = ask([Admin(one.url) for one in brokers], [Admin(one.url) for one in bookies], lambda _: None)
    return Files.of(Path("eu"), said)


def test_it_is_asked_by_gets_at_the_address_that_was_given(broker: FakeBroker) -> None:
    files = files_of(broker)
    assert {one.method for one in broker.asked} == {"GET"}
    name = f"brokers/{file_name(Admin(broker.url))}"
    assert sorted(files.texts) == [name, "cluster.json", "namespaces/acme/orders.json", "namespaces/public/default.json"]
    assert json.loads(files.texts["cluster.json"])["bookies"][0] == "bookie-0:3181"
    assert files_of(broker).texts == files.texts


def test_what_it_says_is_the_configuration(broker: FakeBroker) -> None:
    with inputs_read_once() as inputs:
        asked = with_cluster(CheckRequest(cluster=(broker.url,)), inputs)
        subject = Subject.of(asked)
    assert subject.settings is not None
    assert subject.releases is not None
    ledger, deployed = subject.settings.ledger, subject.settings.deployment
    algorithms = subject.settings.control_plane.algorithm
    assert algorithms.value == "range_equally_divide"
    assert (ledger.ensemble.value, ledger.write_quorum.value, ledger.ack_quorum.value) == (3, 3, 2)
    assert (subject.releases.pulsar, deployed.count and deployed.count.value) == ("5.0.1", 5)
    assert (subject.how_known, subject.supposed) == ("as it says", True)
    assert asked.namespace == [
        f"acme/orders={asked.name}/namespaces/acme/orders.json",
        f"public/default={asked.name}/namespaces/public/default.json",
    ]


def test_what_was_read_is_told(broker: FakeBroker) -> None:
    read, *others = files_of(broker).facts
    assert read == (
        "read from eu: Pulsar 5.0.1, the configuration of 1 broker, the policies of 2 namespaces, 5 bookies in 2 racks"
    )
    assert others == [
        "not asked: broker-2:8080: each broker says only its own configuration; add --cluster http://broker-2:8080"
    ]


def test_brokers_that_differ_are_told(broker: FakeBroker) -> None:
    with fake_broker() as other:
        own = RUNTIME | {"managedLedgerDefaultAckQuorum": "1", "advertisedAddress": "broker-2", "brokerServicePort": "6651"}
        other.answers["brokers/configuration/runtime"] = own
        files = files_of(broker, other)
    first, second = files.named("brokers")
    differing = [fact for fact in files.facts if fact.startswith("brokers differ: ")]
    assert len(differing) == 1
    assert f"{second} from {first}: managedLedgerDefaultAckQuorum is " in differing[0]


def test_what_is_refused_is_told_and_the_rest_goes_on(broker: FakeBroker) -> None:
    broker.answers["brokers/configuration/runtime"] = Refusal(401, "not a superuser")
    broker.answers["bookies/racks-info"] = Refusal(500, "no racks today")
    files = files_of(broker)
    assert files.named("brokers") == []
    refused = [fact for fact in files.facts if fact.startswith("refused: ")]
    assert len(refused) == 2
    assert "/admin/v2/brokers/configuration/runtime is forbidden (401)" in "".join(refused)
    with inputs_read_once() as inputs:
        subject = Subject.of(with_cluster(CheckRequest(cluster=(broker.url,)), inputs))
    assert subject.settings is not None
    assert subject.settings.ledger.ensemble.place is None, "Pulsar's default, and said to be"
    assert subject.releases is not None
    assert subject.releases.pulsar == "5.0.1"


def test_a_broker_that_says_its_version_alone_is_enough(broker: FakeBroker) -> None:
    broker.answers = {path: Refusal(401, "no") for path in broker.answers} | {"brokers/version": Refusal(200, raw=b"5.0.1")}
    with inputs_read_once() as inputs:
        subject = Subject.of(with_cluster(CheckRequest(cluster=(broker.url,)), inputs))
    assert subject.releases is not None
    assert subject.releases.pulsar == "5.0.1"


def test_a_bookie_says_its_own_settings(broker: FakeBroker) -> None:
    with fake_broker() as bookie:
        own = {"bookiePort": "3181", "journalDirectory": "/j", "journalSyncData": "false"}
        bookie.answers["/api/v1/config/server_config"] = own
        files = files_of(broker, bookies=(bookie,))
    assert len(files.named("bookies")) == 1
    with inputs_read_once() as inputs:
        for name, text in files.texts.items():
            inputs.give(files.folder / name, text.encode())
        settings = Subject.of(CheckRequest(conf=files.configuration)).settings
    assert settings is not None
    assert settings.bookies.is_given
    assert settings.places["journalSyncData"].file == Path("eu") / files.named("bookies")[0]


def test_what_was_kept_is_the_same_and_forgets_what_is_gone(broker: FakeBroker, tmp_path: Path) -> None:
    folder = tmp_path / "monday"
    with_cluster(CheckRequest(cluster=(broker.url,), save=folder), Inputs())
    kept = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.json")}
    offline = with_cluster(CheckRequest(cluster=(str(folder),)), Inputs())
    online = with_cluster(CheckRequest(cluster=(broker.url,), save=folder), Inputs())
    assert (offline.conf, offline.namespace, offline.facts) == (online.conf, online.namespace, online.facts)
    assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.json")} == kept
    broker.answers["namespaces/acme"] = []
    with_cluster(CheckRequest(cluster=(broker.url,), save=folder), Inputs())
    assert not (folder / "namespaces/acme/orders.json").exists()
    assert len(list(folder.rglob("*.json"))) == len(kept) - 1


def test_a_token_goes_along_and_is_kept_nowhere(broker: FakeBroker, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("ey.secret\n")
    offloading = {"managedLedgerOffloadDriver": "aws-s3", "s3ManagedLedgerOffloadCredentialSecret": "hunter3"}
    broker.answers["namespaces/acme/orders"] = POLICIES | {"offload_policies": offloading}
    asked = CheckRequest(cluster=(broker.url,), token_file=tmp_path / "token", save=tmp_path / "kept")
    with_cluster(asked, Inputs())
    assert {one.authorization for one in broker.asked} == {"Bearer ey.secret"}
    kept = "".join(path.read_text() for path in (tmp_path / "kept").rglob("*.json"))
    assert "managedLedgerDefaultAckQuorum" in kept
    assert "ey.secret" not in kept
    assert "hunter2" not in kept, "nor is a password of the broker's own"
    assert "aws-s3" in kept
    assert "hunter3" not in kept, "nor one of a namespace's offloading"


def test_what_is_no_broker_is_refused(tmp_path: Path) -> None:
    with fake_broker() as nothing, pytest.raises(AdminError, match="brokers/version does not exist"):
        files_of(nothing)
    with pytest.raises(InputError, match=r"has no cluster\.json; give a folder that --save wrote"):
        Files.read(tmp_path)
    with pytest.raises(RegistryError, match="--save, --token-file and --bookie are of a running cluster"):
        with_cluster(CheckRequest(save=tmp_path), Inputs())
    with pytest.raises(RegistryError, match="is a folder: give it alone"):
        with_cluster(CheckRequest(cluster=(str(tmp_path), "b")), Inputs())


@pytest.mark.long
def test_a_check_begins_with_the_cluster(broker: FakeBroker) -> None:
    ran = fencepost("check", "--cluster", broker.url, "--quiet", "--budget", "20")
    name = broker.address
    said = " ".join(ran.stdout.split())
    assert said.startswith(f"{name}: Pulsar 5.0.1 (as it says), BookKeeper 4.18.2 (assumed), 5 bookies, 3/3/2 ")
    assert "acme/orders (2/2/1, deduplication): " in ran.stdout
    assert f"read from {name}: Pulsar 5.0.1" in ran.stdout.replace("\n  ", " ")


@pytest.mark.java
@pytest.mark.xdist_group("brokers")
def test_brokers_of_5_0_1_say_what_they_are(tmp_path: Path) -> None:
    with brokers(tmp_path, 2, MODULAR, "5.0.1") as urls, inputs_read_once() as inputs:
        asked = with_cluster(CheckRequest(cluster=urls, save=tmp_path / "kept"), inputs)
        subject = Subject.of(asked)
    counts = "the configuration of 2 brokers, the policies of 2 namespaces, 1 bookie without racks"
    assert asked.facts == (f"read from {tmp_path}/kept: Pulsar 5.0.1, {counts}",)
    assert subject.settings is not None
    assert subject.releases is not None
    assert (subject.releases.pulsar, subject.how_known) == ("5.0.1", "as it says")
    assert [taken.value for taken in subject.settings.ledger.taken] == [1, 1, 1]
    assert [name.partition("=")[0] for name in asked.namespace] == ["t/n", "t/other"]


SECRET = b"a secret of thirty-two bytes....."


def token(role: str) -> str:
    """A token of a role, as AuthenticationProviderToken takes it: a JWT with HMAC-SHA256."""
    parts = [json.dumps(each).encode() for each in ({"alg": "HS256"}, {"sub": role})]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = base64.urlsafe_b64encode(hmac.digest(SECRET, text, "sha256")).rstrip(b"=")
    return (text + b"." + signature).decode()


@pytest.mark.java
@pytest.mark.xdist_group("brokers")
def test_a_broker_of_5_0_1_refuses_its_configuration_and_the_rest_goes_on(tmp_path: Path) -> None:
    for role in ("super", "reader"):
        (tmp_path / role).write_text(token(role))
    keys = base64.b64encode(SECRET).decode(), token("super")
    with brokers(tmp_path, 1, MODULAR, "5.0.1", keys) as urls, inputs_read_once() as inputs:
        allowed = with_cluster(CheckRequest(cluster=urls, token_file=tmp_path / "super", save=tmp_path / "all"), inputs)
        refused = with_cluster(CheckRequest(cluster=urls, token_file=tmp_path / "reader", save=tmp_path / "some"), inputs)
        with pytest.raises(AdminError, match=r"brokers/version is forbidden \(401\)"):
            with_cluster(CheckRequest(cluster=urls), inputs)
        subject = Subject.of(refused)
    counts = "the configuration of 1 broker, the policies of 2 namespaces, 1 bookie without racks"
    assert allowed.facts == (f"read from {tmp_path}/all: Pulsar 5.0.1, {counts}",)
    reasons = [fact for fact in refused.facts if fact.startswith("refused: ")]
    assert any("brokers/configuration/runtime is forbidden (401)" in reason for reason in reasons)
    assert subject.releases is not None
    assert subject.settings is not None
    assert (subject.releases.pulsar, subject.settings.ledger.ensemble.place) == ("5.0.1", None)
    kept = "".join(path.read_text() for path in (tmp_path / "all").rglob("*.json"))
    assert token("super") not in kept
    assert keys[0] not in kept
