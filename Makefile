# Every target sets up what it needs in .venv; `make` alone lists them.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEMO_LINK := z1**2 + sign(z1*z2*z3)

.DEFAULT_GOAL := help
.PHONY: help setup demo test agreement audit golden links mutants fuzz lint types docs browser bench figures lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "learnability needs Python 3.11 or newer, and $(PYTHON) is %d.%d: try `make PYTHON=python3.11`." % sys.version_info[:2])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: $(STAMP)  ## make .venv with the locked versions and the package itself

demo: $(STAMP)  ## print one hardness report and run its staircase, pictures and data go to out/
	@mkdir -p out
	$(BIN)/learnability hardness "$(DEMO_LINK)" --plot out/hardness.png
	$(BIN)/learnability figure grand-staircase --quick --out out

# Two workers on two cores: threads of BLAS would wait for each other. A file of tests stays with one
# worker, which compiles and prepares what its tests share once.
test agreement: export OPENBLAS_NUM_THREADS = 1

test: $(STAMP)  ## run the tests, without those of theory against simulation
	$(BIN)/python -m pytest tests --ignore=tests/agreement -m "not browser and not types" -n 2 --dist loadfile

# Chromium comes from Debian's packages; axe-core, which looks for faults of access, by npm.
AXE_CORE := axe-core@4.14.0

.venv/axe: $(STAMP)
	mkdir -p $@
	cd $@ && { npm pack --silent $(AXE_CORE) && tar xzf axe-core-*.tgz; } || echo "npm did not fetch $(AXE_CORE)."

browser: $(STAMP) .venv/axe  ## open the explorer and report pages in Debian's Chromium
	command -v chromium chromedriver || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver; }
	$(BIN)/python -m pytest tests/explorer/test_browser.py tests/cli/test_report_in_browser.py

# A change of one family runs its own: make agreement FAMILY=online.
FAMILY ?=
AGREEMENT := tests/agreement$(if $(FAMILY),/test_$(FAMILY)_*agreement.py)

agreement: $(STAMP)  ## run theory against simulation, all of it or FAMILY=online, giant, ...
	$(BIN)/python -m pytest $(AGREEMENT) -n 2 --dist worksteal

audit: $(STAMP)  ## hold predictions of depth against runs on a hundred random targets (half an hour)
	$(BIN)/python -m tests.tools.audit_depth

golden: $(STAMP)  ## add the golden numbers of new learners and of new versions
	$(BIN)/python -m tests.conformance.golden

links: $(STAMP)  ## hold the reports on 200 random links against each other, said otherwise (an hour)
	$(BIN)/python -m tests.random_links 0 200

mutants: $(STAMP)  ## change the numerics in 60 places, and see which the tests notice (hours)
	$(BIN)/python -m tests.tools.mutate --count 60

MINUTES ?= 30

fuzz: $(STAMP)  ## texts, links, bad command lines, damaged stores and kills for MINUTES=30, then stop and count
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

lint: $(STAMP)  ## check the format and the style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)  ## check the types, and that right and wrong uses are told apart
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_front_door.py -m types

docs: $(STAMP)  ## build the pages into docs/_build/html; warnings are errors
	$(BIN)/sphinx-build -W --keep-going docs docs/_build/html

bench: $(STAMP)  ## run every benchmark
	@set -e; for script in benchmarks/bench_*.py; do \
		test -e "$$script" || { echo "There is no benchmark in benchmarks/ yet." >&2; exit 1; }; \
		echo "$$script"; PYTHONPATH=. $(BIN)/python "$$script"; \
	done

figures: $(STAMP)  ## draw the figures of the pages again, the gallery in full (hours)
	$(BIN)/python docs/make_figures.py

lock: $(STAMP)  ## resolve requirements.lock again from pyproject.toml
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
		--generate-hashes --upgrade --quiet --custom-compile-command "make lock" \
		--output-file requirements.lock

clean:  ## remove what was built, and .venv
	rm -rf .venv out dist docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
