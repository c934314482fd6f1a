# Every target sets itself up: the stamp file makes the second call cost nothing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed-$(notdir $(PYTHON))

.DEFAULT_GOAL := help
.PHONY: help setup test lint check format bench-step clean

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "vera needs Python 3.11 or newer; name one with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

setup: $(STAMP)  ## create .venv and install the project with its development tools

test: $(STAMP)  ## run the test suite
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)  ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## the gate: lint and test

format: $(STAMP)  ## let ruff reformat the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench-step: $(STAMP)  ## time one training step of every method against its matrix products
	$(BIN)/python -m bench.step

clean:  ## remove .venv and caches (results stay)
	rm -rf .venv build .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache *.egg-info
