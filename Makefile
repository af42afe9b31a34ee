# Every developer verb. `make help` lists them.
SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ORACLE ?= .oracle
ORACLE_SYNTHESIS ?= .oracle-synthesis
WORKERS ?= 2
SOLVER_SUITES := tests/unit/disclosure tests/property/test_cell_suppression.py tests/property/test_cell_suppression_linked.py \
	tests/property/test_cell_suppression_optimum.py tests/property/test_risk_measures.py tests/reference/test_arx_cell_suppression.py

.DEFAULT_GOAL := help
.PHONY: help demo test test-plain test-slow wheel test-oracle test-oracle-synthesis lint format bench golden reports constraints clean

help: ## list the verbs
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# Two stamps in one virtual environment: what a run needs, and what the tests need on top. Each set is pinned with hashes.
$(VENV)/.run: constraints/run.txt pyproject.toml setup.py $(wildcard privrelease/loops/source/*.[ch])
	@test -x $(BIN)/python || { $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "privrelease needs Python 3.11 or later: make PYTHON=python3.11 …" >&2; exit 3; }; echo "making a virtual environment in $(VENV)" >&2; $(PYTHON) -m venv $(VENV); }
	$(BIN)/python ci/install.py constraints/run.txt --package
	@touch $@

$(VENV)/.dev: $(VENV)/.run constraints/dev.txt
	$(BIN)/python ci/install.py constraints/dev.txt
	@touch $@

demo: $(VENV)/.run ## set up, protect and report the example registry (and the census where its data is found)
	$(BIN)/python -m privrelease.examples.demo

test: $(VENV)/.dev ## set up and run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-plain: $(VENV)/.dev ## the solver suites on the plain loops, as where no C compiler was found
	PRIVRELEASE_LOOPS=plain $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(SOLVER_SUITES)

wheel: $(VENV)/.dev ## build the wheel into dist/; fails where the extension cannot be built
	rm -rf dist build
	PRIVRELEASE_BUILD_LOOPS=required $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/python -c 'import sys, zipfile; names = zipfile.ZipFile(sys.argv[1]).namelist(); sys.exit(not any("loops/compiled" in name for name in names if not name.endswith(".pyi")) and "the wheel lacks the extension")' dist/privrelease-*.whl

test-slow: $(VENV)/.dev ## the slow lane: sweeps whole, and large data
	PRIVRELEASE_TESTS=whole $(BIN)/python -m pytest -m "slow or sweep"

# Anonymeter pins what we have newer: it never shares an environment with us. Of its libraries one suite loads a few: what it loads is compiled then.
$(ORACLE)/.ready: constraints/oracle.txt
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r constraints/oracle.txt
	@touch $@

test-oracle: $(VENV)/.dev $(ORACLE)/.ready ## compare attacks with Anonymeter, in an environment of its own
	PRIVRELEASE_ORACLE=$(abspath $(ORACLE))/bin/python $(BIN)/python -m pytest tests/reference/test_anonymeter.py

# mbi and khiops need a newer numpy than Anonymeter, and bring 1 GB: not part of the gate, which compares with their recorded figures.
$(ORACLE_SYNTHESIS)/.ready: constraints/oracle_synthesis.txt
	$(PYTHON) -m venv $(ORACLE_SYNTHESIS)
	$(ORACLE_SYNTHESIS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints/oracle_synthesis.txt
	@touch $@

test-oracle-synthesis: $(VENV)/.dev $(ORACLE_SYNTHESIS)/.ready ## compare synthesis with mbi and khiops, in an environment of their own (minutes)
	PRIVRELEASE_ORACLE_SYNTHESIS=$(abspath $(ORACLE_SYNTHESIS))/bin/python $(BIN)/python -m pytest tests/reference/test_mbi.py tests/reference/test_modl_on_adult.py

lint: $(VENV)/.dev ## formatting, lint rules, types, import contracts, what must not stand in the repository
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows ci/github/privrelease.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci ci/gitlab/privrelease.gitlab-ci.yml
	$(BIN)/python ci/forbidden.py

format: $(VENV)/.dev ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## print the benchmark table (ratios against named peers and raw queries)
	$(BIN)/python benchmarks/table.py

golden: $(VENV)/.dev ## write the golden files anew, and render reports/ from its audits; review them as a diff
	$(BIN)/python -m pytest -q tests/golden --update-golden

reports: $(VENV)/.dev ## run the examples and make reports/ anew (needs the census data)
	$(BIN)/python -m privrelease.examples.reports

constraints: ## resolve the pinned versions anew (needs pip-tools)
	CUSTOM_COMPILE_COMMAND="make constraints" pip-compile --quiet --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --strip-extras --generate-hashes --allow-unsafe --extra dev --constraint constraints/limits.in --output-file constraints/dev.txt pyproject.toml
	CUSTOM_COMPILE_COMMAND="make constraints" pip-compile --quiet --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --strip-extras --generate-hashes --allow-unsafe --constraint constraints/dev.txt --output-file constraints/run.txt pyproject.toml constraints/build.in
	CUSTOM_COMPILE_COMMAND="make constraints" pip-compile --quiet --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --strip-extras --generate-hashes --allow-unsafe --output-file constraints/oracle.txt constraints/oracle.in
	CUSTOM_COMPILE_COMMAND="make constraints" pip-compile --quiet --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --strip-extras --generate-hashes --allow-unsafe --output-file constraints/oracle_synthesis.txt constraints/oracle_synthesis.in

clean: ## remove what was built, not what was released
	rm -rf $(VENV) build dist *.egg-info privrelease/loops/compiled*.so .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
