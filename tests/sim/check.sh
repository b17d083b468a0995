#!/bin/bash
# Plays seeds, and one of them twice: its story must be the same to the letter.
# usage: check.sh SIM SEEDS SEED_BASE
set -u
sim=$1 seeds=$2 base=$3
first=$("$sim" --seed "$base" --steps 200 | sha256sum)
second=$("$sim" --seed "$base" --steps 200 | sha256sum)
result=$("$sim" --seeds "$seeds" --base "$base" --processes 2)
last=$(tail -n 1 <<<"$result")
head -n -1 <<<"$result"
[[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || { echo "sluice-sim said nothing of how it ended"; exit 1; }
passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
if [ "$first" = "$second" ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "seed $base has two stories"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
