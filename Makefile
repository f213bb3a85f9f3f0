# The commands of the project. `make demo`, `make demo-storage` and `make test` need a checkout, a
# Rust toolchain and root, and install the rest.
.PHONY: demo demo-storage test accept soak bench build deb python shares sweep-bench setup clean
.DEFAULT_GOAL := build

NICTEAM := $(or $(CARGO_TARGET_DIR),target)/release/nicteam

setup:
	@scripts/setup.sh build

# The program alone; `accept` and `bench` build what they need beside it.
build: setup
	cargo build --release --locked -p nicteam

# The main job: four links between hosts, five runs, and the reason for each figure.
demo: build
	$(NICTEAM) lab run t3

# Storage over four links: the network step of the published test T4, with a real target.
demo-storage: build
	@scripts/setup.sh storage
	$(NICTEAM) lab run t4 --only default-1000,every-io,best-policy,unequal-paths,stripe-one-session

# Every test; says at its end what was skipped and why.
test:
	@scripts/test.sh

# The figures of "what must be seen", each with its bound, the noise and the peer: `nicteam lab check` of every
# experiment, then what no experiment file can say.
accept: build
	@scripts/setup.sh accept
	@scripts/accept.sh

# The large differential and random tests, whole; and an hour on a hostile wire.
soak:
	@scripts/setup.sh test
	NICTEAM_SOAK=1 PROPTEST_CASES=100000 NICTEAM_SOAK_SECONDS=$(or $(NICTEAM_SOAK_SECONDS),3600) \
		cargo test --release --workspace --locked

# The micro-benchmarks.
bench: build
	@scripts/setup.sh bench
	@scripts/bench.sh

# The Debian package: target/debian/nicteam_VERSION_ARCH.deb.
deb: build
	@scripts/deb.sh

# The Python package, in a virtual environment of its own: wheel, tests, types.
PYTHON := $(or $(CARGO_TARGET_DIR),target)/python
python: build
	@scripts/setup.sh python
	@scripts/python.sh $(PYTHON) $(NICTEAM)

# The pictures of docs/shares.md, by a million predictions.
shares: python
	SEEDS=20000 $(PYTHON)/bin/jupyter nbconvert --to markdown --execute --no-input \
		--output-dir docs python/examples/shares.ipynb

# What two processes give a sweep, and what is lost with one: the figures of docs/python.md.
sweep-bench: python
	$(PYTHON)/bin/python python/benches/processes.py --page docs/python.md

clean:
	cargo clean
