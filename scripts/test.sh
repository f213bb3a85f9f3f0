#!/bin/bash
# Every check and test, then what was skipped and why. Arguments: parts of the names of
# the tests wanted (then no other checks).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"

echo "== building, with the lints"
# The lints' driver compiles, too: so every crate is gone through once and not twice, and nothing compiles beside tests.
clippy-driver --version >/dev/null || {
    echo "test: no clippy-driver; hint: rustup component add clippy" >&2
    exit 3
}
export RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/rustc-with-lints.sh
# A panic says its place without; with it the build takes a quarter more.
export CARGO_PROFILE_DEV_DEBUG=0
# From a fresh clone, what later builds could reuse takes a fifth of the time; who builds again and again: CARGO_INCREMENTAL=1.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
build=(cargo build --workspace --all-targets --locked --quiet)
start=$SECONDS
messages=$target/test-programs.json
# They go to a file; what fails is built again, to be read.
"${build[@]}" --message-format=json >"$messages" 2>/dev/null || {
    "${build[@]}"
    "${build[@]}" --message-format=json >"$messages"
}
echo "built in $((SECONDS - start)) s"

checks=0
if [ $# -eq 0 ]; then
    cargo fmt --all --check || checks=1
    # Examples in the documentation: programs that the runner does not know of. Crates without one are left out.
    mapfile -t examples < <(grep -rlE '^\s*//[/!] ```' crates/*/src | cut -d/ -f2 | sort -u | sed 's/^/-pnicteam-/')
    cargo test "${examples[@]}" --doc --locked --quiet >"$target/examples.txt" 2>&1 || {
        cat "$target/examples.txt" >&2
        checks=1
    }
fi

echo "== tests"
status=0
"$target/debug/xtask" test --programs "$messages" --times "$target/test-times.txt" "$@" || status=$?
[ "$checks" -eq 0 ] || echo "formatting or an example in the documentation failed: see above" >&2
[ "$status" -ne 0 ] || status=$checks
exit "$status"
