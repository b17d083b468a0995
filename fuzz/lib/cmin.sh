#!/bin/bash
# usage: cmin.sh BUILD TARGET...   Merge committed seeds and campaign finds into the smallest set that covers the same.
set -eu
build=$1
shift
for target in "$@"; do
    merged=$build/fuzz/work/merged/$target
    rm -rf "$merged" && mkdir -p "$merged" "fuzz/corpus/$target"
    sources=("fuzz/corpus/$target")
    for found in "$build/fuzz/work/libfuzzer/$target/corpus" "$build/fuzz/work/afl/$target/afl/default/queue"; do
        [ -d "$found" ] && sources+=("$found")
    done
    "$build/fuzz/libfuzzer/$target" -merge=1 -use_counters=0 -max_len=1536 "$merged" "${sources[@]}" 2>/dev/null
    find "fuzz/corpus/$target" -type f ! -name "hand-*" -delete # made by hand: for sides of conditions that are no edges
    cp "$merged"/* "fuzz/corpus/$target/"
    echo "$target: $(ls "fuzz/corpus/$target" | wc -l) seeds, $(du -sh "fuzz/corpus/$target" | cut -f1)"
done
