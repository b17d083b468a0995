#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Says which files and functions of src a plain Job enters in a standalone daemon, from its POST until it runs.

A daemon that was built to write down every function that it enters (trace.c) is started, gets a queue, and is left alone for
a while: what it enters then it enters without a Job. Then a Job is posted, and all is counted that is entered until nothing
happens any more. The Job must have been admitted and started then, or there is no report.

Each file is one of three: a helper; machinery, of which setting up the queue has entered the same functions; or the Job's
own. docs/architecture.md has to name those that are no helpers, and no others.

usage: way.py [--functions] [--order] [--nth N] BUILD
  --functions   names the functions as well, with how often each was entered
  --order       the functions in the order in which they were first entered, one a line, and nothing else
  --nth N       of the Nth Job, when those before it were like it; the first unless given"""
import argparse, collections, mmap, os, pathlib, re, struct, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
PAGE = ROOT / "docs/architecture.md"
ROOMS = "server store api controllers engine policy kernel base cli kube".split()
# What a step uses, and what is none: containers, texts, values, and how an object of the API is read and written.
HELPERS = ("src/base/", "src/api/json/", "src/api/objects/", "src/api/patch/", "src/engine/journal/")
# What tells most about the way as a whole.
DOORS = {"commits": "sl_store_commit", "writes": "sl_store_apply", "calls into the core": "sl_call_make",
         "cycles": "sl_cycle_begin", "Workloads read whole": "sl_event_from_workload"}
SETTLE_S = 3  # for what setting up the queue brings about
IDLE_S = 5    # several times the period of anything that is done without a cause
QUIET_S = 2


class Trace:
    """What the daemon has written down so far; trace.c has the file's form."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def count(self):
        return struct.unpack_from("Q", self.map)[0]

    def entries(self, start, end):
        if 8 + 4 * end > len(self.map):
            sys.exit("way: more functions were entered than the file takes")
        return struct.unpack_from(f"{end - start}I", self.map, 8 + 4 * start)

    def quiet(self, idle, seconds=60):
        """Waits until for a while nothing is entered but what is in idle; returns the count from which on it was so."""
        limit = time.monotonic() + seconds
        seen = end = self.count()
        since = time.monotonic()
        while time.monotonic() < limit:
            now = self.count()
            news = [seen + i + 1 for i, entry in enumerate(self.entries(seen, now)) if entry not in idle]
            if news:
                end, since = news[-1], time.monotonic()
            elif time.monotonic() - since > QUIET_S:
                return end
            seen = now
            time.sleep(0.02)
        sys.exit(f"way: the daemon is not quiet after {seconds} s")


def places(program, addresses):
    """Of each address: the file of src and the function."""
    addresses = sorted(addresses)
    told = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(map(hex, addresses)), check=True,
                          capture_output=True, text=True).stdout.splitlines()
    return {address: (told[2 * i + 1].rsplit(":", 1)[0].removeprefix(str(ROOT) + "/"), told[2 * i])
            for i, address in enumerate(addresses)}


def job(number):
    resources = {"requests": {"cpu": "1"}}
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none", "resources": resources}]}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": f"plain-{number}", "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": "main"},
                         "annotations": {"sluice.dev/run-for": "1h"}},
            "spec": {"suspend": True, "template": {"spec": pod}}}


def daemon_for(build, file):
    os.environ["BUILD"], os.environ["SLUICE_WAY"] = str(build), str(file)
    import daemon as e2e
    made = e2e.Daemon(options=["--log-level=warn"])
    made.process = subprocess.Popen([build / "way/sluiced-way", "--standalone", "--data", made.data, "--listen",
                                     f"127.0.0.1:{made.port}", *made.options], stdout=open(made.log_path, "ab"),
                                    stderr=subprocess.STDOUT)
    made.log = open(made.log_path, "ab")
    made.wait_ready()
    return made


def post(daemon, path, body):
    status, answer = daemon.request("POST", path, body)
    if status != 201:
        sys.exit(f"way: {path}: {status}: {answer}")


def set_up(daemon):
    kueue = "/apis/kueue.x-k8s.io/v1beta2"
    group = {"coveredResources": ["cpu"],
             "flavors": [{"name": "default", "resources": [{"name": "cpu", "nominalQuota": "10"}]}]}
    head = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    post(daemon, f"{kueue}/resourceflavors", {**head, "kind": "ResourceFlavor", "metadata": {"name": "default"}})
    post(daemon, f"{kueue}/clusterqueues", {**head, "kind": "ClusterQueue", "metadata": {"name": "team"},
                                            "spec": {"namespaceSelector": {}, "resourceGroups": [group]}})
    post(daemon, f"{kueue}/namespaces/default/localqueues",
         {**head, "kind": "LocalQueue", "metadata": {"name": "main", "namespace": "default"},
          "spec": {"clusterQueue": "team"}})


def is_true(o, kind):
    return any(c["type"] == kind and c["status"] == "True" for c in o.get("status", {}).get("conditions", []))


def assert_started(daemon, number):
    """It must have gone all the way, or what was measured is another one."""
    live = daemon.get(f"/apis/batch/v1/namespaces/default/jobs/plain-{number}")
    workloads = [w for w in daemon.get("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")["items"]
                 if w["metadata"]["ownerReferences"][0]["name"] == f"plain-{number}"]
    if live["spec"]["suspend"] or not live.get("status", {}).get("active") or len(workloads) != 1 or not is_true(workloads[0], "Admitted"):
        sys.exit(f"way: plain-{number} has not started: {live} {workloads}")


def measure(build, number):
    """The addresses entered: before the Job by setting up, in a while without one, and by the Job, in order."""
    file = build / "way/trace"
    daemon = daemon_for(build, file)
    try:
        set_up(daemon)
        trace = Trace(file)
        time.sleep(SETTLE_S)
        ready = trace.count()
        time.sleep(IDLE_S)
        idle = set(trace.entries(ready, trace.count()))
        for i in range(1, number + 1):
            start = trace.count()
            post(daemon, "/apis/batch/v1/namespaces/default/jobs", job(i))
            end = trace.quiet(idle)
        assert_started(daemon, number)
        return trace.entries(0, ready), idle, trace.entries(start, end)
    finally:
        daemon.close()
        file.unlink(missing_ok=True)


def room_of(file):
    return file.split("/")[1]


def is_helper(file):
    return file.startswith(HELPERS)


KINDS = ("own", "machinery", "helper")


def kind_of(file, functions, before):
    return "helper" if is_helper(file) else "own" if any((file, f) not in before for f in functions) else "machinery"


def by_file(entered, before):
    """Of each source: its kind, and how often each function was entered."""
    files = collections.defaultdict(collections.Counter)
    for (file, name), count in entered.items():
        if file.endswith(".c"):  # the functions that a table makes are its includer's
            files[file][name] = count
    return {file: (kind_of(file, files[file], before), files[file]) for file in files}


def section_of(page):
    return page.split("## The way of a plain Job\n", 1)[1].split("\n## ", 1)[0]


def named_files(page):
    """Those that the section of the page names: `room/folder/{one,two}.c`; with a star all of a folder."""
    section, names = section_of(page), []
    for name in re.findall(r"`([a-z_0-9/]+/(?:\{[a-z_0-9,]+\}|[a-z_0-9]+|\*)\.c)`", section):
        some = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
        if name.endswith("/*.c"):
            names += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").glob(name))
        else:
            names += ["src/" + n for n in ([some[1] + one + some[3] for one in some[2].split(",")] if some else [name])]
    return names


def check_page(page, files, entered):
    """What the page says wrong. A file that is entered without a Job as well may be named or not."""
    named = named_files(page)
    complaints = [f"{file} is entered, and docs/architecture.md does not name it"
                  for file in sorted(files) if files[file][0] != "helper" and file not in named]
    complaints += [f"{file} is named in docs/architecture.md, and is not entered" for file in named if file not in entered]
    complaints += [f"{file} is named twice in docs/architecture.md" for file in sorted(set(named)) if named.count(file) > 1]
    helpers = sum(kind == "helper" for kind, _ in files.values())
    figures = f"These are {len(files) - helpers} files; {helpers} more are helpers"
    return complaints + ([] if figures in " ".join(section_of(page).split()) else [f'docs/architecture.md does not say: "{figures}"'])


def report(files, functions, before):
    print(f"{'room':14s}{'files':>7s}" + "".join(f"{k:>11s}" for k in KINDS) + f"{'functions':>11s}{'calls':>9s}")
    rows = [r for r in ROOMS if any(room_of(f) == r for f in files)]
    for room in rows + ["all"]:
        mine = [files[f] for f in files if room in ("all", room_of(f))]
        print(f"{room:14s}{len(mine):7d}" + "".join(f"{sum(kind == k for kind, _ in mine):11d}" for k in KINDS) +
              f"{sum(len(names) for _, names in mine):11d}{sum(sum(names.values()) for _, names in mine):9d}")
    for room in rows:
        print(f"\n{room}")
        for file in sorted(f for f in files if room_of(f) == room):
            kind, names = files[file]
            print(f"  {file.removeprefix('src/'):44s}{len(names):5d}{sum(names.values()):8d}  {kind}")
            for name, count in names.most_common() if functions else ():
                print(f"    {name:46s}{count:8d}{'' if (file, name) in before else '  own'}")


def doors(entered):
    counts = collections.Counter()
    for (_, name), count in entered.items():
        counts[name] += count
    lost = [name for name in DOORS.values() if counts[name] == 0]
    if lost:
        sys.exit(f"way: not entered, or called otherwise now: {', '.join(lost)}")
    return ", ".join(f"{counts[name]} {what}" for what, name in DOORS.items())


def main():
    words = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    words.add_argument("--functions", action="store_true")
    words.add_argument("--order", action="store_true")
    words.add_argument("--nth", type=int, default=1)
    words.add_argument("build", type=pathlib.Path)
    o = words.parse_args()
    build = o.build if o.build.is_absolute() else ROOT / o.build
    before, idle, by_job = measure(build, o.nth)
    at = places(build / "way/sluiced-way", set(before) | set(idle) | set(by_job))
    in_src = lambda addresses: collections.Counter(at[a] for a in addresses if at[a][0].startswith("src/"))
    entered, rest, known = in_src(by_job), in_src(idle), in_src(before)
    if o.order:
        for file, name in entered:
            print(f"{file}: {name}")
        return
    files = by_file({place: count for place, count in entered.items() if place not in rest}, known + rest)
    report(files, o.functions, known + rest)
    print(f"\n{doors(entered)}")
    complaints = check_page(PAGE.read_text(), files, {file for file, _ in entered}) if o.nth == 1 else []
    for complaint in complaints:
        print(f"way: {complaint}")
    print(f"way: {len(files)} of {len(list((ROOT / 'src').rglob('*.c')))} files; {int(not complaints)} passed, {int(bool(complaints))} failed")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
