#!/bin/bash
# Builds the kubectl that the end-to-end tests drive, as a Go module tool, into $1 (default build/e2e/bin).
# Go rebuilds only what changed. Where the machine has no Go 1.26, tests/setup.sh has put one into .cache/go.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(readlink -m "${1:-build/e2e/bin}")
[ -x .cache/go/bin/go ] && PATH="$PWD/.cache/go/bin:$PATH"
version=v1.36.3
package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=36 -X $package.gitTreeState=clean"
mkdir -p "$bin"
cd tests/e2e/tools
CGO_ENABLED=0 GOTOOLCHAIN=local go build -mod=readonly -trimpath -buildvcs=false -ldflags "$flags" \
    -o "$bin/kubectl" k8s.io/kubernetes/cmd/kubectl
