#!/bin/bash
# Does docs/scenarios.md have a row for each of S01 to S66, and is there every test that it names?
# Last line "table: N passed, N failed". Run from the root of the project.
set -u
passed=0 failed=0
check() { # WHAT, then a command that must succeed
    local what=$1
    shift
    if "$@" >/dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "docs/scenarios.md: $what"
    fi
}
for n in $(seq -f S%02g 66); do
    check "no row for $n" grep -q "^| $n |" docs/scenarios.md
done
for name in $(grep '^| S[0-9]' docs/scenarios.md | grep -oE '`[A-Za-z0-9]+(_[A-Za-z0-9]+){4,}`' | tr -d '`' | sort -u); do
    check "there is no test_$name" grep -rqE "test_$name\b" --include='*.c' --include='*.py' tests
done
echo "table: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
