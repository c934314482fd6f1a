# Every target sets itself up: the stamp files make the second call cost nothing. Reproducing needs no development tools.
PYTHON ?= python3
NEW_ENOUGH = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "vera needs Python 3.11 or newer; name one with make PYTHON=..."; exit 1; }
BIN := .venv/bin
STAMP := .venv/.installed-$(notdir $(PYTHON))
DEV := $(STAMP)-dev
PIP := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALL := $(BIN)/python $(PIP) --editable
# Rendering needs no more than these: in an environment of their own, unless there is the whole one.
RENDERERS := numpy pyarrow matplotlib rich
RENDER := $(if $(wildcard $(BIN)/vera),.venv,.venv-render)
RENDER_STAMP := $(if $(wildcard $(BIN)/vera),,.venv-render/.installed-$(notdir $(PYTHON)))
# Three on two cores: half of its time a test of the engine waits for Ray.
TESTS_AT_ONCE ?= 3
# Budgets: smoke (seconds), laptop (minutes on two cores), paper (the paper's own; for a GPU cluster).
PROFILE ?= laptop
# More for the run, e.g. FLAGS='--address auto --gpus-per-trial 1'.
FLAGS ?=
# What run and rendering must both know, e.g. BOTH='--results-dir /shared/results --plugin my_method.py'.
BOTH ?=
FOR_BOTH = $(filter --results-dir% --dataset% --plugin%,$(FLAGS))
ARTIFACTS := table2 table3 table4 table5 table6 table8 table9 table10 table-fid $(addprefix figure,$(shell seq 27)) \
	classes drift modes outliers reliability speed stability

.DEFAULT_GOAL := help
.PHONY: help setup test lint check format figures report bench-step bench-engine clean

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'
	@printf '%-22s %s\n' '  make reproduce-NAME' 'run what is missing of NAME, then render and print it; more: PROFILE=smoke, laptop or paper,' '' "FLAGS='...' for the run alone, BOTH='--results-dir DIR' (--dataset, --plugin) for both; NAME is one of:"
	@echo '$(filter-out figure%,$(ARTIFACTS)) figure1 to figure27' | fold -s -w 90 | sed -e 's/^/                       /' -e 's/ *$$//'

# Whatever has no rule of its own.
.DEFAULT:
	@echo "There is no target $@.$(if $(filter $@,$(ARTIFACTS)), Did you mean reproduce-$@?) To see them: make help" >&2; exit 2

$(STAMP): pyproject.toml constraints.txt
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv --clear .venv
	$(INSTALL) .
	@touch $@

$(DEV): $(STAMP)
	$(INSTALL) '.[dev]'
	@touch $@

.venv-render/.installed-%: constraints.txt
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv --clear .venv-render
	.venv-render/bin/python $(PIP) $(RENDERERS)
	@touch $@

setup: $(DEV)  ## create .venv and install the project with its development tools

test: $(DEV)  ## run the test suite
	$(BIN)/python -m pytest -n $(TESTS_AT_ONCE) --dist worksteal

lint: $(DEV)  ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## the gate: lint and test

format: $(DEV)  ## let ruff reformat the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Rendered also where a trial ended in error (1), not where the run could not be done (2).
.PHONY: $(addprefix reproduce-,$(ARTIFACTS))
$(addprefix reproduce-,$(ARTIFACTS)): reproduce-%: $(STAMP)
	$(if $(FOR_BOTH),$(error FLAGS are for the run alone: give $(FOR_BOTH) in BOTH='...', or other trials would be rendered))
	@$(BIN)/vera run $* --profile $(PROFILE) $(BOTH) $(FLAGS); code=$$?; \
	test $$code -gt 1 || $(BIN)/vera render $* --profile $(PROFILE) $(BOTH) || code=$$?; exit $$code

figures: $(RENDER_STAMP)  ## render every table and figure again from the Parquet that ships
	$(RENDER)/bin/python -m bench.cli render all --profile all --from published --quiet

report: $(STAMP)  ## one self-contained HTML page of all results
	$(BIN)/vera report

bench-step: $(STAMP)  ## time one training step of every method against its matrix products
	$(BIN)/vera perf step $(FLAGS)

bench-engine: $(STAMP)  ## what the sweep engine costs a trial, against plain Ray tasks
	$(BIN)/vera perf engine $(FLAGS)

clean:  ## remove environments and caches (results stay)
	rm -rf .venv .venv-render build .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache *.egg-info
