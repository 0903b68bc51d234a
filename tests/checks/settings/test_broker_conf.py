"""broker.conf: what is taken from where, and every way in which a configuration is refused."""

import io
import itertools
import os
import random
import threading
from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.settings.broker_settings import ACK_QUORUM, ALGORITHM, ENSEMBLE, SESSION_POLICY, UNLOADS, WRITE_QUORUM
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from fencepost.model.pulsar.hash_range import ALGORITHMS
from fencepost.properties.protocols import PROTOCOLS
from tests.marking import first_at_once


def conf(folder: Path, content: str | bytes) -> Path:
    path = folder / "broker.conf"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def quorums(ensemble: object, write_quorum: object, ack_quorum: object) -> str:
    return f"{ENSEMBLE}={ensemble}\n{WRITE_QUORUM}={write_quorum}\n{ACK_QUORUM}={ack_quorum}\n"


def sizes(settings: Settings) -> tuple[int, int, int]:
    return settings.ledger.ensemble.value, settings.ledger.write_quorum.value, settings.ledger.ack_quorum.value


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_settings(path)
    message = str(error.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def realistic(rng: random.Random) -> list[str]:
    lines = ["#", "# Licensed to someone, under some licence", "#", ""]
    for number in range(400):
        lines += [
            "",
            f"# What setting {number} does: a sentence = with an equals sign",
            f"# {ACK_QUORUM}=7 is only mentioned here",
        ]
        value = rng.choice(["", "true", "-1", "pulsar://a:1,\\\n   pulsar://b:2", "c:\\\\data", "0.85"])
        lines.append(f"setting{number}Of_the.broker{rng.choice(['=', ' = ', ': '])}{value}")
    return lines


def test_a_realistic_file(tmp_path: Path) -> None:
    lines = "\n".join(realistic(random.Random(3))).split("\n")
    where = {}
    for key, value, position in ((ENSEMBLE, "5", 300), (WRITE_QUORUM, " 3 ", 700), (ACK_QUORUM, "\\u0032", 1100)):
        while lines[position - 1].endswith("\\"):
            position += 1
        lines.insert(position, f"{key}={value}")
        where[key] = position + 1
    assert len(lines) > 1200
    path = conf(tmp_path, "\n".join(lines))
    settings = read_settings(path)
    assert sizes(settings) == (5, 3, 2)
    for taken in settings.ledger.taken:
        assert taken.source == f"{path}:{where[taken.key]}"
    assert settings.ledger_notes == ()


def test_absent_and_blank_keys_leave_the_default(tmp_path: Path) -> None:
    path = conf(tmp_path, f"{ENSEMBLE}=3\n{WRITE_QUORUM}=  \n")
    settings = read_settings(path)
    assert sizes(settings) == (3, 2, 2)
    assert settings.ledger.write_quorum.source == settings.ledger.ack_quorum.source == "Pulsar's default"
    assert settings.ledger_notes == (
        f"{WRITE_QUORUM}: {path}:2 leaves it empty, so it is Pulsar's default, 2",
        f"{ACK_QUORUM}: not set in {path}, so it is Pulsar's default, 2",
    )


def test_the_last_of_duplicates_wins_and_is_said(tmp_path: Path) -> None:
    settings = read_settings(conf(tmp_path, quorums(3, 3, 2) + f"{ENSEMBLE}=x\n{ENSEMBLE}=4\n"))
    assert sizes(settings) == (4, 3, 2)
    assert any("lines 1, 4, 5" in note and "'4'" in note for note in settings.ledger_notes)


@pytest.mark.parametrize(
    "content",
    [
        "dataDirectory=/data\nservers=localhost:2181\nport=3181\n",
        "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/sbin/nologin\n",
        "PULSAR_PREFIX_brokerServicePort=6650\nPULSAR_MEM=-Xmx1g\n",
        f"export {ENSEMBLE}=2\n",
    ],
)
def test_a_file_without_a_setting_that_is_read(tmp_path: Path, content: str) -> None:
    assert "has none of the settings that are read here; give the broker.conf" in refusal(conf(tmp_path, content))


@pytest.mark.parametrize(
    "key", [f"managedLedgerDefaultAck{end}" for end in ("Quoram", "Qurum", "Quorums")] + [ACK_QUORUM.lower()]
)
def test_a_key_that_is_nearly_one_is_pointed_out(tmp_path: Path, key: str) -> None:
    path = conf(tmp_path, f"{ENSEMBLE}=3\n{key}=3\nmanagedLedgerDefaultMarkDeleteRateLimit=1\n")
    settings = read_settings(path)
    assert settings.notes == (f"{path}: {key} on line 2 is not read: did you mean {ACK_QUORUM}?",)
    assert settings.ledger.ack_quorum.value == 2
    alone = refusal(conf(tmp_path, f"{key}=3\n"))
    assert f"has none of the settings that are read here ({key} on line 1 is not read: did you mean {ACK_QUORUM}?); " in alone


def test_neighbours_that_have_changed_places_are_one_mistake(tmp_path: Path) -> None:
    swapped = ACK_QUORUM.replace("Ack", "Akc")
    assert f"did you mean {ACK_QUORUM}?" in refusal(conf(tmp_path, f"{swapped}=3\n"))


def test_what_the_environment_of_an_image_sets_is_read(tmp_path: Path) -> None:
    path = conf(tmp_path, f"PULSAR_PREFIX_{ENSEMBLE}=5\nPULSAR_PREFIX_{WRITE_QUORUM}=3\n{ENSEMBLE}=2\n")
    settings = read_settings(path)
    assert sizes(settings) == (5, 3, 2)
    assert settings.ledger.write_quorum.source == f"{path}:2"
    assert settings.notes == (f"{path}: read as the environment of an image, which takes PULSAR_PREFIX_ off",)


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(quorums(3, 3, 2).encode())))
    settings = read_settings(Path("-"))
    assert (sizes(settings), settings.ledger.ensemble.source) == ((3, 3, 2), "-:1")


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero"])
def test_what_never_ends_is_refused(device: str) -> None:
    assert "does not end within 64 MiB" in refusal(Path(device))


def test_what_a_pipe_has_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(quorums(3, 2, 2),))
    writer.start()
    assert sizes(read_settings(pipe)) == (3, 2, 2)
    writer.join()


@pytest.mark.parametrize("name", first_at_once(["election", "metadata_store", "ownership", "unload", "split"]))
@pytest.mark.parametrize(
    "size", ["ci", pytest.param("standard", marks=pytest.mark.long), pytest.param("deep", marks=pytest.mark.long)]
)
def test_no_protocol_is_passed_over_for_its_settings(tmp_path: Path, name: str, size: str) -> None:
    for unloads, policy, algorithm in itertools.product(("true", "false"), ("reconnect", "shutdown"), ALGORITHMS):
        text = f"{UNLOADS}={unloads}\n{SESSION_POLICY}={policy}\n{ALGORITHM}={algorithm}\n"
        cluster = read_settings(conf(tmp_path, text)).configuration()
        instances = PROTOCOLS[name].configured(cluster, size)
        assert instances
        taken = PROTOCOLS[name].taken(cluster, {})
        assert all(instance.parameters[key] == value for instance in instances for key, value in taken.items())
        for instance in instances:
            PROTOCOLS[name].outline(instance.parameters)


def test_an_ack_quorum_of_one_is_noted(tmp_path: Path) -> None:
    settings = read_settings(conf(tmp_path, quorums(3, 3, 1)))
    assert sizes(settings) == (3, 3, 1)
    (note,) = settings.ledger_notes
    assert "every bookie" in note
    assert "one lost disk" in note


def test_a_byte_order_mark_hides_the_first_key_as_it_does_for_java(tmp_path: Path) -> None:
    settings = read_settings(conf(tmp_path, b"\xef\xbb\xbf" + quorums(5, 2, 2).encode()))
    assert sizes(settings) == (2, 2, 2)
    assert any("byte order mark" in note for note in settings.notes)
    assert settings.ledger.ensemble.source == "Pulsar's default"


@pytest.mark.parametrize("text", ["+3", "03", "0003"])
def test_numbers_as_java_reads_them(tmp_path: Path, text: str) -> None:
    assert read_settings(conf(tmp_path, quorums(text, 2, 2))).ledger.ensemble.value == 3


@pytest.mark.parametrize("text", ["two", "2.0", "0x2", "2 bookies", "1_0", "--2", "${QUORUM}", "\u0662"])
def test_no_number(tmp_path: Path, text: str) -> None:
    path = conf(tmp_path, "# first\n" + quorums(2, text, 2))
    message = refusal(path)
    assert f"{path}:3: {WRITE_QUORUM} = " in message
    assert "not a whole number" in message


@pytest.mark.parametrize("text", ["0", "-1", "2147483648", "9" * 5000])
def test_out_of_range(tmp_path: Path, text: str) -> None:
    path = conf(tmp_path, quorums(2, 2, text))
    message = refusal(path)
    assert f"{path}:3: {ACK_QUORUM} = " in message
    assert "not from 1 to 2147483647" in message


@pytest.mark.parametrize(
    ("three", "smaller", "larger"), [((3, 2, 3), ACK_QUORUM, WRITE_QUORUM), ((2, 3, 2), WRITE_QUORUM, ENSEMBLE)]
)
def test_quorums_that_do_not_fit(tmp_path: Path, three: tuple[int, int, int], smaller: str, larger: str) -> None:
    path = conf(tmp_path, quorums(*three))
    message = refusal(path)
    assert f"{smaller} = 3 ({path}:" in message
    assert f"greater than {larger} = 2 ({path}:" in message
    assert f"lower {smaller}" in message


def test_a_quorum_above_a_default(tmp_path: Path) -> None:
    assert "Pulsar's default" in refusal(conf(tmp_path, f"{ACK_QUORUM}=3\n"))


def test_no_such_file(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "absent.conf")


def test_a_directory(tmp_path: Path) -> None:
    assert "is a directory" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "what"), [(b"", "is empty"), (b"\n \n", "is empty"), (b"# only\n", "only comments"), (b"\\u12=3", ":1: ")]
)
def test_nothing_in_it(tmp_path: Path, content: bytes, what: str) -> None:
    assert what in refusal(conf(tmp_path, content))


def test_no_plain_text(tmp_path: Path) -> None:
    path = conf(tmp_path, quorums(2, 2, 2).encode("utf-16"))
    assert "not plain text" in refusal(path)
