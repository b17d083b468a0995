#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Writes a bill of materials (SPDX 2.3, JSON) of a program: itself, and the Debian packages of the libraries that it is linked
with, by ldd and dpkg, and packages that are named. A library that no package has is a failure: it would be missing in the list.

usage: sbom.py PROGRAM [PACKAGE]... >FILE"""
import datetime, hashlib, json, os, pathlib, re, subprocess, sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Real paths of what the loader loads; the kernel's own object has none."""
    return sorted({os.path.realpath(p) for p in re.findall(r"(?:=> |^\s*)(/\S+) \(", output("ldd", program), re.MULTILINE)})


def package_of(path):
    """dpkg knows a file by the path that it was unpacked to, which may lack the /usr of merged directories."""
    for candidate in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0]
    sys.exit(f"sbom.py: no package has {path}")


def package_entry(name, files):
    version, source, homepage = output("dpkg-query", "-W", "-f", "${Version}\t${source:Package}\t${Homepage}", name).split("\t")
    plain = name.split(":")[0]
    architecture = name.split(":")[1] if ":" in name else output("dpkg", "--print-architecture").strip()
    return {"SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', plain)}", "name": plain, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "homepage": homepage or "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "sourceInfo": f"source package {source}" + (f"; files {', '.join(sorted(files))}" if files else ""),
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{plain}@{version}?arch={architecture}"}]}


def main():
    program = pathlib.Path(sys.argv[1])
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    version = output(str(program), "--version").split()[-1]
    files = {}
    for library in libraries(program):
        files.setdefault(package_of(library), []).append(os.path.basename(library))
    named = sys.argv[2:]
    files.update({name: [] for name in named})
    packages = [package_entry(name, of) for name, of in sorted(files.items())]
    own = {"SPDXID": "SPDXRef-sluice", "name": program.name, "versionInfo": version, "downloadLocation": "NOASSERTION",
           "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
           "copyrightText": "The Sluice authors", "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", program.stat().st_mtime)), datetime.timezone.utc)
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{program.name}-{version}",
               "documentNamespace": f"https://spdx.org/spdxdocs/{program.name}-{version}-{digest[:32]}",
               "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: sluice-sbom"]},
               "packages": [own, *packages],
               "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
                                 *({"spdxElementId": own["SPDXID"], "relatedSpdxElement": p["SPDXID"],
                                    "relationshipType": "DEPENDS_ON" if p["name"] in named else "DYNAMIC_LINK"}
                                   for p in packages)]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
