# The two commands: `make demo` (a model on the simulated core) and `make test`.
# Each installs what it needs, says what, and may be run again at any time.

SETUP := platform/setup
VENV := .venv
PY := $(VENV)/bin/python
CONFORMANCE := .venv-conformance

PYTHON_DIRS := package codegen selective templates functions tools tests benchmarks examples platform
CXX_FILES = $(shell git ls-files 'kernels/*.cpp' 'kernels/*.h' 'runtime/*.cpp' 'runtime/*.h' \
	'platform/*.cpp' 'platform/*.h' 'platform/*.c' 'examples/*.cpp' 'examples/*.h' \
	'tests/cpp/*.cpp' 'tests/cpp/*.h' 'tests/corev/*.cpp' 'tests/corev/*.h' 'tests/unit/cpp/*.cpp' 'tests/conformance/*.cpp' 'tests/conformance/*.h')

.PHONY: help demo test check lint types fast conformance goldens format bench clean

help:
	@echo 'make demo         a model becomes a library and classifies images on the simulated CV32E40P'
	@echo 'make test         the test-suite (no torch)'
	@echo 'make check        lint, types and the fast tests: the inner loop, under a minute'
	@echo 'make conformance  against PyTorch and the real ExecuTorch runtime (installs both)'
	@echo 'make goldens      renew the expected outputs and generated_example/'
	@echo 'make format       format Python and C++'
	@echo 'make bench        the measurements in benchmarks/'

demo:
	@$(SETUP) dev cross rtl
	@$(PY) examples/digits/demo.py

test:
	@$(SETUP) dev cross rtl builds bazel
	$(PY) -m pytest -n 2 --dist loadgroup -m 'not conformance'

check: lint types fast

lint:
	@$(SETUP) dev
	$(VENV)/bin/ruff check $(PYTHON_DIRS)
	$(VENV)/bin/ruff format --check $(PYTHON_DIRS)
	@$(VENV)/bin/clang-format --dry-run --Werror $(CXX_FILES)

# mypy does not follow setuptools' editable finder: it sees the package through links.
types:
	@$(SETUP) dev
	@mkdir -p build/types/gen_kernels
	@ln -sf $(CURDIR)/package/* build/types/gen_kernels/
	@ln -sfn $(CURDIR)/codegen build/types/gen_kernels/codegen
	@ln -sfn $(CURDIR)/selective build/types/gen_kernels/selective
	@ln -sfn $(CURDIR)/templates build/types/gen_kernels/templates
	@ln -sfn $(CURDIR)/functions build/types/gen_kernels/functions
	MYPYPATH=build/types $(VENV)/bin/mypy -p gen_kernels

fast:
	@$(SETUP) dev
	$(PY) -m pytest -n 2 -m 'not slow and not cross and not rtl and not conformance'

conformance:
	@$(SETUP) conformance
	$(CONFORMANCE)/bin/python -m pytest -n 2 -m conformance

goldens:
	@$(SETUP) dev
	$(PY) tools/renew_goldens.py

format:
	@$(SETUP) dev
	$(VENV)/bin/ruff format $(PYTHON_DIRS)
	@$(VENV)/bin/clang-format -i $(CXX_FILES)

bench:
	@$(SETUP) dev cross rtl
	$(PY) benchmarks/codegen.py
	$(PY) benchmarks/registration_size.py
	$(PY) benchmarks/runtime_cost.py
	$(PY) benchmarks/cv32e40p/run.py
	$(PY) tools/kernel_table.py

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache
