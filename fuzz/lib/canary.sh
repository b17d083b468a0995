#!/bin/bash
# usage: canary.sh BUILD   Both engines must find the defect planted in canary_fuzz.c within a minute.
set -u
build=$1
work=$build/fuzz/work/canary
rm -rf "$work" && mkdir -p "$work/seeds" "$work/crashes"
printf '\1' >"$work/seeds/one"
passed=0 failed=0
verdict() { # ENGINE COUNT
    if [ "$2" -gt 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "canary: $1 did not find the planted defect"
    fi
}
timeout 90 "$build/fuzz/libfuzzer/canary" -max_total_time=60 -artifact_prefix="$work/crashes/" "$work/seeds" \
    >"$work/libfuzzer.log" 2>&1
verdict libfuzzer "$(find "$work/crashes" -type f | wc -l)"
AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_BENCH_UNTIL_CRASH=1 \
    AFL_CUSTOM_MUTATOR_LIBRARY=$build/fuzz/events_4.so timeout 90 afl-fuzz -V 60 -i "$work/seeds" -o "$work/afl" -m none "$build/fuzz/afl/canary" >"$work/afl.log" 2>&1
verdict afl "$(find "$work/afl/default/crashes" -name 'id:*' 2>/dev/null | wc -l)"
echo "fuzz-canary: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
