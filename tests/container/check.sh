#!/bin/bash
# Fills the root directory that the image is made of and runs the daemon in it as the Deployment would: not as root,
# without capabilities and new privileges, the root read-only. With ENGINE=buildah an image is made of it as well, as the
# last stage of deploy/container/Containerfile does, and run. Needs root for its mounts.
# usage: check.sh BUILD
set -u
cd "$(dirname "$0")/../.."
build=$(readlink -f "${1:-build}")
here=$build/container root=$build/container/root kubectl=$build/e2e/bin/kubectl
passed=0 failed=0

check() { # WHAT COMMAND...
    local what=$1 out
    shift
    if out=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s\n%s\n' "$what" "$out" | tail -n 20
    fi
}

# What a container engine does, in as few words: namespaces, /proc, a little /dev, a volume at /data, nothing else to
# write to.
inside() { # COMMAND...
    exec setpriv --clear-groups --no-new-privs unshare --mount --pid --fork --kill-child --ipc --uts bash -c '
        set -e
        root=$1 data=$2
        shift 2
        mount --make-rprivate /
        mount --bind "$root" "$root"
        mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
        mount -t tmpfs -o size=64k,nosuid tmpfs "$root/dev"
        touch "$root/dev/null" "$root/dev/urandom"
        mount --bind /dev/null "$root/dev/null"
        mount --bind /dev/urandom "$root/dev/urandom"
        mount --bind "$data" "$root/data"
        mount -o remount,bind,ro "$root"
        exec unshare --root="$root" --wd=/ --setgid 65532 --setuid 65532 "$@"' inside "$root" "$here/data" "$@"
}

has_bill() { # every library of the image is a file of a package in the list
    local library bill=$root/usr/share/sluice/sbom.spdx.json
    python3 -m json.tool "$bill" >/dev/null || return 1
    ldd "$here/sluiced" | awk '$3 ~ "^/" { print $3 } $1 ~ "^/" { print $1 }' | while read -r library; do
        grep -qF "$(basename "$(readlink -f "$library")")" "$bill" || { echo "$library is not in $bill"; exit 1; }
    done || return 1
    grep -q '"name": "ca-certificates"' "$bill" || { echo "the CA certificates are not in $bill"; exit 1; }
}
# Filled again, by someone with another umask, elsewhere and later.
is_the_same_again() {
    (umask 077 && mkdir "$here/again" && cp "$here/sluiced" "$here/again/sluiced" && deploy/container/rootfs.sh "$here/again/sluiced" "$here/again/root") &&
        find "$root" "$here/again/root" -newermt @1 | { ! grep .; } &&
        deploy/container/image.py "$root" sluice:test >"$here/image.tar" &&
        deploy/container/image.py "$here/again/root" sluice:test >"$here/again/image.tar" && cmp "$here/image.tar" "$here/again/image.tar"
    local code=$?
    rm -rf "$here/again"
    return $code
}
# Each blob is what its name says, the layer has the root's files, and user and program are those of Containerfile.
image_is_whole() {
    python3 - "$here/image.tar" "$root" deploy/container/Containerfile <<'END'
import gzip, hashlib, io, json, pathlib, re, sys, tarfile
archive, root, recipe = tarfile.open(sys.argv[1]), pathlib.Path(sys.argv[2]), open(sys.argv[3]).read()
files = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
blob = lambda entry: files["blobs/" + entry["digest"].replace(":", "/")]
for name, data in files.items():
    assert not name.startswith("blobs/") or name.endswith("/" + hashlib.sha256(data).hexdigest()), name
assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
manifest = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
config, plain = json.loads(blob(manifest["config"])), gzip.decompress(blob(manifest["layers"][0]))
assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(plain).hexdigest()]
assert all(len(blob(e)) == e["size"] for e in (manifest["config"], *manifest["layers"]))
layer = {m.name: m for m in tarfile.open(fileobj=io.BytesIO(plain))}
assert set(layer) == {str(p.relative_to(root)) for p in root.rglob("*")}, set(layer)
assert layer["tmp"].mode == 0o1777 and layer["usr/bin/sluiced"].mode == 0o755 and layer["etc/passwd"].mode == 0o644
said = re.search(r"^USER (\S+)$", recipe, re.M)[1], json.loads(re.search(r"^ENTRYPOINT (.*)$", recipe, re.M)[1])
assert (config["config"]["User"], config["config"]["Entrypoint"]) == said, config["config"]
END
}
is_small() { [ "$(du -sm "$root" | cut -f1)" -le 40 ]; }
has_no_shell() { [ -z "$(find "$root" \( -name sh -o -name bash -o -name busybox -o -perm /6000 \) -print -quit)" ]; }
tells_version() { (inside /usr/bin/sluiced --version) | grep -q '^sluiced '; }
status_says() { grep -Eq "$1" "/proc/$daemon/status"; }
root_is_read_only() { awk '$5 == "/" { ro = $6 ~ /^ro(,|$)/ } END { exit !ro }' "/proc/$daemon/mountinfo"; }
data_is_kept() { [ -n "$(find "$here/data" -type f -size +0 -print -quit)" ]; }
ask() { "$kubectl" --kubeconfig /dev/null --server "http://127.0.0.1:$port" "$@"; }
ended_with() { [ "$1" -eq 0 ] || { cat "$here/log"; echo "exit $1"; return 1; }; }

ready() {
    for _ in $(seq 100); do
        curl -fsS "http://127.0.0.1:$port/readyz" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    cat "$here/log"
    return 1
}

job_is_admitted() {
    ask create --validate=false -f - <<<'
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: any}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team}, spec: {namespaceSelector: {},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: any, resources: [{name: cpu, nominalQuota: 2}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main, namespace: default},
 spec: {clusterQueue: team}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: one, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}},
 spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}'
    ask wait --for=condition=Admitted --timeout=20s workload --all
}

image_runs() {
    local store=(buildah --storage-driver vfs --root "$here/store" --runroot "$here/run")
    sed -n '/^FROM scratch/,$ { s/--from=build .rootfs/root/; p }' deploy/container/Containerfile >"$here/Containerfile"
    "${store[@]}" bud --isolation chroot -f "$here/Containerfile" -t sluice "$here" &&
        container=$("${store[@]}" from --pull-never sluice) &&
        "${store[@]}" run --isolation chroot "$container" -- /usr/bin/sluiced --version | grep -q '^sluiced ' &&
        "${store[@]}" inspect --type image --format '{{.OCIv1.Config.User}}' sluice | grep -qx 65532:65532
    local code=$?
    "${store[@]}" rm --all >/dev/null
    "${store[@]}" rmi --all >/dev/null
    return $code
}

[ "$(id -u)" -eq 0 ] || { echo "check.sh: needs root" >&2; exit 2; }
rm -rf "$here" && mkdir -p "$here/data" && chown 65532:65532 "$here/data"
strip -R .note.gnu.build-id -o "$here/sluiced" "$build/sluiced"
check "the root can be filled" deploy/container/rootfs.sh "$here/sluiced" "$root"
check "the root is at most 40 MB" is_small
check "the root has a bill of materials" has_bill
check "the root has no shell and nothing setuid" has_no_shell
check "the same program gives the same image, byte by byte" is_the_same_again
check "the image is whole and runs what the recipe says" image_is_whole
[ "${ENGINE:-}" = buildah ] && check "an image of it runs" image_runs
mkdir -p "$root/data" "$root/proc" "$root/dev" # where an engine mounts
check "it tells its version" tells_version

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(inside /usr/bin/sluiced --standalone --data /data --listen "127.0.0.1:$port") >"$here/log" 2>&1 &
starter=$!
check "it gets ready on a volume" ready
daemon=$(pgrep -n -f -- "^/usr/bin/sluiced --standalone --data /data --listen 127.0.0.1:$port")
check "it is not root" status_says $'^Uid:\t65532\t65532\t65532\t65532$'
check "it is in no other group" status_says $'^Groups:\t *$'
check "it has no capabilities" status_says '^CapEff:.0+$'
check "it gets no new privileges" status_says '^NoNewPrivs:.1$'
check "its calls are filtered" status_says '^Seccomp:.2$'
check "its root is read-only" root_is_read_only
check "kubectl gets a job admitted" job_is_admitted
kill -TERM "$daemon"
wait "$starter"
check "it ends well on SIGTERM" ended_with $?
check "what it knows is on the volume" data_is_kept
echo "container: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
