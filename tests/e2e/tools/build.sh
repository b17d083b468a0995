#!/bin/bash
# Builds programs that the end-to-end tests drive, as Go module tools. usage: build.sh DIRECTORY NAME...
# Go rebuilds only what changed. Where the machine has no Go 1.26, tests/setup.sh has put one into .cache/go.
set -euo pipefail
bin=$(readlink -m "$1")
shift
cd "$(dirname "$0")/../../.."
[ -x .cache/go/bin/go ] && PATH="$PWD/.cache/go/bin:$PATH"
cd tests/e2e/tools
version=v$(awk '$1 == "k8s.io/kubernetes" { sub("v", "", $2); print $2 }' go.mod)
package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$version")"
flags+=" -X $package.gitTreeState=clean"
mkdir -p "$bin"
for name in "$@"; do
    case $name in
    etcd) source=go.etcd.io/etcd/server/v3 ;;
    kwok) source=sigs.k8s.io/kwok/cmd/kwok ;;
    informers | approver) source=./$name ;;
    kube*) source=k8s.io/kubernetes/cmd/$name ;;
    *) echo "build.sh: do not know $name" >&2 && exit 2 ;;
    esac
    CGO_ENABLED=0 GOTOOLCHAIN=local go build -mod=readonly -trimpath -buildvcs=false -ldflags "$flags" \
        -o "$bin/$name" "$source"
done
