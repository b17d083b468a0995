#!/bin/bash
# Fills a directory with what sluiced needs to run and nothing else: no shell, no package manager.
# The same program and packages give the same files: times are SOURCE_DATE_EPOCH (0), modes those said here.
# usage: rootfs.sh SLUICED DIRECTORY
set -euo pipefail
umask 022
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}
program=$1 root=$2
mkdir -p "$root/etc/ssl/certs" "$root/tmp"
chmod 1777 "$root/tmp"
install -D -m 0755 "$program" "$root/usr/bin/sluiced"
install -D -m 0644 -t "$root/usr/share/sluice/adapters" "$(dirname "$0")"/../adapters/*.yaml
# The libraries at the paths where the loader looks for them.
ldd "$program" | awk '$3 ~ "^/" { print $3 } $1 ~ "^/" { print $1 }' | while read -r library; do
    install -D -m 0755 "$(readlink -f "$library")" "$root$library"
done
# Names of hosts are looked up by plugins of the C library.
for plugin in libnss_dns.so.2 libnss_files.so.2 libresolv.so.2; do
    path=$(ldconfig -p | awk -v name="$plugin" '$1 == name && /x86-64|AArch64/ { print $NF }' | sed -n 1p)
    [ -z "$path" ] || [ -e "$root$path" ] || install -D -m 0755 "$(readlink -f "$path")" "$root$path"
done
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
"$(dirname "$0")/sbom.py" "$program" ca-certificates >"$root/usr/share/sluice/sbom.spdx.json"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
printf 'root:x:0:0::/:/none\nsluice:x:65532:65532::/:/none\n' >"$root/etc/passwd"
printf 'root:x:0:\nsluice:x:65532:\n' >"$root/etc/group"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
