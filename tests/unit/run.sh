#!/bin/bash
# Runs cmocka programs one after the other and sums up. Each may take 120 s. What a program skips is named.
# usage: run.sh PROGRAM...
set -u
passed=0 failed=0
export CMOCKA_MESSAGE_OUTPUT=TAP
for program in "$@"; do
    out=$(timeout 120 "$program" 2>&1)
    code=$?
    ok=$(grep -c '^ok ' <<<"$out")
    bad=$(grep '^not ok ' <<<"$out" | grep -vc '# SKIP')
    skipped=$(grep -c '# SKIP' <<<"$out")
    grep '# SKIP' <<<"$out" | sed 's/^not ok [0-9]* # SKIP/skipped:/'
    if [ "$code" -ne 0 ] || [ "$bad" -ne 0 ] || [ $((ok + skipped)) -eq 0 ]; then
        printf '%s\n' "$out" | grep -v '^ok ' | tail -n 40
        echo "FAILED ${program#*/tests/unit/} (exit $code)"
        [ "$bad" -eq 0 ] && bad=1
    fi
    passed=$((passed + ok)) failed=$((failed + bad))
done
echo "unit: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
