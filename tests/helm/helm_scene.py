"""What tests of the chart share: helm, objects as helm and kustomize render them, and a control plane that has nothing of ours yet."""
import json, os, subprocess, tempfile

import cluster_scene
from controlplane import BIN, BUILD, ROOT, find

CHART = ROOT / "deploy/helm/sluice"
KUEUE_CHART = BUILD / "helm/kueue"
NAMESPACE = "kueue-system"
HOME = BUILD / "helm/home"


def only_others():
    """In place of what other tests begin with: the plane gets the kinds of other projects, ours come by helm."""
    plane = cluster_scene._plane
    plane.kubectl("apply", "--server-side", "-f", ROOT / "tests/cluster/other-crds.yaml")
    plane.kubectl("create", "namespace", NAMESPACE)


cluster_scene.install = only_others


def run(*arguments, kubeconfig="/dev/null"):
    env = {**os.environ, "KUBECONFIG": str(kubeconfig), **{f"HELM_{d}_HOME": str(HOME / d) for d in ("CACHE", "CONFIG", "DATA")}}
    return subprocess.run([find("helm"), *map(str, arguments)], capture_output=True, text=True, env=env, timeout=300)


def helm(*arguments, kubeconfig="/dev/null"):
    done = run(*arguments, kubeconfig=kubeconfig)
    assert done.returncode == 0, f"helm {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr}"
    return done.stdout


def template(*options, release="kueue", namespace=NAMESPACE, chart=CHART):
    return helm("template", release, chart, "--namespace", namespace, *options)


def objects(text):
    """{(kind, namespace, name): object} of manifests in YAML; lists are taken apart. Without a server kubectl reads any kind."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([BIN / "kubectl", "annotate", "--local", "-o", "json", "-f", f.name, "test=1"], capture_output=True, text=True,
                              env={**os.environ, "KUBECONFIG": "/dev/null"})
    assert done.returncode == 0, done.stderr
    found, decoder, at = {}, json.JSONDecoder(), 0
    while at < len(done.stdout):
        o, at = decoder.raw_decode(done.stdout, at)
        while at < len(done.stdout) and done.stdout[at].isspace():
            at += 1
        assert o["metadata"]["annotations"].pop("test") == "1"
        if not o["metadata"]["annotations"]:
            del o["metadata"]["annotations"]
        key = (o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"])
        assert key not in found, f"{key} is there twice"
        found[key] = o
    return found


def rendered(*options, **how):
    return objects(template(*options, **how))


def kustomized(directory):
    done = subprocess.run([BIN / "kubectl", "kustomize", ROOT / "deploy/kubernetes" / directory], capture_output=True, text=True, check=True)
    return objects(done.stdout)


def values(directory, **tree):
    """A file with those values."""
    path = os.path.join(directory, "values.json")
    with open(path, "w") as f:
        json.dump(tree, f)
    return f"--values={path}"
