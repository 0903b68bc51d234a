"""The name that a choice among members has where it is none of them: nobody owns the bundle, nobody is connected."""

from __future__ import annotations

from typing import Literal

Nobody = Literal["nobody"]
NOBODY: Nobody = "nobody"
