#!/bin/bash
# usage: coverage.sh BUILD TARGET...   What of src/kernel and src/policy the seeds and regressions of all targets
# reach, against fuzz/unreached.txt, which explains the rest; all of it line by line under BUILD/fuzz/coverage.
set -eu
build=$1
shift
work=$build/fuzz/coverage
passed=0 failed=0 profiles=() binaries=()
mkdir -p "$work/profiles"
for target in "$@"; do
    paths=("$build/fuzz/seeds/$target")
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
cover() { # WHAT TO OPTION...
    llvm-cov "$1" "${@:3}" -instr-profile="$work/all.profile" "${binaries[@]:1}" src/kernel src/policy >"$2" 2>"$work/llvm-cov.log"
}
cover export "$work/all.json"
cover export "$work/all.lcov" -format=lcov
cover show "$work/lines.txt" -show-branches=count
if python3 fuzz/lib/coverage.py "$work/all.json" "$work/all.lcov" fuzz/unreached.txt; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
echo "every line: $work/lines.txt"
echo "fuzz-coverage: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
