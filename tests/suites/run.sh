#!/bin/bash
# One of Kueue's integration suites against the daemon, or against Kueue's own manager (KUEUE_MANAGER).
# usage: run.sh SUITE [ginkgo flags]    environment: KUEUE (a checkout), BUILD (build), CONFIG (more YAML for the configuration)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${KUEUE:?a checkout of Kueue}"
[ $# -gt 0 ] || { sed -n 3p "$0"; exit 2; }
suite=$1
shift
out=$root/${BUILD:-build}/suites
name=${suite//\//-}
mkdir -p "$out"

(cd "$KUEUE" && [ -e test/util/external.go ] || patch -d "$KUEUE" -p1 -s <"$here/external-manager.patch")
crds=$KUEUE/dep-crds/cluster-autoscaler
if [ ! -d "$crds" ]; then
    module=k8s.io/autoscaler/cluster-autoscaler/apis
    version=$(awk -v m=$module '$1 == m {print $2}' "$KUEUE/go.mod")
    mkdir -p "$crds"
    cp "$(cd / && go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')"/config/crd/*.yaml "$crds/"
    chmod -R u+w "$crds"
fi
[ -x "$out/$name.test" ] || (cd "$KUEUE" && GOFLAGS=-mod=vendor go test -vet=off -c -o "$out/$name.test" "./test/integration/singlecluster/$suite")

export KUBEBUILDER_ASSETS=$root/${BUILD:-build}/e2e/bin
export EXTERNAL_MANAGER=$here/manager.sh EXTERNAL_CRDS=$root/deploy/kubernetes/crds
[ -z "${KUEUE_MANAGER:-}" ] || EXTERNAL_CRDS=$KUEUE/config/components/crd/bases
export SLUICED=$root/${BUILD:-build}/sluiced SUITES_OUT=$out
cd "$KUEUE/test/integration/singlecluster/$suite"
"$out/$name.test" -ginkgo.no-color -ginkgo.succinct -ginkgo.poll-progress-after=0 -ginkgo.timeout=60m \
    -ginkgo.json-report="$out/$name.json" "$@" >"$out/$name.log" 2>&1 || true
"$here/score.py" "$out/$name.json"
