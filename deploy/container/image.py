#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Makes an image (OCI, as a tar archive) of the root directory that rootfs.sh has filled, without a container engine. The same files
give the same bytes: times are SOURCE_DATE_EPOCH, owners root, entries in the order of their names. What the last stage of Containerfile
says of the user and the program stands here as well; tests/container compares them.

usage: image.py DIRECTORY NAME:TAG >FILE    prints the digest of the image to stderr"""
import hashlib, io, json, os, pathlib, platform, sys, tarfile, time, zlib

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
CONFIG = {"User": "65532:65532", "Entrypoint": ["/usr/bin/sluiced"]}


def text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def add(tar, name, data=None, mode=0o644, link=None):
    """A file, or a directory, or a symbolic link."""
    entry = tarfile.TarInfo(name)
    entry.mtime, entry.mode = EPOCH, mode
    if link is not None:
        entry.type, entry.linkname = tarfile.SYMTYPE, link
    elif data is None:
        entry.type = tarfile.DIRTYPE
    else:
        entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data or b""))


def layer(root):
    """The tar of what is below the directory. Modes do not depend on who filled it with which umask."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            if path.is_symlink():
                add(tar, name, link=os.readlink(path), mode=0o777)
            elif path.is_dir():
                add(tar, name, mode=0o1777 if name == "tmp" else 0o755)
            else:
                add(tar, name, path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644)
    return out.getvalue()


def packed(data):
    """As gzip, whose header has no time and no name."""
    squeeze = zlib.compressobj(6, zlib.DEFLATED, 31)
    return squeeze.compress(data) + squeeze.flush()


def main():
    root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    plain = layer(root)
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
    config = text({"architecture": ARCHITECTURE, "os": "linux", "created": when, "config": CONFIG,
                   "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
                   "history": [{"created": when, "created_by": "deploy/container/rootfs.sh"}]})
    manifest = blob(text({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                          "config": blob(config, "config.v1+json"), "layers": [blob(packed(plain), "layer.v1.tar+gzip")]}), "manifest.v1+json")
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        {**manifest, "annotations": {"org.opencontainers.image.ref.name": name.partition(":")[2], "io.containerd.image.name": name}}]}
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.USTAR_FORMAT) as tar:
        for directory in ("blobs", "blobs/sha256"):
            add(tar, directory, mode=0o755)
        for digest, data in sorted(blobs.items()):
            add(tar, f"blobs/sha256/{digest}", data)
        add(tar, "index.json", text(index))
        add(tar, "oci-layout", text({"imageLayoutVersion": "1.0.0"}))
    print(f"image: {name} is {manifest['digest']}", file=sys.stderr)


if __name__ == "__main__":
    main()
