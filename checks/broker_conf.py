"""The ledger settings of a cluster, from the ``broker.conf`` of its brokers, as Pulsar itself takes them from there.

Mirrors PulsarConfigurationLoader and FieldParser of pulsar-broker-common: an integer is trimmed and read by
Integer.valueOf; a key that is absent or blank leaves the default of ServiceConfiguration.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from checks.properties_file import MalformedEscape, Setting, settings

ENSEMBLE = "managedLedgerDefaultEnsembleSize"
WRITE_QUORUM = "managedLedgerDefaultWriteQuorum"
ACK_QUORUM = "managedLedgerDefaultAckQuorum"
DEFAULTS = {ENSEMBLE: 2, WRITE_QUORUM: 2, ACK_QUORUM: 2}
LARGEST = 2**31 - 1
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ConfigurationError(Exception):
    """A configuration that cannot be used; the message names the file, the line, the key, its value and the remedy."""


@dataclass(frozen=True)
class Taken:
    """A number that was taken from a configuration, and from where: the file and line, or Pulsar's default."""

    key: str
    value: int
    source: str

    def __str__(self) -> str:
        return f"{self.key} = {self.value} ({self.source})"


@dataclass(frozen=True)
class LedgerSettings:
    """The sizes of a ledger's quorums, 1 <= ack quorum <= write quorum <= ensemble, and what the user should know of them."""

    ensemble: Taken
    write_quorum: Taken
    ack_quorum: Taken
    notes: tuple[str, ...]

    @property
    def parameters(self) -> dict[str, int]:
        """The settings as parameters of the ledger protocol."""
        taken = {"ensemble": self.ensemble, "write_quorum": self.write_quorum, "ack_quorum": self.ack_quorum}
        return {name: number.value for name, number in taken.items()}


def read_ledger_settings(path: Path) -> LedgerSettings:
    """The ledger settings in a ``broker.conf``.

    Raises ConfigurationError if there is no such file, or it is empty or no text, or a value is not a number from 1 to
    2^31 - 1, or the quorums do not fit each other.
    """
    data = _bytes(path)
    found = _settings(path, data)
    notes = []
    if data.startswith(BYTE_ORDER_MARK):
        notes.append(f"{path}:1: begins with a byte order mark, which Java takes for part of the first line; save it without")
    ensemble, write_quorum, ack_quorum = (_taken(path, key, found, notes) for key in DEFAULTS)
    _require_order(path, ack_quorum, write_quorum)
    _require_order(path, write_quorum, ensemble)
    if ack_quorum.value == 1:
        notes.append(
            f"{ack_quorum}: an acknowledged entry may be on one bookie only; recovery must then hear every bookie of its"
            " write set, and one lost disk loses entries"
        )
    return LedgerSettings(ensemble, write_quorum, ack_quorum, tuple(notes))


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise ConfigurationError(f"{path}: is a directory; give the broker.conf in it") from None
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such file; give the path of a broker.conf") from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror or error}") from error
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise ConfigurationError(f"{path}:{line}: is not plain text (a zero byte); save it as ASCII or UTF-8")
    return data


def _settings(path: Path, data: bytes) -> list[Setting]:
    try:
        found = settings(data)
    except MalformedEscape as error:
        raise ConfigurationError(f"{path}:{error.line}: {error}; double the backslash if it is meant as one") from error
    if not found:
        what = "has only comments and blank lines" if data.strip() else "is empty"
        raise ConfigurationError(f"{path}: {what}; give the broker.conf that the brokers start with")
    return found


def _taken(path: Path, key: str, found: list[Setting], notes: list[str]) -> Taken:
    given = [setting for setting in found if setting.key == key]
    if len(given) > 1:
        lines = ", ".join(str(setting.line) for setting in given)
        notes.append(f"{path}: {key} is set on lines {lines}; Java keeps the last, {given[-1].value!r}")
    if not given or not given[-1].value.strip():
        why = f"{path}:{given[-1].line} leaves it empty" if given else f"{path} does not set it"
        notes.append(f"{key}: {why}, so it is Pulsar's default, {DEFAULTS[key]}")
        return Taken(key, DEFAULTS[key], "Pulsar's default")
    text, source = given[-1].value.strip(), f"{path}:{given[-1].line}"
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ConfigurationError(f"{source}: {key} = {text!r} is not a whole number; {_remedy(key)}")
    digits = text.lstrip("+-").lstrip("0") or "0"
    if text.startswith("-") or digits == "0" or len(digits) > len(str(LARGEST)) or int(digits) > LARGEST:
        raise ConfigurationError(f"{source}: {key} = {text} is not from 1 to {LARGEST}; {_remedy(key)}")
    return Taken(key, int(digits), source)


def _remedy(key: str) -> str:
    return f"write the number of bookies, such as {key}={DEFAULTS[key]}"


def _require_order(path: Path, smaller: Taken, larger: Taken) -> None:
    if smaller.value > larger.value:
        raise ConfigurationError(
            f"{path}: {smaller} is greater than {larger}; lower {smaller.key} to at most {larger.value}"
            f" or raise {larger.key} to at least {smaller.value}"
        )
