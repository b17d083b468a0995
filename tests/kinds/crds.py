#!/usr/bin/env python3
"""Puts the CRDs that crds.txt names into a folder, from the Go modules of their projects; files with the right sum stay as they are.
A module that the proxy knows but does not hand out comes from the repository that it names.

usage: crds.py FOLDER      the last line is "crds: N passed, N failed" """
import functools, hashlib, json, os, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
GO = HERE.parents[1] / ".cache/go/bin"  # where the machine has none of its own (tests/setup.sh)


def right(path, sha256):
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


@functools.cache
def said_of(module):
    """What Go says of a module that it has fetched, or could not fetch."""
    env = {**os.environ, "PATH": f"{GO}:{os.environ['PATH']}", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
    answer = subprocess.run(["go", "mod", "download", "-json", module], cwd="/", env=env, capture_output=True, text=True)
    return json.loads(answer.stdout or "{}")


@functools.cache
def cloned(url, ref):
    home = tempfile.TemporaryDirectory()
    subprocess.run(["git", "clone", "-q", "--depth", "1", "--branch", ref.removeprefix("refs/tags/"), url, home.name], check=True)
    return home


def folder_of(module):
    said = said_of(module)
    if "Dir" in said:
        return pathlib.Path(said["Dir"])
    origin = said.get("Origin", {})
    if origin.get("VCS") != "git":
        raise OSError(said.get("Error", f"{module}: no answer"))
    return pathlib.Path(cloned(origin["URL"], origin["Ref"]).name) / origin.get("Subdir", "")


def have(to, sha256, module, folder, name):
    """Why the file is not there, or None."""
    if right(to / name, sha256):
        return None
    try:
        (to / name).write_bytes((folder_of(module) / folder / name).read_bytes())
    except (OSError, subprocess.CalledProcessError) as e:
        return f"{module}: {e}"
    return None if right(to / name, sha256) else f"{module}: {folder}/{name} has another sum"


def main(to):
    to = pathlib.Path(to)
    to.mkdir(parents=True, exist_ok=True)
    rows = [line.split() for line in (HERE / "crds.txt").read_text().splitlines() if not line.startswith("#")]
    for stray in {p.name for p in to.glob("*.yaml")} - {row[-1] for row in rows}:
        (to / stray).unlink()
    wrong = [w for w in (have(to, *row) for row in rows) if w]
    print("\n".join(wrong + [f"crds: {len(rows) - len(wrong)} passed, {len(wrong)} failed"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
