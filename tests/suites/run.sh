#!/bin/bash
# One of Kueue's integration suites against the daemon, or against Kueue's own manager: KUEUE_MANAGER is its binary, or
# `own`, as the suite starts it in its process. Failed specs without a reason in reasons.txt are run once more, without the
# others. Fails if one fails then, too.
# usage: run.sh SUITE [ginkgo flags]    environment: KUEUE (a checkout), BUILD (build), CONFIG (more YAML for the configuration)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${KUEUE:?a checkout of Kueue}"
[ $# -gt 0 ] || { sed -n 5p "$0"; exit 2; }
suite=$1
shift
out=$root/${BUILD:-build}/suites
name=${suite//\//-}
mkdir -p "$out"

(cd "$KUEUE" && [ -e test/util/external.go ] || patch -d "$KUEUE" -p1 -s <"$here/external-manager.patch")
# CRDs of other projects that suites depend on: the folder under dep-crds, the Go module, where they lie in it. A module that
# the proxy knows but does not hand out comes from the repository that it names.
crds() {
    local folder=$KUEUE/dep-crds/$1 module=$2 version source
    [ -z "$(ls "$folder" 2>/dev/null)" ] || return 0
    version=$(awk -v m="$module" '$1 == m {print $2}' "$KUEUE/go.mod")
    mkdir -p "$folder" "$out/modules"
    (cd / && go mod download -json "$module@$version") >"$out/modules/$1.json" || true
    source=$(named "$1" Dir)
    [ -n "$source" ] || source=$(repository "$1")
    [ -d "$source/$3" ] || { echo "run.sh: cannot have $module@$version: specs of its kinds will fail" >&2 && return 0; }
    cp "$source/$3"/*.yaml "$folder/"
    chmod -R u+w "$folder"
    rm -f "$folder"/kustomization.yaml "$folder"/kustomizeconfig.yaml
}
named() { # FOLDER KEY: what `go mod download` says of a module
    sed -n "s/^\t*\"$2\": \"\(.*\)\",\{0,1\}$/\1/p" "$out/modules/$1.json"
}
repository() { # FOLDER: the folder of a module in its repository
    local to=$out/modules/$1 subdir
    subdir=$(named "$1" Subdir)
    rm -rf "$to"
    git clone -q --depth 1 --no-checkout --branch "$(named "$1" Ref | sed 's,^refs/tags/,,')" "$(named "$1" URL)" "$to" &&
        git -C "$to" checkout -q HEAD -- "${subdir:+$subdir/}config/crd" &&
        echo "$to${subdir:+/$subdir}"
}
frameworks() { # SUITE: names for integrations.frameworks
    case $1 in
    job) echo '"batch/job"' ;;
    pod) echo '"batch/job","pod"' ;;
    statefulset) echo '"pod","statefulset"' ;;
    setup | jobset) echo '"jobset.x-k8s.io/jobset"' ;;
    mpijob) echo '"batch/job","kubeflow.org/mpijob"' ;;
    raycluster) echo '"ray.io/raycluster","ray.io/rayjob"' ;;
    rayjob) echo '"ray.io/rayjob"' ;;
    trainjob) echo '"trainer.kubeflow.org/trainjob"' ;;
    appwrapper) echo '"workload.codeflare.dev/appwrapper"' ;;
    sparkapplication) echo '"sparkoperator.k8s.io/sparkapplication"' ;;
    *) echo "\"kubeflow.org/$1\"" ;;
    esac
}
crds cluster-autoscaler k8s.io/autoscaler/cluster-autoscaler/apis config/crd
if [[ $suite = webhook/jobs || $suite = controller/job* ]]; then
    crds mpi-operator github.com/kubeflow/mpi-operator manifests/base
    crds training-operator-crds github.com/kubeflow/training-operator manifests/base/crds
    rm -f "$KUEUE/dep-crds/training-operator-crds/kubeflow.org_mpijobs.yaml" # an older version
    crds kf-trainer-crds github.com/kubeflow/trainer/v2 manifests/base/crds
    crds ray-operator-crds github.com/ray-project/kuberay/ray-operator config/crd/bases
    crds jobset-operator sigs.k8s.io/jobset config/components/crd/bases
    crds appwrapper-crds github.com/project-codeflare/appwrapper config/crd/bases
    crds leaderworkerset-operator sigs.k8s.io/lws config/crd/bases
    crds spark-operator-crds github.com/kubeflow/spark-operator/v2 config/crd/bases
fi
[ -x "$out/$name.test" ] || (cd "$KUEUE" && GOFLAGS=-mod=vendor go test -vet=off -c -o "$out/$name.test" "./test/integration/singlecluster/$suite")

export KUBEBUILDER_ASSETS=$root/${BUILD:-build}/e2e/bin KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m
export EXTERNAL_MANAGER=$here/manager.sh EXTERNAL_CRDS=$root/deploy/kubernetes/crds
[ -z "${KUEUE_MANAGER:-}" ] || EXTERNAL_CRDS=$KUEUE/config/components/crd/bases
if [ -z "${KUEUE_MANAGER:-}" ] && [ -d "$root/deploy/kubernetes/v1beta1" ]; then # v1beta1 too, converted by the daemon
    EXTERNAL_CRDS=$out/crds
    mkdir -p "$out/with-v1beta1" "$EXTERNAL_CRDS"
    echo "resources: [$(realpath --relative-to "$out/with-v1beta1" "$root/deploy/kubernetes/crds")]
components: [$(realpath --relative-to "$out/with-v1beta1" "$root/deploy/kubernetes/v1beta1")]" >"$out/with-v1beta1/kustomization.yaml"
    "$KUBEBUILDER_ASSETS/kubectl" kustomize "$out/with-v1beta1" >"$EXTERNAL_CRDS/crds.yaml"
fi
export SLUICED=${SLUICED:-$root/${BUILD:-build}/sluiced} SUITES_OUT=$out
# Expectations on metrics are asked of the daemon, but for families that it does not have (docs/operations.md).
if [ -z "${KUEUE_MANAGER:-}" ]; then
    export EXTERNAL_METRICS=http://127.0.0.1:${PORT:-18081}/metrics
    lacks=(multikueue_workloads_admitted_total multikueue_workloads_dispatched_total)
    EXTERNAL_LACKS=${lacks[*]/#/kueue_}
    export EXTERNAL_LACKS
else
    export EXTERNAL_METRICS=http://127.0.0.1:$((${PORT:-18081} + 3))/metrics
fi
case $suite in
webhook/*) # They look at what is refused, and at nothing else: one program serves them all.
    export EXTERNAL_KEEP=1 POLICIES=${POLICIES-$root/deploy/kubernetes/policies}
    ;;
controller/job*) # the kinds that the suite's setup has controllers of, and webhooks where it installs them
    export FRAMEWORKS ADAPTERS=$root/deploy/adapters EXTERNAL_TEARDOWN=1
    FRAMEWORKS=$(frameworks "${suite##*/}")
    if grep -q WebhookPath "$KUEUE/test/integration/singlecluster/$suite/suite_test.go"; then
        export POLICIES=${POLICIES-$root/deploy/kubernetes/policies} WEBHOOKS=$KUEUE/config/components/webhook/manifests.yaml
    fi
    ;;
controller/failurerecovery) # The controller of this suite needs no gate, a manager does.
    export GATES=${GATES-FailureRecoveryPolicy=true}
    ;;
kueuectl)
    export KUEUE_BIN=$out/bin
    [ -x "$KUEUE_BIN/kubectl-kueue" ] || (cd "$KUEUE" && GOFLAGS=-mod=vendor go build -o "$KUEUE_BIN/kubectl-kueue" ./cmd/kueuectl)
    ;;
esac
if [ "${KUEUE_MANAGER:-}" = own ]; then
    unset EXTERNAL_MANAGER EXTERNAL_CRDS EXTERNAL_KEEP EXTERNAL_METRICS
    mkdir -p "$KUEUE/config/components/crd/_output"
    "$KUBEBUILDER_ASSETS/kubectl" kustomize "$KUEUE/config/components/crd" >"$KUEUE/config/components/crd/_output/crds-with-webhooks.yaml"
fi
cd "$KUEUE/test/integration/singlecluster/$suite"
specs() { # REPORT [ginkgo flags]
    local report=$1
    shift
    "$out/$name.test" -ginkgo.no-color -ginkgo.succinct -ginkgo.poll-progress-after=0 -ginkgo.timeout=60m \
        -ginkgo.json-report="$out/$report.json" "$@" >"$out/$report.log" 2>&1 || true
}
who=sluice report=$name
[ -z "${KUEUE_MANAGER:-}" ] || who=kueue report=$name.kueue
rm -f "$out/$report.again.json"
specs "$report" "$@"
mapfile -t again < <("$here/table.py" failed "$suite" $who "$out/$report.json")
[ ${#again[@]} -eq 0 ] || specs "$report.again" "${again[@]/#/-ginkgo.focus-file=}"
reports=("$out/$report.json")
[ ! -e "$out/$report.again.json" ] || reports+=("$out/$report.again.json")
exec "$here/table.py" report "$suite" $who "${reports[@]}"
