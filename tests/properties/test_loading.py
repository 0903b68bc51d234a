"""What is known by name is loaded when it is looked up."""

from __future__ import annotations

import pytest

from fencepost.properties.loading import Loaded


def test_each_is_loaded_once_and_names_load_nothing() -> None:
    loads: list[str] = []

    def load(name: str) -> str:
        loads.append(name)
        return name.upper()

    loaded = Loaded(["b", "a"], load)
    assert (list(loaded), len(loaded), "a" in loaded, "c" in loaded, loads) == (["b", "a"], 2, True, False, [])
    assert (loaded["a"], loaded["a"], loads) == ("A", "A", ["a"])
    assert (dict(loaded), loads) == ({"b": "B", "a": "A"}, ["a", "b"])
    with pytest.raises(KeyError):
        loaded["c"]
