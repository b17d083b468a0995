#!/bin/bash
# usage: coverage.sh BUILD TARGET...   What of src/kernel and src/policy the seeds and regressions of all targets
# reach: a line a room, then each file with lines that nothing reaches; all of it line by line under BUILD/fuzz/coverage.
set -eu
build=$1
shift
work=$build/fuzz/coverage
passed=0 failed=0 profiles=() binaries=()
mkdir -p "$work/profiles"
for target in "$@"; do
    paths=("fuzz/corpus/$target")
    [ -d "fuzz/regress/$target" ] && paths+=("fuzz/regress/$target")
    if LLVM_PROFILE_FILE=$work/profiles/$target.raw "$work/$target" "${paths[@]}" >"$work/$target.log" 2>&1; then
        passed=$((passed + 1))
        profiles+=("$work/profiles/$target.raw")
        binaries+=(-object "$work/$target")
    else
        failed=$((failed + 1))
        tail -n 5 "$work/$target.log"
    fi
done
llvm-profdata merge -o "$work/all.profile" "${profiles[@]}"
llvm-cov export -summary-only -instr-profile="$work/all.profile" "${binaries[@]:1}" src/kernel src/policy 2>/dev/null |
    python3 fuzz/lib/coverage.py
llvm-cov show -show-branches=count -instr-profile="$work/all.profile" "${binaries[@]:1}" src/kernel src/policy \
    >"$work/lines.txt" 2>/dev/null
echo "every line: $work/lines.txt"
echo "fuzz-coverage: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
