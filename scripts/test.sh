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

checks=0
if [ $# -eq 0 ]; then
    cargo fmt --all --check || checks=1
    # Examples in the documentation: programs that the runner does not know of.
    cargo test --workspace --doc --locked --quiet >"$target/examples.txt" 2>&1 || {
        cat "$target/examples.txt" >&2
        checks=1
    }
fi

echo "== tests and lints"
status=0
"$target/debug/xtask" test --programs "$target/test-programs.json" --times "$target/test-times.txt" "$@" || status=$?
[ "$checks" -eq 0 ] || echo "formatting or an example in the documentation failed: see above" >&2
[ "$status" -ne 0 ] || status=$checks
exit "$status"
