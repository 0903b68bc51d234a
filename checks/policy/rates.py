"""Recorded rates, as a table: from which minute on which topic carries what."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from fencepost.checks.inputs.input_files import InputError, read_text
from fencepost.model.balance.simulation.recording import Recording, namespace_of_topic

WHERE = ("minute", "topic")
RATES = ("msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut")
MOST = 50_000_000
"""Numbers that a recording may have when it is laid out: topics times minutes at which something changes, times four."""


def read_rates(path: Path) -> Recording:
    """The recording in a file of comma-separated values with a header; raises InputError.

    A rate that has no column is 0. A topic has the rates of its last row before a minute, and none before its first.
    """
    table = csv.DictReader(io.StringIO(read_text(path, "a table of recorded rates"), newline=""), skipinitialspace=True)
    rows: dict[tuple[int, str], tuple[int, list[float]]] = {}
    try:
        columns = [name for name in RATES if name in (table.fieldnames or ())]
        if not columns or not set(WHERE) <= set(table.fieldnames or ()):
            raise InputError(f"{path}:1: the header needs minute, topic and at least one of {', '.join(RATES)}")
        for row in table:
            where = f"{path}:{table.line_num}"
            key = (_minute(where, row["minute"]), _topic(where, row["topic"]))
            if key in rows:
                raise InputError(f"{where}: {key[1]} has rates of minute {key[0]} on line {rows[key][0]} already")
            rows[key] = table.line_num, [_rate(where, name, row[name]) if name in columns else 0.0 for name in RATES]
    except csv.Error as error:
        raise InputError(f"{path}: is not a table of comma-separated values: {error}") from None
    if not rows:
        raise InputError(f"{path}: has no rows below its header; give a row for each topic")
    return _laid_out(path, {key: rates for key, (_, rates) in rows.items()})


def _laid_out(path: Path, rows: dict[tuple[int, str], list[float]]) -> Recording:
    """Every topic at every minute at which something changes."""
    minutes = sorted({minute for minute, _ in rows})
    topics = list(dict.fromkeys(topic for _, topic in rows))
    if len(minutes) * len(topics) * len(RATES) > MOST:
        raise InputError(
            f"{path}: {len(topics):,} topics that change at {len(minutes):,} minutes are too many; record fewer minutes"
        )
    place = {topic: number for number, topic in enumerate(topics)}
    when = {minute: number for number, minute in enumerate(minutes)}
    rates = np.full((len(minutes), len(RATES), len(topics)), math.nan)
    for (minute, topic), values in rows.items():
        rates[when[minute], :, place[topic]] = values
    rates[0] = np.nan_to_num(rates[0])
    for number in range(1, len(minutes)):
        rates[number] = np.where(np.isnan(rates[number]), rates[number - 1], rates[number])
    return Recording(tuple(topics), tuple(minutes), rates)


def _minute(where: str, text: str | None) -> int:
    if text is None or not text.strip().isdecimal():
        raise InputError(f"{where}: minute is {text!r}; it must be a whole number from 0")
    return int(text)


def _topic(where: str, text: str | None) -> str:
    name = (text or "").strip()
    if "://" not in name or namespace_of_topic(name).count("/") != 1 or name.count("/") < 4:
        raise InputError(f"{where}: topic is {name!r}; write a full name, such as persistent://public/default/orders")
    return name


def _rate(where: str, column: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InputError(f"{where}: {column} is {text!r}; it must be a number from 0")
    return value
