"""A clean environment: the wheel as pip installs it, the packages that it asks for, and nothing else, not even this clone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("model", "properties", "traces", "checks")
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "fencepost", *FLOORS)


def without_paths() -> dict[str, str]:
    """This environment's variables except for Python's own and pytest's.

    A Spark session of an earlier test puts this clone on ``PYTHONPATH``, and pip takes what it finds there for installed.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}


def copied(folder: Path) -> Path:
    """A copy of what the package is made of, its links kept as links; building writes beside the sources."""
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def built(kind: str, sources: Path, folder: Path) -> Path:
    """What setuptools makes of the sources: a ``wheel`` or an ``sdist``."""
    script = f"import sys, setuptools.build_meta as backend; backend.build_{kind}(sys.argv[1])"
    command = [sys.executable, "-c", script, folder]
    subprocess.run(command, cwd=sources, env=without_paths(), check=True, capture_output=True)
    (archive,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return archive


@dataclass(frozen=True)
class Environment:
    """A virtual environment, by its Python."""

    python: Path

    def run(self, *arguments: str | Path, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs Python in a folder, with no path but its own."""
        return subprocess.run(
            [self.python, *arguments],
            cwd=folder,
            env={**without_paths(), "COLUMNS": "120", **variables},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )


def environment(folder: Path, wheel: Path, *, beside: Sequence[str] = ()) -> Environment:
    """An environment with a wheel and all that it requires without its extras; ``beside`` are further packages.

    What they require is linked from the environment that runs the tests, package by package, so that what is not declared is
    not there.
    """
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    target = Environment(folder / "bin" / "python")
    site = Path(target.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder).stdout.strip())
    for package in _required([*_requires(wheel), *beside]):
        for name in {file.parts[0] for file in package.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (site / name).symlink_to(Path(str(package.locate_file(name))))
    pip = [sys.executable, "-m", "pip", "--python", target.python, "install", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-index", "--no-deps", "--no-compile", wheel]
    subprocess.run(command, env=without_paths(), check=True, capture_output=True)
    return target


def _requires(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return PathDistribution(zipfile.Path(archive, about.removesuffix("METADATA"))).requires or []


def _required(requirements: Iterable[str]) -> list[Distribution]:
    """The installed packages that requirements lead to, extras only where one asks for them."""
    packages: dict[str, Distribution] = {}
    waiting, seen = [(Requirement(text), "") for text in requirements], set[str]()
    while waiting:
        wanted, extra = waiting.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(wanted.name)
        package = packages.setdefault(name, distribution(wanted.name))
        for asked in {"", *wanted.extras}:
            if f"{name}[{asked}]" not in seen:
                seen.add(f"{name}[{asked}]")
                waiting += [(Requirement(text), asked) for text in package.requires or ()]
    return list(packages.values())
