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


def cost(process, workloads):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    peak_kib = int(re.search(r"VmHWM:\s+(\d+)", status).group(1))
    print(f"daemon: {1000 * cpu_s / workloads:.2f} ms CPU a workload, {peak_kib / 1024:.0f} MiB at most", flush=True)


def main():
    generator = build()
    data = pathlib.Path(tempfile.mkdtemp(prefix="sluice-load-", dir=BUILD))
    daemon = Daemon(data / "data", ["--log-level=warn"]).start()
    try:
        text = subprocess.run([generator, "--server", daemon.url, "--load", HERE / f"{LOAD}.json",
                               "--divisor", DIVISOR, "--limit", LIMIT],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        print(text, end="")
        cost(daemon.process, json.loads(text)["workloads"])
    finally:
        daemon.close()
        shutil.rmtree(data, ignore_errors=True)


main()
