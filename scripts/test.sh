#!/bin/bash
# Every check and test, then what was skipped and why.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
log=$(mktemp)
trap 'rm -f "$log" "$log.again"' EXIT

echo "== formatting"
cargo fmt --all --check
echo "== lints"
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
echo "== tests"
# Live tests measure ratios: no two test programs at once, few threads each.
status=0
cargo test --workspace --locked --no-fail-fast -- --show-output --test-threads=2 >"$log" 2>&1 || status=$?
grep -E '^(     Running|test .*(FAILED|ignored)|test result|error|warning: unused|SKIPPED)|against Linux [0-9]|panicked|^failures|  left:|  right:' "$log" || true
[ "$status" -eq 0 ] || { echo "== failures"; grep -A3 -E "^(thread '.*' \([0-9]+\) panicked|error)" "$log" || true; tail -n 200 "$log"; }

# A live test shares its processors with whatever else the machine does. What fails is
# tried once more, alone; what passes then is named below, not hidden.
again=$(sed -nE 's/^test (.*) \.\.\. FAILED$/\1/p' "$log" | sort -u)
second=0
# Only failed tests: a program that crashed, or was not built, says so otherwise.
if [ -n "$again" ] && ! grep -qE "didn't exit successfully|could not compile" "$log"; then
    echo "== failed tests once more"
    mapfile -t names <<<"$again"
    cargo test --workspace --locked --no-fail-fast --tests -- --exact --show-output --test-threads=1 "${names[@]}" \
        >"$log.again" 2>&1 || second=$?
    [ "$second" -eq 0 ] || tail -n 100 "$log.again"
    ran=$(awk '/^test result/ { sum += $4 } END { print sum + 0 }' "$log.again")
    [ "$second" -ne 0 ] || [ "$ran" -lt "${#names[@]}" ] || status=0
fi

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
if [ -n "$again" ] && [ "$status" -eq 0 ]; then
    echo "failed at first and passed when tried once more, alone:"
    echo "$again"
    passed=$((passed + failed)) failed=0
fi
echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
