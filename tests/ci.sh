#!/bin/bash
# Runs every check as a stage, prints one line a stage with its time, and ends with "N passed, N failed".
# usage: ci.sh BUILD      A stage's own last line says how many passed and failed; its whole output is in BUILD/ci.
set -u
cd "$(dirname "$0")/.."
build=${1:-build}
logs=$build/ci
mkdir -p "$logs"
passed=0 failed=0

stage() { # NAME SECONDS-MAX COMMAND...
    local name=$1 limit=$2 start=$SECONDS
    shift 2
    timeout --kill-after=10 "$limit" "$@" >"$logs/$name.log" 2>&1 </dev/null
    local code=$? last good bad
    last=$(grep -E '[0-9]+ passed, [0-9]+ failed|[0-9]+ (goals, [0-9]+ proved|smoke tests, [0-9]+ passed)' "$logs/$name.log" | tail -n 1)
    if [[ $last =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
        good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
    elif [[ $last =~ ([0-9]+)\ (goals|smoke\ tests),\ ([0-9]+)\ (proved|passed) ]]; then
        good=${BASH_REMATCH[3]} bad=$((BASH_REMATCH[1] - BASH_REMATCH[3]))
    else
        good=0 bad=1
    fi
    [ "$code" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    passed=$((passed + good)) failed=$((failed + bad))
    printf '%-14s %5d passed %4d failed  %4d s\n' "$name" "$good" "$bad" $((SECONDS - start))
    if [ "$bad" -ne 0 ]; then
        echo "--- $name (exit $code), the end of $logs/$name.log"
        tail -n 40 "$logs/$name.log"
        echo "---"
    fi
}

make="make --no-print-directory BUILD=$build"
stage build 600 bash -c "$make -s -j2 all && echo 'build: 1 passed, 0 failed'"
stage lint 300 $make lint
stage format 120 $make format-check
stage clang 600 $make clang
stage unit 900 $make unit
stage scenarios 300 $make scenarios
stage asan 1200 $make asan
stage prove 2400 $make prove PROVE_CACHE=replay
stage prove-smoke 2400 $make prove-smoke
stage fuzz-replay 600 $make fuzz-replay
stage fuzz-canary 400 $make fuzz-canary
stage fuzz 600 $make fuzz FUZZ_SECONDS=20
stage fuzz-afl 600 $make fuzz FUZZ_SECONDS=20 ENGINE=afl
stage e2e 1200 $make e2e-standalone
stage cluster-tools 3600 $make cluster-tools
stage cluster 1800 $make cluster-e2e
stage crash 900 $make crash
stage tidy 2400 $make tidy
stage coverage 1800 $make coverage
stage conformance 300 $make conformance
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
