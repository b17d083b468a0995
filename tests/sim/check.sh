#!/bin/bash
# Plays the seeds of regressions.tsv, then others, and one of them twice: its story must be the same to the letter. A quarter
# as many that are told what is staged before it is durable, and with two replicas.
# BUILD/sim.json and sim_replicas.json get the figures. usage: check.sh BUILD SEEDS SEED_BASE
set -u
build=$1 sim=$1/sluice-sim seeds=$2 base=$3 passed=0 failed=0

# Of one mode: its figures go to that file.
play() {
    local figures=$1 count=$2 first second result last
    shift 2
    first=$("$sim" "$@" --seed "$base" --steps 200 2>/dev/null | sha256sum)
    second=$("$sim" "$@" --seed "$base" --steps 200 2>/dev/null | sha256sum)
    result=$("$sim" "$@" --seeds "$count" --base "$base" --processes 2 --figures "$figures")
    last=$(tail -n 1 <<<"$result")
    head -n -1 <<<"$result"
    [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || { echo "sluice-sim said nothing of how it ended"; exit 1; }
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    if [ "$first" = "$second" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "seed $base has two stories"
    fi
}

# A seed of regressions.tsv, with its options.
again() {
    local seed=$1 why=$2 options=()
    [ "$3" = - ] || read -ra options <<<"$3"
    if "$sim" --seed "$seed" "${options[@]}" --quiet >"$build/sim-seed.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "seed $seed ${options[*]} fails again; it once did, since: $why"
        tail -n 3 "$build/sim-seed.log"
    fi
}

while IFS=$'\t' read -r seed options why rest; do
    [[ $seed == \#* ]] && continue
    if [[ $seed =~ ^[0-9]+$ && -n $options && -n $why && -z $rest ]]; then
        again "$seed" "$why" "$options"
    else
        echo "regressions.tsv: \"$seed\" is not followed by options and a reason"
        failed=$((failed + 1))
    fi
done <tests/sim/regressions.tsv
play "$1/sim.json" "$seeds"
# The engine's own writes are not read again (docs/internals/writes.md): else nobody would notice.
grep -q '"own_writes_recognised": [1-9]' "$1/sim.json" || { echo "no own write was recognised"; failed=$((failed + 1)); }
# Enough seeds stand for worlds of every sort; a sort that none stands for is played by nobody.
for sort in with_topology with_slices with_pods with_elastic_jobs with_several_checks that_wait_for_ready_pods \
    that_do_not_wait_for_ready_pods; do
    [ "$seeds" -lt 60 ] || grep -q "\"worlds_$sort\": [1-9]" "$1/sim.json" ||
        { echo "no world was one $sort"; failed=$((failed + 1)); }
done
play "$1/sim_ahead.json" $(((seeds + 3) / 4)) --ahead
[ "$seeds" -lt 60 ] || grep -q '"begun_again": [1-9]' "$1/sim_ahead.json" || { echo "nothing that was told ahead was lost"; failed=$((failed + 1)); }
play "$1/sim_replicas.json" $(((seeds + 3) / 4)) --replicas
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
