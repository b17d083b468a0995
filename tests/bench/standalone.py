#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Figures of standalone mode with processes, all in one run: jobs a second beside task-spooler (tsp), GNU parallel and Slurm, durable writes
and memory beside etcd with kube-apiserver, the pause between two jobs, and what an idle daemon does. What is not installed is said.

environment: JOBS (200) of each kind, WRITES (2000), ONLY (jobs,writes,pause,idle)"""
import json, multiprocessing, os, pathlib, shutil, socket, ssl, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cluster"), str(HERE.parent / "e2e")]
import daemon
import slurm
from runs import JOBS as PATH, PODS, QUEUES, Runs

JOBS, WRITES = int(os.environ.get("JOBS", "200")), int(os.environ.get("WRITES", "2000"))
ONLY = os.environ.get("ONLY", "jobs,writes,pause,idle").split(",")
AT_ONCE = (1, 8, 64)
WRITERS = 8


def say(what, value, unit):
    print(f"{what:62s} {value:10.2f} {unit}", flush=True)


class Connection:
    """A connection that stays, and requests as they are: the client is to cost as little as it can."""

    def __init__(self, port, authority, token):
        context = ssl.create_default_context(cafile=authority)
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1")
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.token, self.rest = token, b""

    def ask(self, method, path, body=None):
        text = json.dumps(body).encode() if body is not None else b""
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
                            f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.receive()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        status = int(head.split()[1])
        if b"content-length" in headers:
            return status, self.take(int(headers[b"content-length"]))
        answer = b""
        while size := int(self.line(), 16):
            answer += self.take(size)
            self.line()
        self.line()
        return status, answer

    def take(self, size):
        while len(self.rest) < size:
            self.rest += self.receive()
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def line(self):
        while b"\r\n" not in self.rest:
            self.rest += self.receive()
        line, _, self.rest = self.rest.partition(b"\r\n")
        return line

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise SystemExit("the server hung up")
        return data


def memory_mib(*pids):
    """Proportional: what is shared counts once."""
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


class Ours:
    """A daemon whose queue lets `at_once` jobs run."""

    def __init__(self, at_once):
        self.daemon = Runs()
        self.daemon.start()
        for o in QUEUES:
            o = json.loads(json.dumps(o))
            if o["kind"] == "ClusterQueue":
                o["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = str(at_once)
            group, plural = o["apiVersion"], {"ResourceFlavor": "resourceflavors", "ClusterQueue": "clusterqueues", "LocalQueue": "namespaces/default/localqueues",
                                              "WorkloadPriorityClass": "workloadpriorityclasses"}[o["kind"]]
            status, answer = self.daemon.request("POST", f"/apis/{group}/{plural}", o)
            assert status == 201, answer
        self.connection = Connection(self.daemon.port, str(self.daemon.data / "tls/tls.crt"), (self.daemon.data / "token").read_text().strip())

    def job(self, name, command, **spec):
        status, answer = self.connection.ask("POST", PATH, {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
            "spec": {**spec, "template": {"spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "none", "command": command, "resources": {"requests": {"cpu": "1"}}}]}}}})
        assert status == 201, answer

    def wait(self, count, seconds=600):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            items = json.loads(self.connection.ask("GET", PATH)[1])["items"]
            if sum(any(c["type"] == "Complete" and c["status"] == "True" for c in j.get("status", {}).get("conditions", [])) for j in items) == count:
                return
            time.sleep(0.05)
        raise SystemExit("the jobs did not end")

    def close(self):
        self.daemon.stop()
        self.daemon.close()


def rate_ours(at_once):
    ours = Ours(at_once)
    start = time.monotonic()
    for i in range(JOBS):
        ours.job(f"j{i}", ["true"])
    ours.wait(JOBS)
    took = time.monotonic() - start
    ours.close()
    return JOBS / took


def rate_indexed(at_once):
    ours = Ours(at_once)
    start = time.monotonic()
    ours.job("all", ["true"], completions=JOBS, parallelism=at_once, completionMode="Indexed")
    ours.wait(1)
    took = time.monotonic() - start
    ours.close()
    return JOBS / took


def rate_tsp(at_once):
    home = tempfile.mkdtemp()
    env = {**os.environ, "TS_SOCKET": f"{home}/socket", "TS_MAXFINISHED": str(JOBS + 1), "TMPDIR": home}
    run = lambda *a: subprocess.run(["tsp", *a], env=env, check=True, capture_output=True, text=True).stdout
    run("-S", str(at_once))
    start = time.monotonic()
    for _ in range(JOBS):
        run("-n", "true")
    while run("-l").count(" finished ") < JOBS:
        time.sleep(0.02)
    took = time.monotonic() - start
    run("-K")
    shutil.rmtree(home, ignore_errors=True)
    return JOBS / took


def rate_parallel(at_once):
    start = time.monotonic()
    subprocess.run(["parallel", f"-j{at_once}", "true", "{}"], input="\n".join(map(str, range(JOBS))), text=True, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return JOBS / (time.monotonic() - start)


def rate_slurm(at_once):
    theirs = slurm.Slurm(at_once)
    try:
        start = time.monotonic()
        for _ in range(JOBS):
            theirs.submit()
        theirs.wait()
        return JOBS / (time.monotonic() - start)
    finally:
        theirs.close()


def rate_slurm_array(at_once):
    theirs = slurm.Slurm(at_once)
    try:
        start = time.monotonic()
        theirs.submit(f"--array=1-{JOBS}")
        theirs.wait()
        return JOBS / (time.monotonic() - start)
    finally:
        theirs.close()


def not_installed(program):
    return lambda: None if shutil.which(program) else f"{program} is not installed"


def jobs():
    for at_once in AT_ONCE:
        for name, lacks, measure in (("sluiced, a Job each", None, rate_ours), ("sluiced, an Indexed Job", None, rate_indexed),
                                     ("task-spooler", not_installed("tsp"), rate_tsp), ("GNU parallel", not_installed("parallel"), rate_parallel),
                                     ("Slurm, a job each", slurm.lacks, rate_slurm), ("Slurm, an array", slurm.lacks, rate_slurm_array)):
            if lacks and lacks():
                print(f"{name}: {lacks()}", flush=True)
            else:
                say(f"`true`, {at_once} at once, {name}", measure(at_once), "jobs/s")


def write_jobs(port, authority, token, first, count):
    c = Connection(port, authority, token)
    for i in range(first, first + count):
        status, answer = c.ask("POST", PATH, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"w{i}"}, "spec": {
            "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none", "command": ["true"]}]}}}})
        assert status == 201, answer


# A suspended Job without a queue: no controller has anything to do for it.
def rate_writes(port, authority, token, offset):
    each = WRITES // WRITERS
    workers = [multiprocessing.Process(target=write_jobs, args=(port, authority, token, offset + w * each, each)) for w in range(WRITERS)]
    start = time.monotonic()
    for w in workers:
        w.start()
    for w in workers:
        w.join()
        assert w.exitcode == 0
    return WRITERS * each / (time.monotonic() - start)


def writes():
    ours = Ours(1)
    ca, token = str(ours.daemon.data / "tls/tls.crt"), (ours.daemon.data / "token").read_text().strip()
    rates = [rate_writes(ours.daemon.port, ca, token, r * WRITES) for r in range(2)]
    say(f"durable writes, {WRITERS} clients, sluiced", max(rates), "writes/s")
    say("memory then, sluiced with its launcher", memory_mib(ours.daemon.process.pid, *map(int, pathlib.Path(
        f"/proc/{ours.daemon.process.pid}/task/{ours.daemon.process.pid}/children").read_text().split())), "MiB")
    ours.close()
    import controlplane
    plane = controlplane.ControlPlane(daemon.BUILD / "standalone-bench")
    commands = plane.list_commands

    def durable(programs):
        commands(programs)
        plane.commands["etcd"].remove("--unsafe-no-fsync")
        plane.commands["kube-apiserver"] = [a for a in plane.commands["kube-apiserver"] if "--audit" not in a]
    plane.list_commands = durable
    try:
        plane.begin()
        ca = str(plane.run / "pki/ca.crt")
        rates = [rate_writes(plane.port, ca, "admin-token", r * WRITES) for r in range(2)]
        say(f"durable writes, {WRITERS} clients, kube-apiserver with etcd", max(rates), "writes/s")
        say("memory then, kube-apiserver with etcd", memory_mib(plane.processes["etcd"].pid, plane.processes["kube-apiserver"].pid), "MiB")
    finally:
        plane.stop()


def pause():
    """From what a program prints at its end to what the next one prints at its start: its own start counts, too."""
    for what, indexed in (("the next Job", False), ("the next index of a Job", True)):
        ours = Ours(1)
        clock = ["sh", "-c", "date +%s%N; date +%s%N"]
        if indexed:
            ours.job("all", clock, completions=JOBS, parallelism=1, completionMode="Indexed")
            ours.wait(1)
        else:
            for i in range(JOBS):
                ours.job(f"j{i}", clock)
            ours.wait(JOBS)
        times = sorted(tuple(map(int, p.read_text().split())) for p in (ours.daemon.data / "pods").glob("*/c.log"))
        pauses = sorted((b[0] - a[1]) / 1e6 for a, b in zip(times, times[1:]))
        ours.close()
        for name, at in (("median", 0.5), ("p99", 0.99)):
            say(f"from the end of a program to {what}, {name}", pauses[int(len(pauses) * at)], "ms")


def switches(pid):
    total = 0
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        total += sum(int(line.split()[1]) for line in status.read_text().splitlines() if "ctxt_switches" in line)
    return total


def idle():
    ours = Ours(1)
    ours.job("one", ["sleep", "1000"])
    pid = ours.daemon.process.pid
    ours.connection.socket.close()
    time.sleep(5)
    for what in ("with a job that runs", "without jobs"):
        supervisors = [int(p.read_text().split()[0]) for p in (ours.daemon.data / "pods").glob("*/lock")]
        before = {p: switches(p) for p in (pid, *supervisors)}
        ticks = os.times()
        used = sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        time.sleep(20)
        used = sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) - used
        say(f"wakeups of the daemon, {what}", (switches(pid) - before[pid]) / 20, "/s")
        say(f"CPU of the daemon, {what}", 100 * used / os.sysconf("SC_CLK_TCK") / 20, "%")
        for p in supervisors:
            say("wakeups of its supervisor", (switches(p) - before[p]) / 20, "/s")
        if supervisors:
            ours.daemon.request("DELETE", f"{PATH}/one", {"propagationPolicy": "Background"})
            daemon.eventually(lambda: not list((ours.daemon.data / "pods").iterdir()), 60, "its end")
            time.sleep(5)
    ours.close()


def main():
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors; load {load:.1f} of other programs at the start", flush=True)
    for name, measure in (("jobs", jobs), ("pause", pause), ("idle", idle), ("writes", writes)):
        if name in ONLY:
            measure()


if __name__ == "__main__":
    main()
