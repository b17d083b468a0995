#!/bin/bash
# usage: campaign.sh BUILD ENGINE SECONDS TARGET...   One line a target: executions, rate, edges, corpus, crashes.
set -u
build=$1 engine=$2 seconds=$3
shift 3
passed=0 failed=0
export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
for target in "$@"; do
    work=$build/fuzz/work/$engine/$target
    log=$work.log
    mkdir -p "$work/corpus" "$work/crashes"
    seeds=fuzz/corpus/$target
    if [ "$engine" = libfuzzer ]; then
        timeout $((seconds + 60)) "$build/fuzz/libfuzzer/$target" -max_total_time="$seconds" -max_len=2048 \
            -print_final_stats=1 -artifact_prefix="$work/crashes/" "$work/corpus" "$seeds" >"$log" 2>&1
        code=$?
        executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
        edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d' ' -f2)
        corpus=$(ls "$work/corpus" | wc -l)
        crashes=$(ls "$work/crashes" | wc -l)
    else
        rm -rf "$work/afl"
        timeout $((seconds + 60)) afl-fuzz -V "$seconds" -i "$seeds" -o "$work/afl" -m none \
            "$build/fuzz/afl/$target" >"$log" 2>&1
        code=$?
        stats=$work/afl/default/fuzzer_stats
        stat() { sed -n "s/^$1 *: *//p" "$stats" 2>/dev/null; }
        executions=$(stat execs_done) rate=$(stat execs_per_sec) edges=$(stat edges_found)
        corpus=$(stat corpus_count) crashes=$(stat saved_crashes)
    fi
    printf '%-12s %-9s %12s executions %10s/s %6s edges %5s corpus %3s crashes\n' "$target" "$engine" \
        "${executions:-0}" "${rate:-0}" "${edges:-0}" "${corpus:-0}" "${crashes:-?}"
    if [ "$code" -eq 0 ] && [ "${crashes:-1}" -eq 0 ] && [ "${executions:-0}" -gt 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -n 30 "$log"
    fi
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
