#!/bin/bash
# Behind `make topology`: a hall of 640 nodes on this machine. Jobs of each kind are placed, nodes fail and are replaced
# in place, capacity is made on demand; `sluicectl topology` draws each step. Everything is gone when it ends.
# usage: play.sh [BUILD]    environment: RACKS, HOSTS (per rack), LISTEN, STAY=1 to keep the daemon until Ctrl-C
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../../build}" && pwd)
listen=${LISTEN:-127.0.0.1:8089}
export SLUICE_SERVER="http://$listen"
data=$(mktemp -d)
daemon=
ctl() { "$build/sluicectl" "$@"; }

stop() {
    trap '' INT TERM HUP EXIT
    if [ -n "$daemon" ] && kill -0 "$daemon" 2>/dev/null; then
        kill -TERM "$daemon"
        wait "$daemon" || true
    fi
    rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# until_count WHAT NUMBER PATTERN COMMAND...: so many lines of its output match.
until_count() {
    local what=$1 number=$2 pattern=$3
    shift 3
    for _ in $(seq 300); do
        [ "$(ctl "$@" | grep -cE "$pattern")" -eq "$number" ] && return 0
        sleep 0.2
    done
    echo "not within a minute: $what" >&2
    tail -n 5 "$data/log" >&2
    exit 1
}
# The node of the first pod of that job; the address of a pod is empty, so the node is the last column.
node_of() { ctl get pods -n hall -o wide | awk -v job="$1" 'index($1, job "-") == 1 && !n++ {print $NF}'; }

"$build/sluiced" --standalone --data "$data/store" --listen "$listen" >"$data/log" 2>&1 &
daemon=$!
for _ in $(seq 100); do
    kill -0 "$daemon" 2>/dev/null || { tail -n 3 "$data/log" >&2; exit 1; }
    ctl version >/dev/null 2>&1 && break
    sleep 0.1
done

say "1. The hall: ${RACKS:-10} racks of ${HOSTS:-64} nodes"
"$here/nodes.sh" "${RACKS:-10}" "${HOSTS:-64}" >"$data/nodes.yaml"
ctl apply -f "$data/nodes.yaml" | tail -n 1
ctl apply -f "$here/10-queues.yaml" >/dev/null
ctl topology

say "2. Jobs: in one rack, in few racks, anywhere, in slices; and one that no rack can hold"
ctl apply -f "$here/20-jobs.yaml"
until_count "all pods run" 258 ' Running ' get pods -n hall
ctl topology

one=$(node_of one-rack) two=$(node_of in-slices)
say "3. Two nodes fail: $one of one-rack and $two of in-slices"
ctl node fail "$one" "$two"
sleep 1.3
ctl topology
say "   Only their pods move, each within what its job requires; all others stay"
until_count "the pods have moved" 0 "; leaves |waits for a topology assignment" topology
until_count "all pods run again" 258 ' Running ' get pods -n hall
ctl topology
ctl node recover "$one" "$two"

say "4. A job for a pool that has no nodes yet: quota first, then capacity, then a place"
ctl apply -f "$here/30-annex.yaml" | grep job/
sleep 1
ctl topology annex
until_count "the job runs in the annex" 278 ' Running ' get pods -n hall
ctl topology annex

say "5. in-slices is deleted: its nodes are free again"
ctl delete job in-slices -n hall
until_count "its pods are gone" 198 ' Running ' get pods -n hall
ctl topology hall
if [ "${STAY:-0}" = 1 ]; then
    say "The API listens at $SLUICE_SERVER; Ctrl-C ends it."
    wait "$daemon"
fi
say "Played."
