#!/bin/sh
# The figures of "what must be seen". Needs root. Arguments go to xtask (--help).
set -eu
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet -p nicteam -p nicteam-oracle
exec cargo run --release --locked --quiet -p xtask -- accept "$@"
