#!/usr/bin/env python3
"""The chart reads the manifests of kustomize: is each directory of deploy/kubernetes/kustomization.yaml read by a template, does no
kustomization.yaml do what the chart does not follow, and does the chart have the version of the program? What it renders, `make helm` compares.

usage: chart.py [ROOT]"""
import json, pathlib, re, subprocess, sys

FOLLOWED = {"apiVersion", "kind", "resources", "namespace", "labels", "images", "configMapGenerator"}


def listed(kustomization):
    """What stands under resources, and all keys of the top level."""
    text = re.sub(r"#.*", "", kustomization.read_text())
    block = re.search(r"(?m)^resources:\n((?:- .*\n)*)", text)
    return re.findall(r"- (\S+)", block[1]) if block else [], set(re.findall(r"(?m)^(\w+):", text))


def findings(root):
    chart, manifests = root / "deploy/helm/sluice", root / "deploy/kubernetes"
    if not (chart / "kubernetes").is_symlink() or (chart / "kubernetes").resolve() != manifests.resolve():
        yield f"{chart}/kubernetes is not a link to {manifests}"
    templates = "".join(p.read_text() for p in sorted((chart / "templates").iterdir()))
    read = set(re.findall(r'"of" "([^"$]+)"', templates)) | set(re.findall(r'"([^"]+)"', "".join(re.findall(r"range \$of := list ([^}]*)", templates))))
    whole, _ = listed(manifests / "kustomization.yaml")
    for directory in [d for d in whole if d not in read]:
        yield f"deploy/kubernetes/{directory} is part of the whole, and no template of the chart reads it"
    for directory in sorted(read | {"."}):
        kustomization = manifests / directory / "kustomization.yaml"
        if not kustomization.exists():
            yield f"the chart reads deploy/kubernetes/{directory}, which has no kustomization.yaml"
            continue
        for key in sorted(listed(kustomization)[1] - FOLLOWED):
            yield f"{kustomization}: the chart does not follow \"{key}\""
    schema = json.loads((chart / "values.schema.json").read_text())
    named = set(re.findall(r"(?m)^([A-Za-z]\w*):", (chart / "values.yaml").read_text()))
    for name in sorted(named ^ (set(schema["properties"]) - {"global"})):
        yield f"{name} is in one of values.yaml and values.schema.json only"
    version = re.search(r'SL_VERSION "([^"]+)"', (root / "src/cli/common/version.h").read_text())[1]
    for key in ("version", "appVersion"):
        if not re.search(rf"(?m)^{key}: {re.escape(version)}$", (chart / "Chart.yaml").read_text()):
            yield f"{chart}/Chart.yaml: {key} is not {version}"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = list(findings(root))
    print("".join(f"chart: {line}\n" for line in found), end="")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
