# Every target installs what it needs; stamp files make later calls free. Reproducing needs no development tools.
PYTHON ?= python3
NEW_ENOUGH = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "vera needs Python 3.11 or newer; name one with make PYTHON=..."; exit 1; }
BIN := .venv/bin
SPACE := $(subst ,, )
STAMP := .venv/.installed-$(notdir $(PYTHON))
DEV := $(STAMP)-dev
PIP := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALL := $(BIN)/python $(PIP) --editable
# The packages that rendering needs: the extra `render` without the core. They get an environment of their own unless .venv exists.
LIST_RENDERERS := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["render"], sep="\n")
RENDER := $(if $(wildcard $(BIN)/vera),.venv,.venv-render)
RENDER_STAMP := $(if $(wildcard $(BIN)/vera),,.venv-render/.installed-$(notdir $(PYTHON)))
# Three on two cores: tests of the engine wait for Ray half of the time.
TESTS_AT_ONCE ?= 3
# Budgets: smoke (seconds), laptop (minutes on two cores), paper (the protocol of the paper, for a GPU cluster).
PROFILE ?= laptop
# Flags of the run, e.g. FLAGS='--address auto --gpus-per-trial 1'.
FLAGS ?=
# Flags of run and rendering, e.g. BOTH='--results-dir /shared/results --plugin my_method.py'.
BOTH ?=
FOR_BOTH = $(filter --results-dir% --dataset% --plugin%,$(FLAGS))
# The keys of a dictionary in a file that imports nothing, so no environment is needed.
ARTIFACTS := $(shell $(PYTHON) -c "import runpy; found = runpy.run_path('bench/paper/artifacts.py'); print(*(name for name in found['ARTIFACTS'] if name not in found['UNLISTED']))")
FIGURES := $(filter figure%,$(ARTIFACTS))
TABLES := $(filter table%,$(ARTIFACTS))

.DEFAULT_GOAL := help
.PHONY: help setup test stress lint check check-install release-check format reproduce-all reproduce-today figures report docs docs-check golden bench-step bench-engine bench-store clean

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'
	@printf '%-22s %s\n' '  make reproduce-NAME' 'run the missing trials of NAME, then render it; options: PROFILE=smoke, laptop or paper,' '' "FLAGS='...' for the run, BOTH='--results-dir DIR' (--dataset, --plugin) for both; NAME is one of:"
	@echo '$(TABLES) $(filter-out $(TABLES) $(FIGURES),$(ARTIFACTS)) figure1 to figure$(words $(FIGURES))' | fold -s -w 90 | sed -e 's/^/                       /' -e 's/ *$$//'

# Any other target.
.DEFAULT:
	@echo "There is no target $@.$(if $(filter $@,$(ARTIFACTS)), Did you mean reproduce-$@?) To see them: make help" >&2; exit 2

$(STAMP): pyproject.toml constraints.txt
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv --clear .venv
	$(INSTALL) '.[all]'
	@touch $@

$(DEV): $(STAMP)
	$(INSTALL) '.[dev]'
	@touch $@

.venv-render/.installed-%: pyproject.toml constraints.txt
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv --clear .venv-render
	$(PYTHON) -c '$(LIST_RENDERERS)' > .venv-render/requirements.txt
	.venv-render/bin/python $(PIP) --requirement .venv-render/requirements.txt
	@touch $@

setup: $(DEV)  ## create .venv and install the project with its development tools

test: $(DEV)  ## run the test suite
	$(BIN)/python -m pytest -n $(TESTS_AT_ONCE) --dist loadfile --no-loadscope-reorder

# Not part of `make test`: many minutes on two idle cores. COUNTS='--rounds 5' and LINES='--lines 100' make them shorter.
stress: $(DEV)  ## kill a run on Ray again and again, and run generated command lines; prints what went wrong
	export PYTHONPATH=$(subst $(SPACE),:,$(CURDIR) $(wildcard tests/helpers/*)); \
	$(BIN)/python tests/stress/fuzz_commands.py $(LINES) && $(BIN)/python tests/stress/kill_storm.py $(COUNTS)

lint: $(DEV)  ## run ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## lint and test

check-install:  ## check that the core alone can train and the extra render alone can render
	PYTHON=$(PYTHON) .ci/install

release-check: $(DEV)  ## check version, changelog and tree, build the wheel and install it in new environments
	$(BIN)/python .ci/release_check.py

golden: $(DEV)  ## write the golden files of the tests again: messages, help and the rendered golden store
	export PYTHONPATH=$(subst $(SPACE),:,$(wildcard tests/helpers/*)); \
	$(BIN)/python tests/helpers/bench/messages.py && $(BIN)/python tests/helpers/bench/bench_helpers.py

format: $(DEV)  ## reformat the code with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Both render also if a trial failed (exit code 1), but not if nothing could be run (2).
reproduce-all: $(STAMP)  ## run the missing trials of every table and figure, then render all of them and the report
	$(if $(FOR_BOTH),$(error FLAGS apply to the run only: pass $(FOR_BOTH) in BOTH='...', or other trials would be rendered))
	@$(BIN)/vera run all --profile $(PROFILE) $(BOTH) $(FLAGS); code=$$?; \
	test $$code -gt 1 || { $(BIN)/vera render all --quiet --profile $(PROFILE) $(BOTH) && $(BIN)/vera report $(BOTH); } || code=$$?; exit $$code

.PHONY: $(addprefix reproduce-,$(ARTIFACTS))
$(addprefix reproduce-,$(ARTIFACTS)): reproduce-%: $(STAMP)
	$(if $(FOR_BOTH),$(error FLAGS apply to the run only: pass $(FOR_BOTH) in BOTH='...', or other trials would be rendered))
	@$(BIN)/vera run $* --profile $(PROFILE) $(BOTH) $(FLAGS); code=$$?; \
	test $$code -gt 1 || $(BIN)/vera render $* --profile $(PROFILE) $(BOTH) || code=$$?; exit $$code

# The artifacts of bench/today, whose names have its prefix; figures come with their tables or show their trials.
TODAY := $(shell $(PYTHON) -c "import runpy; print(*runpy.run_path('bench/today/artifacts.py')['TABLES_TO_RUN'])")

reproduce-today: $(STAMP)  ## run the missing trials of the newer methods' tables, then render them
	$(if $(FOR_BOTH),$(error FLAGS apply to the run only: pass $(FOR_BOTH) in BOTH='...', or other trials would be rendered))
	@for name in $(TODAY); do $(BIN)/vera run today/$$name --profile $(PROFILE) $(BOTH) $(FLAGS) || test $$? -eq 1 || exit 2; done
	@$(BIN)/vera render $(addprefix today/,$(TODAY)) today/wall-clock --profile $(PROFILE) $(BOTH)

figures: $(RENDER_STAMP)  ## render every table and figure from the published Parquet files
	$(RENDER)/bin/python -m bench.cli render all --profile all --from published --quiet

report: $(STAMP)  ## write one self-contained HTML page of all results
	$(BIN)/vera report

# MkDocs prints an advertisement of its successor unless the variable is set.
docs: $(DEV)  ## write the generated parts of pages, then build the documentation site, build/site/index.html
	$(BIN)/vera docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

docs-check: $(DEV)  ## check that the generated parts are up to date, and every link of the site
	$(BIN)/vera docs --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --site-dir build/site-check

bench-step: $(STAMP)  ## time one training step of every method against its matrix products
	$(BIN)/vera perf step $(FLAGS)

bench-engine: $(STAMP)  ## measure the overhead of the sweep engine over plain Ray tasks
	$(BIN)/vera perf engine $(FLAGS)

bench-store: $(STAMP)  ## time list, status, plan, render, report and compaction with up to 100,000 made-up trials
	$(BIN)/vera perf store $(FLAGS)

clean:  ## remove environments and caches, not results
	rm -rf .venv .venv-render build dist .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache *.egg-info
