#!/usr/bin/env python3
"""Measures the daemon on this machine and writes BUILD/bench.json. Compare ratios within one run, not runs."""
import http.client, json, os, pathlib, random, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from daemon import *

BENCH = BUILD / "sluice-bench"
JOBS = int(os.environ.get("BENCH_JOBS", "5000"))
FILL = [int(n) for n in os.environ.get("BENCH_WORKLOADS", "10000 100000").split()]
figures = {}


def run(*arguments):
    return subprocess.run([BENCH, *map(str, arguments)], check=True, capture_output=True, text=True).stdout.split()


def note(name, value, unit):
    figures[name] = {"value": value, "unit": unit}
    print(f"{name:42s} {value:>12,} {unit}", flush=True)


def rss_mib(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1024, 1)


def cpu_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def scratch():
    return pathlib.Path(tempfile.mkdtemp(prefix="sluice-bench-", dir=BUILD))


def bench_store():
    for batch in (1, 100):
        d = scratch()
        note(f"store_durable_writes_per_s_batch_{batch}", float(run("store", d / "data", 3, batch)[0]), "1/s")
        shutil.rmtree(d)


def metric(daemon, name):
    """The sum of a metric over its labels."""
    text = daemon.request("GET", "/metrics")[1]
    return sum(float(l.rsplit(" ", 1)[1]) for l in text.splitlines() if l.startswith((name + "{", name + " ")))


def bench_jobs():
    daemon = Daemon(options=["--log-level=warn"]).start()
    try:
        for o in (flavor("f"), cluster_queue("team", {"f": {"cpu": "1000"}}), local_queue("main", "team")):
            daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(o))
        start = time.monotonic()
        rate, failed = run("load", daemon.url, JOBS, 32)
        assert failed == "0", f"{failed} creations failed"
        note("job_creations_per_s", float(rate), "1/s")
        while metric(daemon, "kueue_finished_workloads") < JOBS:
            assert time.monotonic() - start < 300, "jobs did not finish"
            time.sleep(0.05)
        note("jobs_to_completion_per_s", round(JOBS / (time.monotonic() - start), 1), "1/s")
        note("daemon_cpu_ms_per_job", round(1000 * cpu_s(daemon.process) / JOBS, 3), "ms")
    finally:
        daemon.close()
    for batch in (1, 100):
        base = figures[f"store_durable_writes_per_s_batch_{batch}"]["value"]
        note(f"jobs_to_writes_ratio_batch_{batch}", round(figures["jobs_to_completion_per_s"]["value"] / base, 3), "")


def bench_why(daemon, count):
    """Why does it wait? Asked about workloads at random places of their queue, over one connection."""
    visibility = "/apis/visibility.kueue.x-k8s.io/v1beta2"
    items = daemon.get(f"{visibility}/clusterqueues/team/pendingworkloads?limit={min(count, 10000)}")["items"]
    assert items, "nothing is pending"
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
    took = []
    for item in random.Random(1).choices(items, k=1000):
        start = time.monotonic()
        connection.request("GET", f"{visibility}/namespaces/{item['metadata']['namespace']}/workloads/{item['metadata']['name']}/why")
        answer = json.loads(connection.getresponse().read())
        took.append(1000 * (time.monotonic() - start))
        assert answer["state"] == "Pending" and "positionInClusterQueue" in answer, answer
    connection.close()
    took.sort()
    note(f"why_ms_p50_{count}", round(took[len(took) // 2], 3), "ms")
    note(f"why_ms_p99_{count}", round(took[len(took) * 99 // 100], 3), "ms")


def bench_size(count):
    d = scratch()
    run("fill", d / "data", count)
    daemon = Daemon(d / "data", ["--log-level=warn"])
    start = time.monotonic()
    daemon.start()
    note(f"start_s_{count}", round(time.monotonic() - start, 3), "s")
    time.sleep(3)
    note(f"rss_mib_{count}", rss_mib(daemon.process), "MiB")
    note(f"core_bytes_per_workload_{count}", round(metric(daemon, "sluice_core_bytes") / count), "B")
    bench_why(daemon, count)
    daemon.close()
    shutil.rmtree(d)


def main():
    bench_store()
    bench_jobs()
    for count in FILL:
        bench_size(count)
    for name in ("sluiced", "sluicectl"):
        stripped = BUILD / f"{name}.stripped"
        subprocess.run(["strip", "-o", stripped, BUILD / name], check=True)
        note(f"binary_kib_{name}", round(stripped.stat().st_size / 1024), "KiB")
        stripped.unlink()
    (BUILD / "bench.json").write_text(json.dumps(figures, indent=2) + "\n")
    print(f"bench: written to {BUILD / 'bench.json'}")


main()
