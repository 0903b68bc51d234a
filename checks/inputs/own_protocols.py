"""Protocols of a user's own, taken from files of Python that the command line names."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from fencepost.checks.inputs.input_files import MOST_BY_HAND, InputError, Place, read_bytes
from fencepost.model.language import ModelError, Protocol
from fencepost.model.own_sources import run_code_of
from fencepost.properties.bug_files import unknown_names
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite

SUFFIX = ".py"
REMEDY = "write `-> Protocol` behind the function that builds it and `-> Suite` behind that of its properties, or make an Entry"


def is_own(name: str) -> bool:
    """Whether what is to be checked is a file of Python, and not the name of a protocol."""
    return name.endswith(SUFFIX)


def own_protocols(path: Path, taken: Collection[str]) -> list[Entry]:
    """The protocols of a file: its Entries or, if it has none, the one that it builds.

    That one is made by the function that is declared to return a Protocol, with the properties of the one that returns a Suite;
    its only instance, of size ``ci``, has the defaults of its parameters, which also show its bugs. Functions of the file
    itself come before those that it imports.

    Raises InputError, with the line, if the file cannot be executed or has no protocol, or one whose name is ``taken``;
    ModelError for a protocol that cannot be built.
    """
    module = _executed(path)
    entries = {value.name: value for value in vars(module).values() if isinstance(value, Entry)}
    chosen = list(entries.values()) or [_built_in(path, module)]
    for entry in chosen:
        if entry.name in taken:
            raise InputError(f"{path}: {entry.name} is the name of a protocol of Fencepost's; rename it", Place(path))
        if unknown := next(unknown_names(entry), ""):
            raise InputError(f"{path}: the bugs of {entry.name}: {unknown}", Place(path))
    return chosen


def _built_in(path: Path, module: ModuleType) -> Entry:
    function, suite = _only(path, module, Protocol), _only(path, module, Suite)
    name = function.__name__
    summary = (function.__doc__ or name).strip().splitlines()[0]
    sizes = {"ci": (Instance("as written", {}),)}
    bare = Entry(name=name, summary=summary, function=function, suite=suite, sizes=sizes)
    return replace(bare, bugs={bug: Bug() for bug in bare.outline({}).protocol.bugs})


def _executed(path: Path) -> ModuleType:
    """The file as a module, executed as Python executes a script: it can import what lies beside it.

    The file is read once. What it imports Python reads, and it can change what is loaded: nothing is stored in this process.
    """
    source = read_bytes(path, "a file of Python", MOST_BY_HAND)
    name = path.stem.replace(".", "_")  # with a dot it would be a name within a package, perhaps within ours
    spec = spec_from_file_location(name, path)
    assert spec is not None
    module = module_from_spec(spec)
    before, folder = sys.modules.get(name), str(path.resolve().parent)
    sys.modules[name] = module  # dataclasses look up the module of a class there
    sys.path.insert(0, folder)
    run_code_of(str(path))
    try:
        # the bytes that were read, and not the file again: it may have changed, and a pipe has nothing left
        exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    except ModelError:
        raise
    except (Exception, SystemExit) as error:
        place = Place(path, _line(path, error))
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InputError(f"{place}: {type(error).__name__}{': ' if message else ''}{message}", place) from error
    finally:
        sys.path.remove(folder)
        if before is not None:
            sys.modules[name] = before
    return module


def _line(path: Path, error: BaseException) -> int:
    """The line of the file from which an error comes; 0 if it is not from there."""
    own = (str(path), str(path.resolve()))
    if isinstance(error, SyntaxError) and error.filename in own:
        return error.lineno or 0
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename in own]
    return lines[-1] if lines else 0


T = TypeVar("T")


def _only(path: Path, module: ModuleType, kind: type[T]) -> Callable[..., T]:
    """The function that returns such a thing."""
    functions = {name: value for name, value in vars(module).items() if isfunction(value) and _returns(value, kind)}
    names = [name for name, value in functions.items() if value.__module__ == module.__name__] or list(functions)
    if len(names) != 1:
        what = f"several functions that return a {kind.__name__}: {', '.join(names)}" if names else f"no {kind.__name__}"
        remedy = "make an Entry of each" if names else REMEDY
        line = functions[names[1]].__code__.co_firstlineno if names else 0
        raise InputError(f"{path}: has {what}; {remedy}", Place(path, line))
    found: Callable[..., T] = functions[names[0]]  # what it returns is declared
    return found


def _returns(function: Callable[..., object], kind: type) -> bool:
    declared = signature(function).return_annotation
    return declared is kind or (isinstance(declared, str) and declared.rpartition(".")[2] == kind.__name__)
