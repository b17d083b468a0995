#!/bin/bash
# usage: replay.sh BUILD TARGET...   Each target over its seeds and regressions; an empty corpus is a failure.
set -u
build=$1
shift
passed=0 failed=0
for target in "$@"; do
    paths=("$build/fuzz/seeds/$target")
    [ -d "fuzz/regress/$target" ] && paths+=("fuzz/regress/$target")
    if out=$(timeout 300 "$build/fuzz/replay/$target" "${paths[@]}" 2>&1); then
        echo "$target: $out"
        passed=$((passed + 1))
    else
        printf '%s\n' "$out" | tail -n 30
        failed=$((failed + 1))
    fi
done
echo "fuzz-replay: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
