# Every target sets up what it needs in .venv. PYTHON chooses the interpreter, ARGS is handed on:
#   make check ARGS="--conf /etc/pulsar/broker.conf"

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin

# Without the bytecode that is kept beside the sources each process would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help check explore test test-all test-rest deep docs conform bench clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' $(MAKEFILE_LIST)

# Where a known bug is the answer, status 14, that is no failure of make.
check: .venv/installed ## what an example configuration guarantees (ARGS: arguments of fencepost check, such as your own file)
	@$(BIN)/fencepost check $(or $(ARGS),--conf docs/examples/broker.conf) || { status=$$?; [ $$status = 14 ] || exit $$status; }

explore: .venv/installed-spark .venv/installed-plots ## explore a protocol on Spark (ARGS: arguments of fencepost explore)
	@$(BIN)/fencepost explore $(ARGS)

# Style and types are checked beside the tests; each failure is shown, and any of them fails the target.
define checked
@mkdir -p build; \
$(BIN)/ruff check . >build/style.txt 2>&1 & style=$$!; \
$(BIN)/mypy >build/types.txt 2>&1 & types=$$!; \
$(BIN)/pytest -n auto -m '$(1)' $(ARGS); tests=$$?; \
wait $$style; style=$$?; wait $$types; types=$$?; \
[ $$style = 0 ] || { cat build/style.txt; echo "style: ruff check fails"; }; \
[ $$types = 0 ] || { cat build/types.txt; echo "types: mypy fails"; }; \
exit $$((tests ? tests : style ? style : types))
endef

test: .venv/installed-dev ## style, types and the tests that need Python alone (ARGS: arguments of pytest)
	$(call checked,not deep and not later)

test-all: .venv/installed-dev ## style, types and all tests that do not take minutes (ARGS: arguments of pytest)
	$(call checked,not deep)

test-rest: .venv/installed-dev ## of these the ones that make test leaves out: real code, Spark, browsers, packages, documents
	@$(BIN)/pytest -n auto -m 'later and not deep' $(ARGS)

deep: .venv/installed-dev ## the tests that take minutes
	@$(BIN)/pytest -m deep $(ARGS)

docs: .venv/installed-dev ## the documentation as a site, build/site/index.html, with the runs of the findings to step through
	@$(BIN)/python docs/site/explorers.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "site: build/site/index.html"

conform: .venv/installed-dev ## replay the bugs of releases on their real code, and record that beside them (needs a JDK and Maven)
	@$(BIN)/fencepost conform bugs --record $(ARGS)

bench: .venv/installed-dev ## measure the kernel against plain Python on the same terms, what liveness takes, a simulated hour, shrinking, slices, what grows how, odds, states on disk and on two executors of Spark, a history, pages, steps of real code, whole commands, and TLC beside it
	@$(BIN)/python tests/bench/bench.py $(ARGS)
	@$(BIN)/python tests/bench/liveness.py
	@$(BIN)/python tests/bench/time_to_find.py
	@$(BIN)/python tests/bench/time_to_find.py --known-bugs
	@$(BIN)/python tests/bench/simulation.py
	@$(BIN)/python tests/bench/shrinking.py
	@$(BIN)/python tests/bench/slices.py
	@$(BIN)/python tests/bench/growth.py
	@$(BIN)/python tests/bench/odds.py
	@$(BIN)/python tests/bench/on_disk.py
	@$(BIN)/python tests/bench/executors.py
	@$(BIN)/python tests/bench/history.py
	@$(BIN)/python tests/bench/lemmas.py
	@$(BIN)/python tests/bench/page.py
	@$(BIN)/python tests/bench/conformance.py
	@$(BIN)/python tests/bench/whole_commands.py
	@$(BIN)/python tests/bench/against_tlc.py

clean: ## remove the environment and everything that was cached or built
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find model properties traces checks tests -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	@command -v "$(PYTHON)" >/dev/null || { echo "fencepost needs Python 3.11 or newer; '$(PYTHON)' is not found (choose one: make PYTHON=python3.12 ...)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fencepost needs Python 3.11 or newer; '$(PYTHON)' is older (choose another: make PYTHON=python3.12 ...)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "'$(PYTHON)' cannot make virtual environments; install its venv module (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "making .venv"
	@"$(PYTHON)" -m venv .venv

# The install is editable so that compiled loops stay cached beside their sources. Of the modules that it brings a fifth is ever
# loaded, and whoever loads one first compiles it.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable

.venv/installed: pyproject.toml | .venv/bin/python
	@echo "installing what checks need into .venv"
	@$(INSTALL) .
	@touch $@

EXTRAS := $(addprefix .venv/installed-,parquet spark plots odds second-solver hypothesis)

$(EXTRAS): .venv/installed-%: pyproject.toml | .venv/bin/python
	@echo "installing what the extra $* brings into .venv"
	@$(INSTALL) '.[$*]'
	@touch $@ .venv/installed

# Tests that run beside each other would each compile the loops, and the tests themselves: they are compiled here, once for all
# later processes, and the types of libraries are read. Two commands compile most loops, tests of the kernel and of averages the others; what
# any of this finds is for "make test" to say.
.venv/installed-dev: pyproject.toml | .venv/bin/python
	@echo "installing all dependencies and the tools of development into .venv"
	@$(INSTALL) '.[dev]'
	@echo "compiling the loops of the kernel"
	@$(BIN)/fencepost check metadata_store --quiet >/dev/null & \
	$(BIN)/fencepost check ledger --by walks --walks 100 --quiet >/dev/null; wait
	@$(BIN)/mypy >/dev/null & $(BIN)/pytest -q --collect-only >/dev/null & \
	$(BIN)/pytest -q -n auto -m 'not deep and not later' $(addprefix tests/model/,kernel/clause_tables $(patsubst %,kernel/search/test_%.py,collapsed pieces reach transitions) kernel/walks balance/simulation/test_records.py) >/dev/null; wait
	@touch $@ .venv/installed $(EXTRAS)
