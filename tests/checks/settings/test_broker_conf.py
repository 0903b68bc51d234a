"""broker.conf: what is taken from where, and every way in which a configuration is refused."""

import random
from pathlib import Path

import pytest

from fencepost.checks.settings.conf_instances import Settings, read_settings
from fencepost.checks.settings.input_files import InputError
from fencepost.checks.settings.ledger_settings import ACK_QUORUM, ENSEMBLE, WRITE_QUORUM


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
    assert settings.ledger.parameters == {"ensemble": 5, "write_quorum": 3, "ack_quorum": 2}
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
        f"{ACK_QUORUM}: {path} does not set it, so it is Pulsar's default, 2",
    )


def test_the_last_of_duplicates_wins_and_is_said(tmp_path: Path) -> None:
    settings = read_settings(conf(tmp_path, quorums(3, 3, 2) + f"{ENSEMBLE}=x\n{ENSEMBLE}=4\n"))
    assert sizes(settings) == (4, 3, 2)
    assert any("lines 1, 4, 5" in note and "'4'" in note for note in settings.ledger_notes)


def test_an_ack_quorum_of_one_is_noted(tmp_path: Path) -> None:
    settings = read_settings(conf(tmp_path, quorums(3, 3, 1)))
    assert sizes(settings) == (3, 3, 1)
    (note,) = settings.ledger_notes
    assert "every bookie" in note
    assert "one lost disk" in note


def test_a_byte_order_mark_hides_the_first_key_as_it_does_for_java(tmp_path: Path) -> None:
    settings = read_settings(conf(tmp_path, b"\xef\xbb\xbf" + quorums(5, 2, 2).encode()))
    assert sizes(settings) == (2, 2, 2)
    assert any("byte order mark" in note for note in settings.ledger_notes)
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
