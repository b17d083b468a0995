#!/bin/bash
# usage: campaign.sh BUILD ENGINE SECONDS TARGET...   One line a target: executions, rate, edges, corpus, crashes.
# The same goes to BUILD/fuzz.json, by engine and target; what other campaigns have found there stays.
# With 0 SECONDS each target has as many executions as fuzz/targets.def says, and with FUZZ_SEED the same ones each time:
# how fast a machine is then does not decide what is found.
set -u
build=$1 engine=$2 seconds=$3
shift 3
passed=0 failed=0 records=()
export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1

column() { awk -F '[^a-z0-9_]+' -v t="$1" -v n="$2" '/^FUZZ/ && $2 == t {print $n}' fuzz/targets.def; } # TARGET NUMBER
event_size() { column "$1" 3; }
executions() { column "$1" 5; }

run_libfuzzer() { # TARGET WORK LOG
    local dict=()
    [ -f "fuzz/dict/$1.dict" ] && dict=("-dict=fuzz/dict/$1.dict")
    local limit=-max_total_time=$seconds
    [ "$seconds" = 0 ] && limit=-runs=$(executions "$1")
    timeout $((seconds + 120)) "$build/fuzz/libfuzzer/$1" "$limit" -max_len=4096 "${dict[@]}" \
        -seed="${FUZZ_SEED:-0}" -timeout=20 -entropic=0 -print_final_stats=1 -artifact_prefix="$2/crashes/" "$2/corpus" "$build/fuzz/seeds/$1" >"$3" 2>&1
    code=$?
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$3")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$3")
    edges=$(grep -o 'cov: [0-9]*' "$3" | tail -n 1 | cut -d' ' -f2)
    refused=$(sed -n 's/^refused: \([0-9]*\) of [0-9]* outcomes$/\1/p' "$3")
    corpus=$(find "$2/corpus" -type f | wc -l)
    crashes=$(find "$2/crashes" -type f | wc -l)
}

run_afl() { # TARGET WORK LOG
    local dict=() size
    size=$(event_size "$1")
    [ -f "fuzz/dict/$1.dict" ] && dict=(-x "fuzz/dict/$1.dict")
    [ "$size" != 0 ] && export AFL_CUSTOM_MUTATOR_LIBRARY=$build/fuzz/events_$size.so
    [ "$size" = 0 ] && unset AFL_CUSTOM_MUTATOR_LIBRARY
    rm -rf "$2/afl"
    # It tries every seed first, which takes a while on a busy machine; the seconds count from then on.
    local limit=(-V "$seconds")
    [ "$seconds" = 0 ] && limit=(-E "$(executions "$1")")
    timeout $((seconds + 240)) afl-fuzz "${limit[@]}" ${FUZZ_SEED:+-s "$FUZZ_SEED"} "${dict[@]}" -i "$build/fuzz/seeds/$1" -o "$2/afl" -m none -t 2000+ \
        "$build/fuzz/afl/$1" >"$3" 2>&1
    code=$?
    local stats=$2/afl/default/fuzzer_stats
    stat() { sed -n "s/^$1 *: *//p" "$stats" 2>/dev/null; }
    executions=$(stat execs_done) rate=$(stat execs_per_sec) edges=$(stat edges_found)
    corpus=$(stat corpus_count) crashes=$(stat saved_crashes)
    [[ $rate =~ ^[0-9.]+$ ]] || rate=0 # inf when it was stopped before it had begun
}

for target in "$@"; do
    work=$build/fuzz/work/$engine/$target
    log=$work.log
    rm -rf "$work/crashes"
    refused=
    mkdir -p "$work/corpus" "$work/crashes"
    if [ "$engine" = libfuzzer ]; then
        run_libfuzzer "$target" "$work" "$log"
    else
        run_afl "$target" "$work" "$log"
    fi
    grep '^refused: ' "$log" # by the kernel, of policy's plans: fuzz/lib/refusals.def
    printf '%-12s %-9s %12s executions %10s/s %6s edges %5s corpus %3s crashes\n' "$target" "$engine" \
        "${executions:-0}" "${rate:-0}" "${edges:-0}" "${corpus:-0}" "${crashes:-?}"
    records+=("{\"engine\":\"$engine\",\"target\":\"$target\",\"seconds\":$seconds,\"executions\":${executions:-0},\"rate\":${rate:-0},\"edges\":${edges:-0},\"corpus\":${corpus:-0},\"crashes\":${crashes:-null},\"refused\":${refused:-null}}")
    if [ "$code" -eq 0 ] && [ "${crashes:-1}" -eq 0 ] && [ "${executions:-0}" -gt 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -n 30 "$log"
    fi
done
printf '%s\n' "${records[@]}" | python3 -c '
import json, pathlib, sys
path = pathlib.Path(sys.argv[1])
runs = json.loads(path.read_text()) if path.exists() else []
new = [json.loads(line) for line in sys.stdin]
ran = {(run["engine"], run["target"]) for run in new}
runs = [run for run in runs if (run["engine"], run["target"]) not in ran] + new
path.write_text(json.dumps(runs, indent=1) + "\n")' "$build/fuzz.json"
echo "fuzz: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
