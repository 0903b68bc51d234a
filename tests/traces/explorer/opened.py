"""A page that is open in a browser, as its reader sees it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

NEEDED = "clicking through the explorer needs Chromium and its driver (Debian, Ubuntu: apt install chromium chromium-driver)"

PATIENCE = 120
"""Seconds after which what a page should show is not waited for any longer, on a machine however slow."""


def missing(needed: str = NEEDED) -> NoReturn:
    """There is no browser: a reason to skip at home, a failure where the suite has to be complete."""
    if os.environ.get("CI"):
        pytest.fail(needed)
    pytest.skip(needed)


class Page:
    """The explorer, opened from disk, at an address that may lead to a step."""

    def __init__(self, browser: Any, path: Path, fragment: str = "") -> None:
        self.browser = browser
        browser.set_window_size(1280, 800)
        browser.get("about:blank")
        browser.get(path.as_uri() + fragment)

    def press(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def one(self, selector: str) -> Any:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements(By.CSS_SELECTOR, selector))

    def click(self, selector: str) -> None:
        self.one(selector).click()

    def text(self, selector: str) -> str:
        return str(self.one(selector).text)

    def texts(self, selector: str) -> list[str]:
        return [str(element.text) for element in self.all(selector)]

    def run(self, script: str) -> Any:
        return self.browser.execute_script(script)

    @property
    def fragment(self) -> str:
        return str(self.run("return location.hash"))

    @property
    def chosen(self) -> str:
        """The label of the row that is chosen, found the way a screen reader does."""
        row = self.one("#timeline").get_attribute("aria-activedescendant")
        assert self.one(f"#{row}").get_attribute("aria-selected") == "true"
        assert len(self.all("[role=option][aria-selected=true]")) == 1
        return " ".join(self.texts(f"#{row} .label"))

    @property
    def labels(self) -> list[str]:
        return self.texts("#timeline .row .label")

    def word_of(self, name: str) -> str:
        """What is said of a property at this step."""
        return self.text(f'details[data-name="{name}"] summary .word')

    def variable(self, name: str) -> str:
        """The value of a variable, as its row in the table has it."""
        return " | ".join(self.texts(f'tr[data-variable="{name}"] td:not(.mark)'))

    @property
    def marked(self) -> list[str]:
        """The variables that are marked in the table."""
        return [str(row.get_attribute("data-variable")) for row in self.all("#state tr.marked")]

    def await_announcement(self, wanted: str) -> None:
        """Waits until that is what a screen reader is told."""
        self.wait(lambda: self.one("#live").get_attribute("textContent") == wanted)

    def wait(self, condition: Callable[[], Any]) -> Any:
        """Waits until that is so; returns what it says then."""
        return WebDriverWait(self.browser, PATIENCE).until(lambda _: condition())

    def errors(self) -> list[str]:
        """What the browser complains of."""
        return [entry["message"] for entry in self.browser.get_log("browser")]
