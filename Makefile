# `make demo` and `make test` are all that a newcomer needs: each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST_OPTIONS := --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 25

.DEFAULT_GOAL := help
.PHONY: help setup demo test coverage check bench format clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-8s %s\n", $$1, $$2}'

$(READY): pyproject.toml deploy/constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint deploy/constraints.txt --editable '.[dev]'
	$(BIN)/python -m agrajag.embedded prepare
	@touch $@

setup: $(READY)  ## make the environment: pip fetches the store, "prepare" fetches Kafka

demo: $(READY)  ## errors in, verdicts out, books checked, on this machine alone
	$(BIN)/agrajag demo

test: $(READY)  ## all tests, on a real Kafka and a real store
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

coverage: $(READY)  ## all tests, and which lines they reach: 85 of 100 or more; takes half as long again
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PYTEST_OPTIONS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

check: $(READY)  ## style, types, import directions, schemas as the code has them
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m agrajag.schemas check schemas

bench: $(READY)  ## ratios measured in one run, to .bench/results.json
	$(BIN)/python -m tests.bench

format: $(READY)  ## apply the style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove what the other targets made
	rm -rf $(VENV) .agrajag .bench .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
