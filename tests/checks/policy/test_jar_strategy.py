"""A shedder in Java, from a jar: compiled against a release, asked by the command line; each run has a strategy of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.policy.code import pulsar_broker
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER
from tests.checks.conformance.real import tools
from tests.checks.policy.asking import BUNDLES, answered, asked, snapshot, write

pytestmark = pytest.mark.xdist_group("real pulsar")

EVERY_OTHER = """
package example;
import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.Multimap;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.broker.loadbalance.LoadSheddingStrategy;

/** Every other time it is asked it sheds a bundle of the broker with most of them. It counts in a static field. */
public class EveryOther implements LoadSheddingStrategy {
    static int asked = 0;
    static final int MANY = 2;

    public Multimap<String, String> findBundlesForUnloading(LoadData load, ServiceConfiguration conf) {
        Multimap<String, String> found = ArrayListMultimap.create();
        if (asked++ % 2 == 0) {
            load.getBrokerData().entrySet().stream().filter(each -> each.getValue().getLocalData().getBundles().size() >= MANY)
                    .max(java.util.Map.Entry.<String, org.apache.pulsar.policies.data.loadbalancer.BrokerData>comparingByValue(
                            java.util.Comparator.comparingInt(one -> one.getLocalData().getBundles().size()))
                            .thenComparing(java.util.Map.Entry.comparingByKey()))
                    .ifPresent(most -> found.put(most.getKey(),
                            most.getValue().getLocalData().getBundles().stream().sorted().findFirst().get()));
        }
        return found;
    }
}
"""
SENDING = """
package example;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.loadbalance.extensions.LoadManagerContext;
import org.apache.pulsar.broker.loadbalance.extensions.models.Unload;
import org.apache.pulsar.broker.loadbalance.extensions.models.UnloadDecision;
import org.apache.pulsar.broker.loadbalance.extensions.scheduler.NamespaceUnloadStrategy;

/** Sends one bundle from b1 to b3. */
public class Sending implements NamespaceUnloadStrategy {
    public Set<UnloadDecision> findBundlesForUnloading(
            LoadManagerContext context, Map<String, Long> recentBundles, Map<String, Long> recentBrokers) {
        Unload unload = new Unload("b1:8080", "BUNDLE", Optional.of("b3:8080"));
        return Set.of(new UnloadDecision(unload, UnloadDecision.Label.Success, UnloadDecision.Reason.Overloaded));
    }

    public void initialize(PulsarService pulsar) {
    }
}
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A jar with both."""
    jdk, folder = tools(), tmp_path_factory.mktemp("strategies")
    path = os.pathsep.join(map(str, jars(pulsar_broker("4.2.4"), jdk)))
    sources = {"EveryOther": EVERY_OTHER, "Sending": SENDING.replace("BUNDLE", BUNDLES[0])}
    files = [folder / f"{name}.java" for name in sources]
    for file, text in zip(files, sources.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    subprocess.run([jdk.javac, "-nowarn", "-proc:none", "-d", folder, "-cp", path, *files], check=True, capture_output=True)
    with ZipFile(folder / "strategies.jar", "w") as archive:
        for name in sources:
            archive.write(folder / "example" / f"{name}.class", f"example/{name}.class")
    return folder / "strategies.jar"


def test_a_shedder_of_a_jar_is_asked_and_its_static_field_told(jar: Path, tmp_path: Path) -> None:
    shedder = f"{jar}:example.EveryOther"
    file = write(tmp_path, snapshot())
    status, out, err = asked("decide", *["--snapshot", file] * 3, "--shedder", shedder, "--format", "json")
    assert status == 0
    note = "example.EveryOther.asked is static; each run has a copy of its own, brokers would share it"
    assert err == f"note: {shedder}: {note}\n"
    assert [done["unload"] for done in json.loads(out)["rounds"]] == [{"b1:8080": [BUNDLES[0]]}, {}, {"b1:8080": [BUNDLES[0]]}]


def test_runs_have_a_strategy_of_their_own(jar: Path) -> None:
    """Without one, the second run would begin where the first one left the static count."""
    world = ["--brokers", "3", "--bundles", "9", "--topics-per-bundle", "2", "--hours", "0.35", "--quiet"]
    world += ["--set", "loadBalancerAutoBundleSplitEnabled=false"]
    ask = ["simulate", *world, "--shedder", f"{jar}:example.EveryOther", "--format", "json"]
    first, second = (json.loads(asked(*ask)[1]) for _ in range(2))
    assert first["minutes"] % 2 == 1
    assert first == second
    assert {action["minute"] % 2 for action in first["actions"] if action["kind"] == "unload"} == {0}


def test_a_strategy_of_the_extensible_manager_says_where_to(jar: Path, tmp_path: Path) -> None:
    conf = write(tmp_path, f"loadManagerClassName={EXTENSIBLE_LOAD_MANAGER}\n", "broker.conf")
    ask = ["decide", "--snapshot", write(tmp_path, snapshot()), "--shedder", f"{jar}:example.Sending"]
    done = answered(*ask, "--conf", conf)["rounds"][0]
    assert (done["unload"], done["destinations"]) == ({"b1:8080": [BUNDLES[0]]}, {BUNDLES[0]: ["b3:8080"]})
    status, _, err = asked(*ask)
    assert status == 2
    assert f"is of another load manager; configure loadManagerClassName={EXTENSIBLE_LOAD_MANAGER}" in err


@pytest.mark.parametrize(("name", "text"), [("Nothing", "has no class example.Nothing"), ("../x", "has no class example.../x")])
def test_a_class_that_is_not_there(name: str, text: str, jar: Path, tmp_path: Path) -> None:
    status, _, err = asked("decide", "--snapshot", write(tmp_path, snapshot()), "--shedder", f"{jar}:example.{name}")
    assert status == 150
    assert err.startswith(f"fencepost: {jar}: {text}")
