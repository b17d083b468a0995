#!/bin/bash
# What the suites start: the daemon on a kubeconfig (or KUEUE_MANAGER, Kueue's own); prints READY once it decides.
# usage: manager.sh KUBECONFIG    environment: SLUICED, KUBEBUILDER_ASSETS, SUITES_OUT, CONFIG, GATES, PORT, POLICIES, FRAMEWORKS,
# ADAPTERS; WEBHOOKS, the manifests of those of Kueue's manager; SUITE_CONFIG and SUITE_GATES: what the suite would configure in its own process
set -eu
dir=$(mktemp -d "$SUITES_OUT/run.XXXXXX")
port=${PORT:-18081}
kubectl=("$KUBEBUILDER_ASSETS/kubectl" --kubeconfig "$1")
"${kubectl[@]}" create namespace kueue-system >/dev/null 2>&1 || true

# The policies, with what the configuration of the suite asks of them: jobs without a queue, namespaces.
policies() {
    local selector
    mkdir -p "$dir/policies"
    {
        echo "resources: [$(realpath --relative-to "$dir/policies" "$POLICIES")]"
        ! grep -q '^manageJobsWithoutQueueName: true' <<<"${SUITE_CONFIG:-}" ||
            echo "components: [$(realpath --relative-to "$dir/policies" "$POLICIES/all-jobs")]"
        selector=$(sed -n 's/^managedJobsNamespaceSelector: //p' <<<"${SUITE_CONFIG:-}")
        [ -z "$selector" ] || cat <<YAML
patches:
- target: {kind: MutatingAdmissionPolicy, name: sluice-(suspend|gate|default-queue).*}
  patch: '[{"op": "replace", "path": "/spec/matchConstraints/namespaceSelector", "value": $selector}]'
YAML
    } >"$dir/policies/kustomization.yaml"
    "${kubectl[@]}" kustomize "$dir/policies" >"$dir/policies.yaml" 2>"$dir/policies.log"
    "${kubectl[@]}" apply --server-side --force-conflicts -f "$dir/policies.yaml" >"$dir/policies.log" 2>&1
}
[ -z "${POLICIES:-}" ] || [ -n "${KUEUE_MANAGER:-}" ] || policies
given=${CONFIG:-}
# Its rules of fair sharing have to be named in a configuration, though not in Kueue's process.
rules='"preemptionStrategies":["LessThanOrEqualToFinalShare","LessThanInitialShare"]'
[ -z "${SUITE_CONFIG:-}" ] || given+=$'\n'${SUITE_CONFIG/'"preemptionStrategies":null'/$rules}
gates=${GATES:-}${SUITE_GATES:+${GATES:+,}$SUITE_GATES}

# One that a failed spec has left behind is in the way.
[ ! -f "$SUITES_OUT/manager.$port" ] || kill "$(cat "$SUITES_OUT/manager.$port")" 2>/dev/null && sleep 1 || true

# A token with which Kueue's manager shows its metrics.
token() {
    "${kubectl[@]}" create serviceaccount suite --namespace kueue-system >/dev/null 2>&1 || true
    "${kubectl[@]}" create clusterrolebinding suite --clusterrole cluster-admin --serviceaccount kueue-system:suite >/dev/null 2>&1 || true
    "${kubectl[@]}" create token suite --namespace kueue-system
}

# A line of the configuration, unless the suite has its own under that key.
setting() {
    grep -q "^${1%%:*}:" <<<"$given" || echo "$1"
}
{
    cat <<YAML
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
leaderElection: {leaderElect: false}
clientConnection: {qps: 300, burst: 500}
YAML
    setting "integrations: {frameworks: [${FRAMEWORKS:-\"batch/job\"}]}"
    setting 'resources: {transformations: [{input: kueue.x-k8s.io/cpu, strategy: Replace, outputs: {cpu: "2"}}]}'
} >"$dir/config.yaml"
if [ -n "${KUEUE_MANAGER:-}" ]; then
    mkdir -p "$dir/certs"
    metrics=$(sed -n "s/^metrics: //p" <<<"$given" | sed 's/"bindAddress":"[^"]*",\{0,1\}//' | sed "s/^{/{\"bindAddress\":\"127.0.0.1:$((port + 2))\",/")
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -days 2 \
        -keyout "$dir/certs/tls.key" -out "$dir/certs/tls.crt" >/dev/null 2>&1
    # it looks for its metrics' certificate there and nowhere else
    [ -f /etc/kueue/metrics/certs/tls.crt ] || { mkdir -p /etc/kueue/metrics/certs && cp "$dir"/certs/tls.* /etc/kueue/metrics/certs/; }
    cat >>"$dir/config.yaml" <<YAML
health: {healthProbeBindAddress: "127.0.0.1:$port"}
metrics: ${metrics:-"{bindAddress: \"127.0.0.1:$((port + 2))\", enableClusterQueueResources: true}"}
webhook: {host: 127.0.0.1, port: $((port + 1)), certDir: $dir/certs}
internalCertManagement: {enable: false}
$(grep -v '^metrics:' <<<"$given" || true)
YAML
    "$KUEUE_MANAGER" --kubeconfig "$1" --config "$dir/config.yaml" --feature-gates="VisibilityOnDemand=false${gates:+,$gates}" >"$dir/log" 2>&1 &
    pid=$!
    "$(dirname "$0")/read_metrics.py" $((port + 3)) "https://127.0.0.1:$((port + 2))/metrics" "$(token)" >"$dir/metrics.log" 2>&1 &
    reader=$!
    trap 'kill $reader 2>/dev/null' EXIT
else
    setting 'metrics: {enableClusterQueueResources: true}' >>"$dir/config.yaml"
    echo "$given" >>"$dir/config.yaml"
    options=()
    # Kueue's defaults, where Sluice has others.
    defaults=ElasticJobsViaWorkloadSlices=true,PrioritizePreemptorWorkloads=false,TASReplaceSeveralFailedNodes=false
    [ -z "${ADAPTERS:-}" ] || options+=(--adapters "$ADAPTERS")
    ! grep -q webhook-listen <<<"$("$SLUICED" --help)" || options+=(--webhook-listen "127.0.0.1:$((port + 1))")
    "$SLUICED" --kubeconfig "$1" --config "$dir/config.yaml" --feature-gates "$defaults${gates:+,$gates}" --listen "127.0.0.1:$port" \
        "${options[@]}" >"$dir/log" 2>&1 &
fi
pid=${pid:-$!}
echo $pid >"$SUITES_OUT/manager.$port"
trap 'kill $pid ${reader:-} 2>/dev/null; rm -f "$SUITES_OUT/manager.$port"; wait $pid || true; exit 0' TERM INT
for _ in $(seq 300); do
    curl -sf "http://127.0.0.1:$port/readyz" >/dev/null && break
    kill -0 $pid 2>/dev/null || { tail -5 "$dir/log" >&2; exit 1; }
    sleep 0.1
done
# The webhooks of Kueue's manager, which are not installed otherwise: at its port, in place of a Service.
webhooks() {
    local ca
    ca=$(base64 -w 0 "$dir/certs/tls.crt")
    awk -v url="https://127.0.0.1:$((port + 1))" -v ca="$ca" '
        /^    service:$/ || /^      (name: webhook-service|namespace: system)$/ {next}
        /^      path: / {print "    url: " url $2; print "    caBundle: " ca; next} {print}' "$WEBHOOKS" >"$dir/webhooks.yaml"
    "${kubectl[@]}" apply --server-side --force-conflicts -f "$dir/webhooks.yaml" >"$dir/webhooks.log" 2>&1
}
[ -z "${KUEUE_MANAGER:-}" ] || [ -z "${WEBHOOKS:-}" ] || webhooks
# Where v1beta1 is served, the CRDs have to say by now that this daemon converts it.
converts() {
    local found
    found=$("${kubectl[@]}" get crd workloads.kueue.x-k8s.io -o 'jsonpath={.spec.versions[*].name} {.spec.conversion.webhook.clientConfig.url}')
    [[ $found != *v1beta1* || $found == *":$((port + 1))/"* ]]
}
sleep 1
[ -n "${KUEUE_MANAGER:-}" ] || for _ in $(seq 100); do
    ! converts || break
    sleep 0.1
done
echo READY
wait $pid
