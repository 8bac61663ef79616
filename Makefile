# Every target sets up what it needs by itself; `make help` lists them.
PYTHON ?= python3
VENV   := .venv
LOWEST := .venv-lowest
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALL := python -m pip install --quiet --disable-pip-version-check -c constraints.txt
PIP    := $(BIN)/$(INSTALL)

# Rebuilt when the core or the dependencies change; Python files are picked up as they are.
BUILD_FILES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard core/*.?pp)

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-lowest test-installed check check-github check-release bench speed history sanitize \
        warnings wheel wheels-of-this-system docs docker readme figures clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BUILD_FILES) | $(BIN)/python
	$(PIP) 'pip>=25.1'
	$(PIP) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	$(PIP) -e '.[parquet,experiments,cluster]' --group test
	@touch $@

$(VENV)/.check: $(VENV)/.installed
	$(PIP) --group check
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) --group bench
	$(PIP) --group yardsticks || echo "yardsticks not installed: the benchmarks leave them out"
	@touch $@

demo: $(VENV)/.installed  ## install, audit a bundled table with known wrong labels, say where the report is
	$(BIN)/labelcut demo

test: $(VENV)/.test  ## install and run every test but the slow ones
	$(BIN)/python -m pytest -m 'not slow'

test-slow: $(VENV)/.test  ## the slow tests
	$(BIN)/python -m pytest -m slow

# The lowest versions that pyproject.toml allows, also of what builds the core; torch as in constraints.txt.
$(LOWEST)/.test: $(BUILD_FILES) tools/lowest.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) tools/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/$(INSTALL) 'pip>=25.1'
	$(LOWEST)/bin/$(INSTALL) -c $(LOWEST)/lowest.txt scikit-build-core nanobind setuptools-scm
	$(LOWEST)/bin/$(INSTALL) -c $(LOWEST)/lowest.txt --no-build-isolation -e '.[parquet,excel,experiments,cluster,images]' --group test
	@touch $@

test-lowest: $(LOWEST)/.test  ## every test but the slow ones, with the lowest versions of everything we ask for
	$(LOWEST)/bin/python -m pytest -m 'not slow'

test-installed: $(VENV)/.installed  ## the part of the tests that a wheel has to pass, where make test cannot run
	$(PIP) --group wheel-test
	$(BIN)/python tools/try_wheel.py

check: $(VENV)/.check $(VENV)/.test  ## lint, formatting, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

FORMS := .github/ISSUE_TEMPLATE
SCHEMA = $(BIN)/check-jsonschema --builtin-schema vendor.

check-github: | $(BIN)/python  ## workflows, the action, issue forms and the citation: right by their schemas, safe to zizmor
	$(PIP) 'pip>=25.1'
	$(PIP) --group github
	$(SCHEMA)github-workflows .github/workflows/*.yml
	$(SCHEMA)github-actions action.yml
	$(SCHEMA)dependabot .github/dependabot.yml
	$(SCHEMA)github-issue-forms $(filter-out %/config.yml,$(wildcard $(FORMS)/*.yml))
	$(SCHEMA)github-issue-config $(FORMS)/config.yml
	$(SCHEMA)citation-file-format CITATION.cff
	$(BIN)/zizmor --offline .github action.yml

check-release:  ## TAG=v0.1.0: the files in dist are those of the tag, the changelog has its section
	$(PYTHON) tools/check_release.py "$(TAG)" dist

bench: $(VENV)/.bench  ## the benchmarks, with their rivals
	$(BIN)/python benchmarks/bench_cut.py
	$(BIN)/python benchmarks/bench_graph.py
	$(BIN)/python benchmarks/bench_fit.py
	$(BIN)/python benchmarks/bench_predict.py

speed: $(VENV)/.bench  ## on a quiet machine: run the benchmarks that docs/speed.md names, and fill it
	$(BIN)/python tools/speed.py

history: $(VENV)/.test  ## measure this release on a quiet machine, add its line, draw docs/history.md
	$(BIN)/python benchmarks/history.py measure

# CMake comes from the environment where the machine has none; the core itself needs no Python.
CMAKE := $(or $(shell command -v cmake),$(BIN)/cmake)

$(BIN)/cmake: | $(BIN)/python
	$(PIP) cmake

sanitize: $(filter $(BIN)/cmake,$(CMAKE))  ## the core's own tests under AddressSanitizer and UBSan
	$(CMAKE) -S . -B build/sanitize -DLABELCUT_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo
	$(CMAKE) --build build/sanitize
	build/sanitize/test_core

warnings: $(filter $(BIN)/cmake,$(CMAKE))  ## compile the core with every compiler there is; a warning is an error
	for compiler in g++ clang++ clang++-19; do \
	  command -v $$compiler > /dev/null || continue; \
	  $(CMAKE) -S . -B build/$$compiler -DCMAKE_CXX_COMPILER=$$compiler -DCMAKE_COMPILE_WARNING_AS_ERROR=ON && \
	  $(CMAKE) --build build/$$compiler && build/$$compiler/test_core || exit 1; \
	done

$(VENV)/.wheel: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) 'pip>=25.1'
	$(PIP) --group wheel
	@touch $@

wheel: $(VENV)/.wheel  ## wheels and sdist: build twice, audit, install and test on every Python of this machine
	rm -rf dist
	$(BIN)/python tools/build_wheels.py dist
	for wheel in dist/*-abi3-*.whl; do $(BIN)/abi3audit --strict --summary $$wheel || exit 1; done
	$(PYTHON) tools/try_wheel.py dist --sdist
	for python in $$($(BIN)/python tools/pythons.py); do $$python tools/try_wheel.py dist || exit 1; done

wheels-of-this-system: $(VENV)/.wheel  ## by cibuildwheel, as for a release; on Linux it needs a container engine
	$(BIN)/cibuildwheel --output-dir dist

docker:  ## an image with the wheel and nothing else; it runs the demo (needs a container engine)
	docker build -t labelcut .
	docker run --rm labelcut

$(VENV)/.docs: $(VENV)/.installed
	$(PIP) --group docs
	@touch $@

# Pages, docstrings and examples into one site; a warning is an error, and nothing is fetched.
docs: $(VENV)/.docs $(VENV)/.test  ## the site in docs/_build/html: build, follow its links, run its examples
	rm -rf docs/_build docs/gallery docs/reference
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html
	$(BIN)/python -m pytest -q tests/test_docs.py

readme: $(VENV)/.test  ## make the story and the result table of the README again, and the pages of results
	$(BIN)/labelcut experiment report
	$(BIN)/python tools/readme.py

figures: $(VENV)/.docs  ## draw the pictures of the documents again
	$(BIN)/python docs/pictures.py
	$(BIN)/python examples/cut_demo.py docs/cut-moons.png
	$(BIN)/python examples/denoise.py docs/cut-denoise.png
	$(BIN)/python examples/densest_subgraph.py docs/cut-densest.png
	$(BIN)/python examples/open_pit.py docs/cut-pit.png

clean:  ## remove the environment and everything built
	rm -rf $(VENV) $(LOWEST) build dist docs/_build docs/gallery docs/reference labelcut-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
