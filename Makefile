# Every target creates what it needs: the environment in .venv, installed once from requirements.lock.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input install
HOUSE := nacre ingestion tools agents graph evaluation
# tests run in two processes, each with its own servers and graphs; make test SPREAD= uses one process
SPREAD ?= --numprocesses 2 --dist loadfile
export LANGSMITH_TRACING ?= false
# compiled files are kept, whatever the surroundings say: processes that tests start begin in half the time
export PYTHONDONTWRITEBYTECODE =

.PHONY: all check test demo e2e e2e-full dev eval bench bench-guard soak fmt lock clean

all: check test

.venv/nacre.stamp: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Nacre needs Python 3.11 or newer; this is $$($(PYTHON) --version). Run: make PYTHON=python3.11" >&2; exit 2; }
	@test -x $(BIN)/python || { echo "==> making .venv with $$($(PYTHON) --version)"; $(PYTHON) -m venv .venv; }
	@echo "==> installing Nacre and its dependencies into .venv (a minute or two)"
	@$(PIP) --constraint requirements.lock --editable '.[bundled]'
	@touch $@

.venv/dev.stamp: .venv/nacre.stamp
	@echo "==> installing the tools for tests and checks into .venv"
	@$(PIP) --constraint requirements.lock --editable '.[bundled,dev]'
	@touch $@

check: .venv/dev.stamp
	@echo "==> ruff";         $(BIN)/ruff check . && $(BIN)/ruff format --check --quiet .
	@echo "==> mypy";         $(BIN)/mypy
	@echo "==> import lint";  $(BIN)/lint-imports
	@echo "==> codespell";    $(BIN)/codespell

test: .venv/dev.stamp
	@echo "==> unit and integration tests, and the examples in docstrings"
	@$(BIN)/python -m pytest $(SPREAD) --no-loadscope-reorder --doctest-modules $(HOUSE) tests/unit tests/integration tests/repository

demo: .venv/nacre.stamp
	@echo "==> ingesting examples/bmw/kg.ttl as graph 'bmw'"
	@$(BIN)/nacre ingest examples/bmw/kg.ttl --graph bmw
	@echo "==> a conversation of five turns"
	@$(BIN)/nacre chat --graph bmw --timings < examples/bmw/conversation.txt
	@echo "==> now ask your own: .venv/bin/nacre chat --graph bmw"

# a browser, and a server of SPARQL endpoints
E2E_PROGRAMS := chromium virtuoso-t isql-vt
e2e: .venv/dev.stamp
	@missing="$$(for each in $(E2E_PROGRAMS); do command -v $$each >/dev/null || echo $$each; done | xargs)"; \
		test -z "$$missing" || { echo "make e2e needs $$missing." \
			"On Debian, run: apt-get install chromium virtuoso-opensource" >&2; exit 2; }
	@echo "==> end-to-end tests: started servers, the real command line"
	@$(BIN)/python -m pytest $(SPREAD) --no-loadscope-reorder tests/e2e

# what installs packages: clients from npm (needs node), archives in every Python at hand, the steps of the Dockerfile
e2e-full: e2e
	@echo "==> end-to-end tests with clients from npm, database servers and clean environments"
	@$(BIN)/python -m pytest tests/e2e_full

dev: .venv/dev.stamp
	$(BIN)/langgraph dev --no-browser --no-reload --port 2124

# with your own graphs: make eval MORE="mine=my-questions.jsonl"
eval: .venv/nacre.stamp
	@$(BIN)/python -m evaluation $(MORE)

bench: .venv/dev.stamp
	@$(BIN)/python -m benchmarks

# work that is counted, and processor time; figures only go down (benchmarks/guard.json)
bench-guard: .venv/dev.stamp
	@$(BIN)/python -m benchmarks.guard

soak: .venv/dev.stamp
	@$(BIN)/python -m benchmarks.soak_kill 50
	@$(BIN)/python -m benchmarks.load 120
	@$(BIN)/python -m benchmarks.load 60 --closed
	@$(BIN)/python -m benchmarks.soak_clients 1800
	@$(BIN)/python -m benchmarks.abuse
	@$(BIN)/python -m benchmarks.fuzz --seconds 600

fmt: .venv/dev.stamp
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock:
	@uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
		--no-emit-index-url --no-header --no-annotate --quiet --output-file requirements.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .langgraph_api
