"""What a type checker says of protocols: of what is wrong in each line that says so, and of nothing else."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROTOCOL = '''
from typing import Literal, get_args

from fencepost.model.language import *
from fencepost.properties.vocabulary import Leads, Suite

Role = Literal["idle", "leading"]
ROLES: tuple[Role, ...] = get_args(Role)
Door = Literal["open", "shut"]
DOORS: tuple[Door, ...] = get_args(Door)

p = Protocol("shop")
broker = p.universe("broker", 3)
thing = p.universe("thing", 2)
role = p.choice("role", ROLES, per=broker)
door = p.choice("door", DOORS)
other = p.choice("other", DOORS)
NOBODY: Literal["nobody"] = "nobody"
owner = p.choice("owner", broker, none=NOBODY)
price = p.number("price", 0, 3)
fee = p.number("fee", 0, 3, per=(broker, thing))
up = p.flag("up", per=broker)
shelf = p.subset("shelf", thing)


class ShopVariables(Variables):
    role: Family[Choice[Role]]
    door: Choice[Door]
    price: Number


# --- conditions
good = [role[0] == "leading", door != "shut", role[0] == role[1], door.among("open", "shut"), owner == 1, owner == NOBODY]
good += [price == 2, price < fee[0, 1], price + 1 >= 2, 2 > price]
good += [shelf.has(1), shelf == [0], up[0] == up[1], up[0] & (price > 1)]
also: list[Condition] = [And(up[0], True), Or(*good), Not(door == "open"), all_of(up[b] for b in broker), at_least(2, up)]
Not(role[0] == "leding")  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
Not(door != "ajar")  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
door.among("open", "ajar")  # refused: Argument 2 to "among"
Not(price == door)  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
Not(door == price)  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
Not(price == "much")  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
Not(price == up[0])  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
door < "open"  # refused: Unsupported
Not(role[0] == door)  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
Not(owner == "somebody")  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
Not(shelf == 3)  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
shelf + 1  # refused: Unsupported operand types for +
And(price, up[0])  # refused: Argument 1 to "And"
Not(door)  # refused: Argument 1 to "Not"
Implies(up[0], "leading")  # refused: Argument 2 to "Implies"
all_of(role[b] for b in broker)  # refused: Generator has incompatible item type
Not(up == True)  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
Or(up, up[0])  # refused: Argument 1 to "Or"
maximum(price, door)  # refused: No overload variant of "maximum"

# --- values
number: Number = If(up[0], price, 1)
name: Choice[Door] = If(up[0], door, "shut")
name = If(up[0], door, other)
members: Subset = If(up[0], shelf, [1])
If(up[0], door, role[0])  # refused: Cannot infer value of type parameter "E" of "If"
If(up[0], door, "ajar")  # refused: Cannot infer value of type parameter "E" of "If"
If(price, 1, 2)  # refused: No overload variant of "If"
If(up[0], price, door)  # refused: No overload variant of "If"
p.choice("wrong", [1, 2])  # refused: Value of type variable "W" of "choice"


# --- actions
@p.step(by="b", b=broker)
def leads(b: int) -> Outcome:
    """A broker leads."""
    return And(up[b], role[b] == "idle"), {role[b]: "leading", price: price + 1}


@p.step(by="b", b=broker)
def several(b: int) -> Outcome:
    """Several things happen."""
    return up[b], {role[b]: "idle"}, either(price > 1, {price: 0}, {door: "open"})


@p.step(by="b", b=broker)
def swapped(b: int) -> Outcome:
    """Updates come before the guard."""
    return {role[b]: "idle"}, up[b]  # refused: Incompatible return value type


@p.step(by="b", b=broker)
def tuple_for_dict(b: int) -> Outcome:
    """A pair stands for an update."""
    return up[b], (role[b], "idle")  # refused: Incompatible return value type


@p.step(by="b", b=broker)
def forgets(b: int) -> Outcome:
    """There is no guard."""
    return {role[b]: "idle"}  # refused: Incompatible return value type


@p.step(by="b", b=broker)  # refused: Value of type variable "F"
def number_for_guard(b: int) -> Number:
    """A number is no outcome."""
    return price


# --- properties
suite = Suite(p)
s, n = ShopVariables.of(p)


@suite.always
def known_names() -> Condition:
    """Variables are known by name and sort."""
    return And(s.role[0] == "idle", s.door == n.door, s.price <= n.price)


@suite.leads_to
def ends() -> Leads:
    """It ends."""
    return True, s.role[0] == "leading"


@suite.always  # refused: Value of type variable "F"
def no_formula() -> Number:
    """A number is no formula."""
    return s.price


s.rolle[0] == "idle"  # refused: has no attribute "rolle"
Not(s.role[0] == n.door)  # refused: Argument 1 to "Not" has incompatible type "OfOtherSort"
'''


@pytest.mark.long
def test_a_type_checker_refuses_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text(PROTOCOL)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--hide-error-context",
        "--cache-dir",
        ".mypy_cache",
    ]
    run = subprocess.run([*command, "--follow-imports", "silent", str(path)], capture_output=True, text=True, check=False)
    told = re.findall(r"shop\.py:(\d+): error: (.*)", run.stdout)
    lines = PROTOCOL.splitlines()
    found: dict[int, str] = {}
    for number, message in told:
        found[int(number)] = f"{found.get(int(number), '')} {message}"
    expected = {number: line.partition("# refused: ")[2] for number, line in enumerate(lines, 1) if "# refused: " in line}
    assert run.returncode == 1, run.stderr
    assert {n: found.get(n, "") for n in expected | found if expected.get(n, "nothing") not in found.get(n, "")} == {}
