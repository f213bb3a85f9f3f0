#!/bin/sh
# The figures of "what must be seen": `nicteam lab check` of every experiment that ships, then what no
# experiment file can say. Needs root. Arguments go to xtask (--help).
# What was measured is saved in docs/results, and docs/figures.md, the picture and the
# figures of the README are made of it anew.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet -p nicteam -p nicteam-oracle
status=0
cargo run --release --locked --quiet -p xtask -- accept --results docs/results "$@" || status=$?
cargo run --release --locked --quiet -p xtask -- figures
exit "$status"
