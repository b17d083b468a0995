#!/bin/bash
# Fetches CBMC, which Debian 12 does not have, and unpacks it with the libraries it needs into DIR: DIR/cbmc starts it.
# The packages come from Debian 13, over apt and with its signatures checked against the keys of this machine's
# debian-archive-keyring. Nothing is installed: apt's lists, its cache and what is unpacked lie in DIR.
# usage: fetch.sh DIR      DEBIAN_MIRROR names another mirror of Debian.
set -euo pipefail
tool='cbmc=6.6.0-4 minisat=1:2.2.1-8' # what answers: exactly these
libraries='libc6 libstdc++6 libgcc-s1' # a point release replaces them, the answers stay
dir=$(realpath -m "${1:?usage: fetch.sh DIR}")
keys=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

fail() {
    echo "fetch: $*" >&2
    rm -f "$dir/cbmc" # it is there when all went well
    exit 1
}
[ "$(dpkg --print-architecture)" = amd64 ] || fail "only for amd64"
[ -r "$keys" ] || fail "$keys is missing: apt-get install debian-archive-keyring"
rm -rf "$dir"
mkdir -p "$dir"/{lists/partial,archives/partial,parts,root}
: >"$dir/status"
cat >"$dir/trixie.sources" <<SOURCES
Types: deb
URIs: $mirror
Suites: trixie
Components: main
Architectures: amd64
Signed-By: $keys
SOURCES

apt=(apt-get -q -o Dir::Etc::SourceList="$dir/trixie.sources" -o Dir::Etc::SourceParts="$dir/parts"
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts="$dir/parts" -o Dir::State::Lists="$dir/lists"
    -o Dir::State::Status="$dir/status" -o Dir::Cache="$dir" -o Dir::Cache::Archives="$dir/archives"
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3
    -o APT::Get::AllowUnauthenticated=false -o Acquire::AllowInsecureRepositories=false)
"${apt[@]}" update --error-on=any || fail "the list of Debian 13's packages cannot be had from $mirror"
# shellcheck disable=SC2086
(cd "$dir/archives" && "${apt[@]}" download $tool $libraries) || fail "a package of '$tool $libraries' cannot be had"
for package in "$dir"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$dir/root" --wildcards --no-anchored \
        cbmc ld-linux-x86-64.so.2 'libc.so.*' 'libm.so.*' 'libgcc_s.so.*' 'libstdc++.so.*' 'libminisat.so.*' \
        2>/dev/null || true # no package has all of these
done
cat >"$dir/cbmc" <<'START'
#!/bin/sh
root=$(dirname "$(realpath "$0")")/root/usr
libraries=$root/lib/x86_64-linux-gnu
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$root/lib" "$root/bin/cbmc" "$@"
START
chmod +x "$dir/cbmc"
version=$("$dir/cbmc" --version) || fail "what was unpacked does not start"
[[ $version == 6.6.0* ]] || fail "this is CBMC $version"
rm -rf "$dir"/{lists,archives,parts,status,trixie.sources,pkgcache.bin,srcpkgcache.bin}
echo "fetch: CBMC $version"
