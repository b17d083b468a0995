#!/bin/bash
# usage: cmin.sh BUILD TARGET...   Merge committed seeds and campaign finds into the smallest set that covers the same.
set -eu
build=$1
shift
for target in "$@"; do
    merged=$build/fuzz/work/merged/$target
    rm -rf "$merged" && mkdir -p "$merged"
    sources=("$build/fuzz/seeds/$target")
    for found in "$build/fuzz/work/libfuzzer/$target/corpus" "$build/fuzz/work/afl/$target/afl/default/queue"; do
        [ -d "$found" ] && sources+=("$found")
    done
    "$build/fuzz/libfuzzer/$target" -merge=1 -use_counters=0 -max_len=1536 "$merged" "${sources[@]}" 2>/dev/null
    fuzz/lib/pack.sh "$merged" "fuzz/corpus/$target.tar.gz"
    echo "$target: $(ls "$merged" | wc -l) seeds, $(du -sh "fuzz/corpus/$target.tar.gz" | cut -f1)"
done
