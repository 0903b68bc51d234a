"""The shop, made again for each test, which adds to it."""

from __future__ import annotations

import pytest

from tests.model.language.shop import Shop


@pytest.fixture
def shop() -> Shop:
    return Shop()
