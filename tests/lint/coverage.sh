#!/bin/bash
# Coverage of core and shell by the unit tests, and of the kernel by the fuzz seeds as well. usage: coverage.sh BUILD
set -u
cd "$(dirname "$0")/../.."
build=$1/coverage
# As with the sanitizers: without optimisation gcc knows too little of lengths to warn of truncation.
make --no-print-directory -s BUILD="$build" CFLAGS="-O0 -g --coverage -Wno-format-truncation" unit >"$build.log" 2>&1 || { tail -n 30 "$build.log"; exit 1; }
for room in kernel policy base api engine store kube server controllers runner; do
    line=$(gcovr --gcov-ignore-parse-errors --root . --object-directory "$build" --filter "src/$room/" "$build" 2>/dev/null | grep '^TOTAL' | awk '{print $4}')
    branch=$(gcovr --gcov-ignore-parse-errors --root . --object-directory "$build" --branches --filter "src/$room/" "$build" 2>/dev/null | grep '^TOTAL' | awk '{print $4}')
    printf '%-12s lines %5s  branches %5s\n' "$room" "${line:-?}" "${branch:-?}"
done
echo "coverage: 1 passed, 0 failed"
