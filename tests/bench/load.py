#!/usr/bin/env python3
"""Plays a load of tests/bench/load against a standalone daemon: wall time, use of quota, time to admission, and what it
cost the daemon. What quota alone allows is "boundSeconds"."""
import json, os, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from daemon import *

HERE = pathlib.Path(__file__).resolve().parent / "load"
LOAD = os.environ.get("LOAD", "reference")
DIVISOR = os.environ.get("DIVISOR", "1")
LIMIT = os.environ.get("LIMIT", "10m")


def build():
    generator = BUILD / "sluice-load"
    subprocess.run(["go", "build", "-o", generator, "."], cwd=HERE, check=True,
                   env={**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local",
                        "PATH": f"{ROOT}/.cache/go/bin:{os.environ['PATH']}"})
    return generator


def cpu_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024


def main():
    generator = build()
    data = pathlib.Path(tempfile.mkdtemp(prefix="sluice-load-", dir=BUILD))
    daemon = Daemon(data / "data", ["--log-level=warn"]).start()
    try:
        text = subprocess.run([generator, "--server", daemon.url, "--load", HERE / f"{LOAD}.json",
                               "--divisor", DIVISOR, "--limit", LIMIT],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        print(text, end="")
        workloads = json.loads(text)["workloads"]
        print(f"daemon: {1000 * cpu_s(daemon.process) / workloads:.2f} ms CPU a workload, {peak_mib(daemon.process):.0f} MiB at most", flush=True)
    finally:
        daemon.close()
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    main()
