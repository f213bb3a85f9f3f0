#!/bin/bash
# Every check and test, then what was skipped and why. Arguments: parts of the names of
# the tests wanted (then no other checks).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"

echo "== building"
start=$SECONDS
cargo build --workspace --tests --bins --locked --quiet --message-format=json-render-diagnostics >"$target/test-programs.json"
echo "built in $((SECONDS - start)) s"

# Lints need the processors for a while, and most tests only wait: side by side, with the lower priority.
checks=0
lints=
if [ $# -eq 0 ]; then
    cargo fmt --all --check || checks=1
    nice -n 15 cargo clippy --workspace --all-targets --locked --quiet -- -D warnings >"$target/clippy.txt" 2>&1 &
    lints=$!
    trap 'kill "$lints" 2>/dev/null || true' EXIT
fi

echo "== tests"
status=0
"$target/debug/xtask" test --programs "$target/test-programs.json" --times "$target/test-times.txt" "$@" || status=$?
if [ -n "$lints" ] && ! wait "$lints"; then
    cat "$target/clippy.txt"
    checks=1
fi
trap - EXIT
[ "$checks" -eq 0 ] || echo "formatting or lints failed: see above" >&2
[ "$status" -ne 0 ] || status=$checks
exit "$status"
