#!/bin/bash
# Builds helm into BUILD/e2e/bin and puts Kueue's chart, as its release has it, into BUILD/helm/kueue. usage: tools.sh BUILD
set -euo pipefail
build=$(readlink -m "$1")
cd "$(dirname "$0")/../.."
[ -x .cache/go/bin/go ] && PATH="$PWD/.cache/go/bin:$PATH"
kueue=sigs.k8s.io/kueue@v0.19.2
sum=h1:mPNzr37u0nwI7ikST5QQl5gg6EgtYOAvC9ZbTgywdN8=

cd tests/helm/tools
export GOTOOLCHAIN=local
chart=helm.sh/helm/v3/pkg/chartutil # the version of Kubernetes that `helm template` takes where no cluster is asked
mkdir -p "$build/e2e/bin"
CGO_ENABLED=0 go build -mod=readonly -trimpath -buildvcs=false -o "$build/e2e/bin/helm" \
    -ldflags "-s -w -X $chart.k8sVersionMajor=1 -X $chart.k8sVersionMinor=36" helm.sh/helm/v3/cmd/helm

module=$(go mod download -json "$kueue")
field() { sed -n "s/^\t\"$1\": \"\(.*\)\",\?$/\1/p" <<<"$module"; }
[ "$(field Sum)" = "$sum" ] || { echo "tools.sh: $kueue has the sum $(field Sum), not $sum" >&2; exit 1; }
rm -rf "$build/helm/kueue"
mkdir -p "$build/helm"
cp -r "$(field Dir)/charts/kueue" "$build/helm/kueue"
chmod -R u+w "$build/helm/kueue"
