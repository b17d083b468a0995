#!/bin/bash
# Runs every check as a stage, prints one line a stage with its time, and ends with "N passed, N failed".
# Two lanes run side by side: what builds and runs the programs, and what builds nothing that these need.
# usage: ci.sh BUILD      A stage's own last line says how many passed and failed; its whole output is in BUILD/ci.
set -u
cd "$(dirname "$0")/.."
build=${1:-build}
logs=$build/ci
mkdir -p "$logs"
counts=$logs/counts
: >"$counts"

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
    echo "$good $bad" >>"$counts"
    printf '%-14s %5d passed %4d failed  %4d s\n' "$name" "$good" "$bad" $((SECONDS - start))
    if [ "$bad" -ne 0 ]; then
        echo "--- $name (exit $code), the end of $logs/$name.log"
        tail -n 40 "$logs/$name.log"
        echo "---"
    fi
}

make="make --no-print-directory BUILD=$build"
stage build 600 bash -c "$make -s -j2 all && echo 'build: 1 passed, 0 failed'"

checks_of_text() {
    stage format 120 $make format-check
    stage site 300 $make site
    stage prove 3600 $make prove PROVE_CACHE=replay
    stage prove-starts 900 $make prove-starts
    stage prove-sample 1800 $make prove-sample GOALS=300 SEED="$(git rev-parse HEAD)"
    stage prove-both 1800 $make prove-both KEEP=1
    stage prove-smoke 3600 $make prove-smoke
    stage eva 900 $make eva
    stage cbmc 900 $make cbmc
    stage tidy 2400 $make tidy
    stage model 2400 $make model
    stage explore 600 $make explore EXPLORE_SECONDS=100
    stage fuzz-replay 1200 $make fuzz-replay
    stage fuzz-canary 1200 $make fuzz-canary
    stage fuzz-coverage 1200 $make fuzz-coverage
    # The same inputs with every commit, until long campaigns with other ones stay without a find for a while.
    stage fuzz 1200 env FUZZ_SEED=1 $make fuzz FUZZ_SECONDS=0
    stage fuzz-afl 1200 env FUZZ_SEED=1 $make fuzz FUZZ_SECONDS=8 ENGINE=afl
    # Every mutant of what the last merge changed and 60 others, of functions whose mutants take little, other ones with
    # every commit, as far as time allows.
    stage prove-mutants 1800 $make prove-mutants SAMPLE=60 KNOWN=1 COST=3 RUNS=5 KEEP=1 BUDGET=240 PROVE_JOBS=1 \
        SEED="$(git rev-parse HEAD)" $(git rev-parse -q --verify HEAD^ >"$logs/before" && echo CHANGED=HEAD^)
}
checks_of_programs() {
    stage lint 300 $make lint
    stage clang 900 $make clang
    stage unit 1800 $make unit
    stage scenarios 600 $make scenarios
    stage received 600 $make received
    stage sim 900 $make sim SEEDS=60
    stage asan 2400 $make asan
    stage e2e 1800 $make e2e-standalone
    stage tutorials 600 $make tutorials
    stage container 300 $make container
    stage cluster-tools 3600 $make cluster-tools
    stage cluster 2700 $make cluster-e2e
    stage crash 1200 $make crash
    stage coverage 2700 $make coverage
    stage conformance 600 $make conformance
    stage way 600 $make way
    stage defects 1500 $make defects SAMPLE=8
}
checks_of_text &
checks_of_programs
wait
stage evidence 60 $make evidence

read -r passed failed < <(awk '{good += $1; bad += $2} END {print good + 0, bad + 0}' "$counts")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
