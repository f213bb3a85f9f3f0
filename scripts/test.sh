#!/bin/bash
# Every check and test, then what was skipped and why.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "== formatting"
cargo fmt --all --check
echo "== lints"
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
echo "== tests"
# Live tests measure ratios: no two test programs at once, few threads each.
status=0
cargo test --workspace --locked --no-fail-fast -- --show-output --test-threads=2 >"$log" 2>&1 || status=$?
grep -E '^(     Running|test .*(FAILED|ignored)|test result|error|warning: unused|SKIPPED)|against Linux [0-9]|panicked|^failures|  left:|  right:' "$log" || true
[ "$status" -eq 0 ] || { echo "== failures"; grep -A3 -E "^(thread '.*' \([0-9]+\) panicked|error)" "$log"; tail -n 200 "$log"; }

passed=$(awk '/^test result/ { sum += $4 } END { print sum + 0 }' "$log")
failed=$(awk '/^test result/ { sum += $6 } END { print sum + 0 }' "$log")
skipped=$(grep -c '^SKIPPED' "$log" || true)
echo
if [ "$skipped" -gt 0 ]; then
    echo "skipped:"
    grep '^SKIPPED' "$log" | sort | uniq -c
else
    echo "nothing was skipped"
fi
if [ "$skipped" -gt 0 ] && [ "${CI:-}" = true ] && [ "$(id -u)" -eq 0 ]; then
    echo "a test was skipped under CI as root: the machine lacks something it should have" >&2
    status=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
