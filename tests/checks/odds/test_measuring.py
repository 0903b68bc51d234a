"""Numbers from metrics, as a bookie and a broker export them."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.odds.measuring import as_table, measured
from fencepost.checks.odds.operator import with_file
from fencepost.checks.odds.ways import Fleet
from fencepost.model.odds.numbers import MS_PER_YEAR, published

BOOKIE = """# TYPE bookie_journal_JOURNAL_ADD_ENTRY summary
bookie_journal_JOURNAL_ADD_ENTRY{success="false",quantile="0.5"} NaN
bookie_journal_JOURNAL_ADD_ENTRY_count{success="false"} 3
bookie_journal_JOURNAL_ADD_ENTRY_sum{success="false"} 9000.0
bookie_journal_JOURNAL_ADD_ENTRY{success="true",quantile="0.5", journalIndex="0"} 0.706
bookie_journal_JOURNAL_ADD_ENTRY{success="true",quantile="0.99", journalIndex="0"} 10.708
bookie_journal_JOURNAL_ADD_ENTRY_count{success="true", journalIndex="0"} 658
bookie_journal_JOURNAL_ADD_ENTRY_sum{success="true", journalIndex="0"} 131.0
"""
BROKER = """# TYPE pulsar_metadata_store_ops_latency_ms histogram
pulsar_metadata_store_ops_latency_ms_bucket{cluster="c",name="metadata-store",type="put",status="success",le="1.0"} 2.0
pulsar_metadata_store_ops_latency_ms_count{cluster="c",name="metadata-store",type="put",status="success"} 10.0
pulsar_metadata_store_ops_latency_ms_sum{cluster="c",name="metadata-store",type="put",status="success"} 42.0
pulsar_metadata_store_ops_latency_ms_count{cluster="c",name="metadata-store",type="get",status="success"} 10.0
pulsar_metadata_store_ops_latency_ms_sum{cluster="c",name="metadata-store",type="get",status="success"} 4200.0
pulsar_metadata_store_ops_latency_ms_count{cluster="c",name="configuration-metadata-store",type="put",status="success"} 1
pulsar_metadata_store_ops_latency_ms_sum{cluster="c",name="configuration-metadata-store",type="put",status="success"} 999
pulsar_rate_in{cluster="c",namespace="t/n",topic="persistent://t/n/a"} 100.0 1700000000000
pulsar_rate_in{cluster="c",namespace="t/n",topic="persistent://t/n/b"} 400.0
pulsar_rate_in{cluster="c",namespace="t/n",topic="persistent://t/n/idle"} 0.0
pulsar_rate_in{cluster="c",namespace="t/n",topic="persistent://t/n/__change_events"} 7.0
"""


def files(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"{name}.prom" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths


def test_what_metrics_tell(tmp_path: Path) -> None:
    found = {each.name: each for each in measured(files(tmp_path, bookie=BOOKIE, broker=BROKER)).numbers}
    assert found["journal"].value == pytest.approx(0.706 / math.log(2))
    assert found["metadata"].value == pytest.approx(4.2)
    assert (found["messages"].value, found["messages"].factor) == (pytest.approx(200.0), pytest.approx(2.0))


def test_a_long_latency_is_the_mean_of_the_sum(tmp_path: Path) -> None:
    slow = BOOKIE.replace("131.0", "13160.0")
    (found,) = measured(files(tmp_path, bookie=slow)).numbers
    assert found.value == pytest.approx(20.0)


def test_several_processes_widen_the_factor(tmp_path: Path) -> None:
    (found,) = measured(files(tmp_path, one=BOOKIE, other=BOOKIE.replace("0.706", "2.824"))).numbers
    assert found.value == pytest.approx(1.412 / math.log(2))
    assert found.factor == pytest.approx(2.0)


def test_the_table_is_read_back_and_names_what_is_not_known(tmp_path: Path) -> None:
    table = as_table(measured(files(tmp_path, bookie=BOOKIE, broker=BROKER)))
    (path,) = files(tmp_path, table=table)
    numbers, fleet = with_file(published(), Fleet(), path)
    assert fleet.topics == 2
    assert numbers["journal"] == pytest.approx(tomllib.loads(table)["odds"]["journal"]["ms"])
    assert "# expiries: lost sessions of one broker" in table
    assert "# journal" not in table


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no metrics; save what a broker or a bookie answers to /metrics"),
        ("# HELP only\n", "has no metrics"),
        ("a 1\n<html>\n", "bad.prom:2: is not a sample in Prometheus' text format: '<html>'"),
        ("a one\n", "bad.prom:1: is not a sample"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        measured(files(tmp_path, bad=text))
    assert message in str(raised.value)


ZOOKEEPER = """stale_sessions_expired 6.0
global_sessions 20.0
uptime 3.15576E9
"""
YEAR = 31_557_600


def test_lost_sessions_are_those_of_the_server_that_leads(tmp_path: Path) -> None:
    """6 of 20 sessions in a tenth of a year are 3 a year; the interval of a Poisson law with 6 events is from 3.5 to 11.2."""
    idle = ZOOKEEPER.replace("6.0", "0.0")
    (found,) = measured(files(tmp_path, leads=ZOOKEEPER, follows=idle)).numbers
    assert (found.name, found.value) == ("expiries", pytest.approx(3.0, rel=0.1))
    assert found.value * found.factor == pytest.approx(11.2 / 2, rel=0.01)
    assert found.value / found.factor == pytest.approx(2.95 / 2, rel=0.01)


def test_no_lost_session_in_a_short_time_leaves_a_wide_factor(tmp_path: Path) -> None:
    (found,) = measured(files(tmp_path, leads=ZOOKEEPER.replace("6.0", "0.0"))).numbers
    assert found.factor > 10


def test_restarts_are_seen_by_how_long_processes_have_run(tmp_path: Path) -> None:
    """Four processes that have run for a quarter of a year each start four times a year; kills are fewer."""
    now = 1_700_000_000
    started = f"process_start_time_seconds {now - YEAR // 4}"
    bookies = {f"bookie{n}": f"{started} {now * 1000}\nbookie_x 1 {now * 1000}\n" for n in range(4)}
    found = {each.name: each for each in measured(files(tmp_path, **bookies)).numbers}
    assert set(found) == {"bookie_failures", "bookie_kills"}
    assert found["bookie_failures"].value == pytest.approx(4.0, rel=0.1)
    table = as_table(measured([*tmp_path.iterdir()]))
    assert "bookie_kills" not in tomllib.loads(table)["odds"]
    assert "# at most" in table


def test_a_process_is_a_broker_by_its_own_metrics(tmp_path: Path) -> None:
    """What Prometheus answers at /federate has several processes in one file."""
    now = 1_700_000_000
    lines = [
        f'{name}{{instance="{instance}"}} {value} {now * 1000}'
        for instance, own in (("b", "pulsar_rate_in"), ("k", "bookie_x"), ("other", "jvm_x"))
        for name, value in (("process_start_time_seconds", now - YEAR), (own, 1))
    ]
    found = {each.name: each for each in measured(files(tmp_path, all="\n".join(lines))).numbers}
    assert set(found) == {"broker_kills", "bookie_failures", "bookie_kills"}
    assert found["broker_kills"].source.startswith("process_start_time_seconds: 1 broker, on average 365 days after the start")


def test_failed_creations_are_outages(tmp_path: Path) -> None:
    """Of the creations that begin within an outage half fail, so the share that fails is half of the time that outages take."""
    name = "pulsar_managedLedger_client_bookkeeper_client_LEDGER_CREATE_count"
    text = f'{name}{{success="false"}} 40\n{name}{{success="true"}} 39960\n'
    (found,) = measured(files(tmp_path, broker=text)).numbers
    share = found.value * published()["outage"] / MS_PER_YEAR * published()["outage_fails"]
    assert (found.name, share) == ("outages", pytest.approx(0.001, rel=0.02))
