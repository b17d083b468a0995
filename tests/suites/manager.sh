#!/bin/bash
# What the suites start: the daemon on a kubeconfig (or KUEUE_MANAGER, Kueue's own); prints READY once it decides.
# usage: manager.sh KUBECONFIG    environment: SLUICED, KUBEBUILDER_ASSETS, SUITES_OUT, CONFIG, GATES, PORT
set -eu
dir=$(mktemp -d "$SUITES_OUT/run.XXXXXX")
port=${PORT:-18081}
"$KUBEBUILDER_ASSETS/kubectl" --kubeconfig "$1" create namespace kueue-system >/dev/null 2>&1 || true
cat >"$dir/config.yaml" <<YAML
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
leaderElection: {leaderElect: false}
clientConnection: {qps: 300, burst: 500}
integrations: {frameworks: ["batch/job"]}
resources: {transformations: [{input: kueue.x-k8s.io/cpu, strategy: Replace, outputs: {cpu: "2"}}]}
YAML
if [ -n "${KUEUE_MANAGER:-}" ]; then
    mkdir -p "$dir/certs"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -days 2 \
        -keyout "$dir/certs/tls.key" -out "$dir/certs/tls.crt" >/dev/null 2>&1
    # it looks for its metrics' certificate there and nowhere else
    [ -f /etc/kueue/metrics/certs/tls.crt ] || { mkdir -p /etc/kueue/metrics/certs && cp "$dir"/certs/tls.* /etc/kueue/metrics/certs/; }
    cat >>"$dir/config.yaml" <<YAML
health: {healthProbeBindAddress: "127.0.0.1:$port"}
metrics: {bindAddress: "0", enableClusterQueueResources: true}
webhook: {host: 127.0.0.1, port: $((port + 1)), certDir: $dir/certs}
internalCertManagement: {enable: false}
${CONFIG:-}
YAML
    "$KUEUE_MANAGER" --kubeconfig "$1" --config "$dir/config.yaml" --feature-gates=VisibilityOnDemand=false >"$dir/log" 2>&1 &
else
    cat >>"$dir/config.yaml" <<YAML
metrics: {enableClusterQueueResources: true}
${CONFIG:-}
YAML
    "$SLUICED" --kubeconfig "$1" --config "$dir/config.yaml" --feature-gates "TASReplaceSeveralFailedNodes=false${GATES:+,$GATES}" --listen "127.0.0.1:$port" >"$dir/log" 2>&1 &
fi
pid=$!
trap 'kill $pid; wait $pid || true; exit 0' TERM INT
for _ in $(seq 300); do
    curl -sf "http://127.0.0.1:$port/readyz" >/dev/null && break
    kill -0 $pid 2>/dev/null || { tail -5 "$dir/log" >&2; exit 1; }
    sleep 0.1
done
sleep 1
echo READY
wait $pid
