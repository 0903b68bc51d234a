"""A headless Chromium to click through the explorer's pages with, driven by Selenium.

Selenium, because Debian's chromium-driver always fits Debian's chromium; Playwright would bring a browser of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.traces.explorer.opened import missing


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser, with a window of 1280 by 800."""
    from selenium import webdriver

    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        missing()
        return
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,800"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to run as root with it
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as running:
        yield running


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the pages are written to."""
    return tmp_path_factory.mktemp("pages")
