#!/bin/bash
# Behind `make run`: starts a standalone sluiced, loads the quickstart, shows how its jobs queue, run and finish,
# and stays up until Ctrl-C. usage: run.sh [BUILD]    environment: DATA, LISTEN, RUN
# RUN=processes: with jobs whose commands are run on this machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
run=${RUN:-simulated}
data=${DATA:-$build/run-data}
listen=${LISTEN:-127.0.0.1:8088}
example=deploy/examples/quickstart
if [ "$run" = processes ]; then
    data=${DATA:-$build/run-processes}
    example=deploy/examples/processes
    unset SLUICE_SERVER
    export KUBECONFIG="$data/kubeconfig" # the daemon writes it, with the token
else
    export SLUICE_SERVER="http://$listen"
fi
mkdir -p "$data"
log="$data/sluiced.log"
daemon=

stop() {
    trap '' INT TERM HUP
    if [ -n "$daemon" ] && kill -0 "$daemon" 2>/dev/null; then
        kill -TERM "$daemon"
        wait "$daemon" || true
        echo
        echo "Stopped. Everything is kept in $data; the same command picks up there."
    fi
    exit 0
}

write_kubeconfig() {
    cat >"$data/kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: sluice
  cluster:
    server: $SLUICE_SERVER
contexts:
- name: sluice
  context:
    cluster: sluice
    user: sluice
    namespace: lab
current-context: sluice
users:
- name: sluice
  user: {}
YAML
}

wait_until_up() {
    for _ in $(seq 200); do
        kill -0 "$daemon" 2>/dev/null || { tail -n 3 "$log" >&2; exit 1; }
        "$build/sluicectl" version >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    echo "sluiced does not answer at $listen; see $log" >&2
    kill -TERM "$daemon"
    exit 1
}

taken() {
    (exec 3<>"/dev/tcp/${listen%:*}/${listen##*:}") 2>/dev/null
}

if [ "$run" = processes ] && taken || [ "$run" != processes ] && "$build/sluicectl" version >/dev/null 2>&1; then
    echo "Something answers at $listen already: stop it, or give another LISTEN=ADDR:PORT." >&2
    exit 1
fi
"$build/sluiced" --standalone --run "$run" --data "$data" --listen "$listen" >>"$log" 2>&1 &
daemon=$!
trap stop INT TERM HUP
wait_until_up
[ "$run" = processes ] || write_kubeconfig

"$build/sluicectl" apply -f "$example" >"$data/applied.txt"
echo "Loaded $example: $(grep -c ' created$' "$data/applied.txt" || true) created," \
    "$(grep -vc ' created$' "$data/applied.txt" || true) already there."
if ! "$build/sluicectl" dashboard --until-done; then
    kill -0 "$daemon" 2>/dev/null && stop
    echo "sluiced has ended unexpectedly; see $log" >&2
    exit 1
fi

if [ "$run" = processes ]; then
    cat <<TEXT

These jobs were run on this machine. In another terminal:

  export KUBECONFIG=$data/kubeconfig              # with the token: nobody else is let in
  kubectl get jobs,pods
  kubectl logs job/report                         # and -f while it runs
  kubectl create -f deploy/examples/processes/20-jobs.yaml    # your own: with a command and a queue, as these
  $build/sluicectl pending                        # pending workloads in their order, and why they wait

Log: $log
Ctrl-C stops it. What runs then runs on, and is taken over at the next start; kubectl delete job ends it.
TEXT
else
    cat <<TEXT

These jobs were simulated: nothing was run. \`make run RUN=processes\` runs commands on this machine.
The API listens at $SLUICE_SERVER. In another terminal:

  export KUBECONFIG=$data/kubeconfig SLUICE_SERVER=$SLUICE_SERVER
  kubectl get clusterqueues,workloads -A          # any kubectl works
  $build/sluicectl get jobs -A
  $build/sluicectl submit --queue research --cpu 2 --run-for 5s --namespace lab
  $build/sluicectl pending                        # pending workloads in their order, and why they wait

Log: $log    Metrics: $SLUICE_SERVER/metrics
Ctrl-C stops it.
TEXT
fi
wait "$daemon" && status=0 || status=$?
echo "sluiced has ended with $status; see $log" >&2
exit "$status"
