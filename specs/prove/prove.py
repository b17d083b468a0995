#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Proves the kernel: Frama-C WP with run-time-error guards on each file, every goal or it fails.

A file also fails on any warning of Frama-C (a missing contract, a memory model hypothesis that nobody
checks, ...), on an admitted goal or an axiom, and when no goal was found at all. A file whose preprocessed
text, options and tools are those of its last full proof under BUILD/prove is not run again; --fresh does.
Two files are proved at a time, each with one solver at a time, those with most goals first.

With --smoke it looks for contradictions and dead code instead: a smoke test says "false" somewhere, and it is
bad if a solver can prove that.

Files that passed are on record, the proofs in specs/manifest.json and the smoke tests in specs/smoke.json, which are
committed. They are not run again until their text, the options or the tools change. A record can be wrong: --sample
asks the solvers anew about some files, and --fresh about all that are given.

usage: prove.py --build DIR [--jobs N] [--cache update|replay|cleanup|none] [--fct F] [--fresh] [--manifest check|write]
                [--smoke [--record]] [--sample GOALS --seed S] FILE..."""
import argparse, concurrent.futures, hashlib, json, os, pathlib, random, re, signal, subprocess, sys, time
import answers
import status

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MANIFEST = ROOT / "specs/manifest.json"
RECORD = ROOT / "specs/smoke.json"
EXCEPTIONS = HERE / "smoke-exceptions.txt"
CPP = ["-Isrc", "-I."]
# What each option assumes is explained in docs/soundness.md.
OPTIONS = ["-wp", "-wp-rte", "-wp-model", "Typed", "-cpp-extra-args=" + " ".join(CPP)]
# Frama-C naps for 50 ms whenever this many goals are under way; with the cache alone no solver is started.
SOLVERS, LOOKUPS = 1, 32
# One solver: it fails to prove nearly every smoke test, and a second solver would only fail as well.
SMOKE = ["-wp-prover", "z3", "-wp-smoke-tests", "-wp-smoke-timeout", "1",
         "-wp-prop=-@ensures,-@assigns,-@invariant,-@assert,-@requires,-@variant,-@terminates,-@exits,"
         "-@complete_behaviors,-@disjoint_behaviors,-@lemma"]
UNPROVED = re.compile(r"Goal \S+ : (?!.*Valid)|\[(?:Failed|Timeout|Unknown)\] Goal")
# Policy's public functions have two contracts, for callers in the header and about the file's own arrays in the
# .c file; Frama-C takes both together and says so.
MERGED = re.compile(r"found two contracts .*Merging them|is not present in all assigns clauses|"
                    r"found two different terminates clauses")
started = set()
# Files in which there is nothing for a smoke test: no precondition, no statement that a branch could leave dead.
NO_SMOKE = {"src/kernel/ledger/ledger_view.c", "src/kernel/topology/topology_capacity.c"}
FORBIDDEN = re.compile(r"\badmit\b\s*(?:[\w]+\s*:|\\|\()|\baxiomatic\b|\baxiom\b|\bno_wp\b")


def kill(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def stop(number, _):
    """Takes the solvers along when CI's time is up or somebody presses Ctrl-C."""
    for process in list(started):
        kill(process, signal.SIGKILL)
    os._exit(128 + number)


def run(command, limit_s, env=None):
    """Its output, or what it said until the limit and a last line that tells so. Always dies in time."""
    env = dict(env or os.environ, PWD=str(ROOT))  # Frama-C finds files from there, wherever it is called
    process = subprocess.Popen(command, cwd=ROOT, env=env, text=True, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    started.add(process)
    try:
        return process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        kill(process, signal.SIGTERM)
        try:
            out = process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            kill(process, signal.SIGKILL)
            out = process.communicate()[0]
        return out + f"\n[prove] Warning: stopped after {limit_s} s\n"
    finally:
        started.discard(process)


def preprocessed(path):
    """The project's own part of the text, with the macros that annotations use; the system's headers are left out."""
    out = subprocess.run(["gcc", "-E", "-C", "-dD", *CPP, str(path)], cwd=ROOT, capture_output=True,
                         text=True, check=True).stdout
    ours, lines = False, []
    for line in out.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = marker.group(1)[:1] not in ("/", "<")
        elif ours and line.strip():
            lines.append(line)
    return "\n".join(lines)


def tools(smoke):
    """Says which front end and solvers are at work."""
    names = ["frama-c -version", "why3 --version", "z3 --version"] + ([] if smoke else ["cvc5 --version"])
    return "".join(run(name.split(), 60).splitlines()[0] for name in names)


def digest(text, options):
    """Of what the provers see: not of comments and indentation."""
    code = re.sub(r"/\*(?!@).*?\*/", " ", text, flags=re.DOTALL)
    lines = (" ".join(line.split()) for line in code.splitlines())
    return hashlib.sha256("\0".join(["\n".join(filter(None, lines)), *options]).encode()).hexdigest()


def environment(build):
    """Why3's configuration lies under the build directory; the user's own is not read."""
    conf = build / "prove/why3.conf"
    driver = HERE / "cvc5.drv"
    if not conf.exists() or str(driver) not in conf.read_text():
        subprocess.run([str(HERE / "why3-config.sh"), str(conf)], check=True)
    return dict(os.environ, WHY3CONFIG=str(conf))


def per_function(report):
    """Goals of each function, and how many Qed simplified away without a solver."""
    report = report or {}
    sections = dict(report.get("wp:functions", {}))
    lemmas = report.get("wp:axiomatics", {}).get("")
    if lemmas:
        sections["(lemmas)"] = lemmas
    counts = {}
    for name, goals in sorted(sections.items()):
        total = proved = qed = 0
        for goal, provers in goals.items():
            if goal == "wp:section":
                continue
            total += provers["wp:main"]["total"]
            proved += provers["wp:main"].get("valid", 0)
            qed += provers.get("qed", {}).get("valid", 0)
        counts[name] = {"goals": total, "proved": proved, "qed": qed}
    return counts


def name_of(path):
    """Of a file's cache and reports: its own, with its room when the kernel has a file of that name, too."""
    room = path.resolve().relative_to(ROOT).parts[1]
    clashes = room != "kernel" and any((ROOT / "src/kernel").glob(f"*/{path.name}"))
    return f"{room}_{path.stem}" if clashes else path.stem


def session(name, build):
    """WP's session directory of a module. Only if the cache lies in it can WP clean it up."""
    cache = answers.directory(build, name)
    cache.mkdir(parents=True, exist_ok=True)
    return cache.parent


def known(path, args, mark):
    """The result of an earlier run of the same text with the same options and tools, if all was well."""
    if args.fresh or args.fct:
        return None
    stamp_file = stamp_of(path, args)
    if stamp_file.exists():
        stamp = json.loads(stamp_file.read_text())
        if stamp["digest"] == mark and not stamp["problems"]:
            return dict(stamp, seconds=0.0, source="unchanged")
    then = (recorded() if args.smoke else files_of_manifest()).get(str(path))
    if args.cache == "none" or not then or then.get("digest") != mark:
        return None
    if not args.smoke and not whole(then):
        return None
    if args.smoke:
        then = {"goals": then["tests"], "proved": then["tests"]}
    return {**then, "digest": mark, "problems": [], "seconds": 0.0, "source": "on record"}


def stamp_of(path, args):
    return args.build / "prove" / (name_of(path) + (".smoke.json" if args.smoke else ".json"))


def ways(name, args):
    """Options to try one after the other. A replay asks the cache alone at first, which is twice as fast."""
    alone = ["-wp-par", str(SOLVERS)]
    if args.smoke or args.cache == "none":
        return [alone]
    where = ["-wp-session", str(session(name, args.build)), "-wp-cache"]
    offline = [["-wp-par", str(LOOKUPS), *where, "offline"]] if args.cache == "replay" else []
    return [*offline, [*alone, *where, args.cache]]


def weight(path):
    """Files with many goals go first, so that both workers end at about the same time."""
    return files_of_manifest().get(str(path), {"goals": 1000})["goals"]


def prove(path, args, env):
    """One file: {digest, goals, proved, functions, problems, seconds, source}."""
    name = name_of(path)
    out_dir = args.build / "prove"
    text = preprocessed(path)
    options = OPTIONS + (SMOKE if args.smoke else ["-wp-prover", args.provers, "-wp-timeout", str(args.timeout)])
    after = [] if args.smoke else status.REPORT
    mark = digest(text, options + after + [args.tools] + ([EXCEPTIONS.read_text()] if args.smoke else []))
    earlier = known(path, args, mark)
    if earlier:
        return earlier
    report = out_dir / f"{name}.report.json"
    report.unlink(missing_ok=True)
    command = ["frama-c", *options, "-wp-report-json", str(report), str(path)]
    if args.fct:
        command += ["-wp-fct", args.fct]
    start = time.monotonic()
    for how in ways(name, args):
        log = run(command + how + after, args.limit, env)
        result = judge_smoke(log, str(path)) if args.smoke else judge(log, report, text, args.fct)
        if not result["problems"]:
            break
    (out_dir / f"{name}{'.smoke' if args.smoke else ''}.log").write_text(log)
    result["digest"] = mark
    if not args.fct:
        stamp_of(path, args).write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    seconds = time.monotonic() - start
    return dict(result, seconds=seconds, source=f"{seconds:6.1f} s")


def warnings(log):
    lines = log.splitlines()
    found = []
    for i, line in enumerate(lines):
        more = lines[i + 1] if lines[i + 1:] and lines[i + 1].startswith("  ") else ""
        if re.search(r"Warning|Error|aborted|Memory model hypotheses", line) and not MERGED.search(line + more):
            found.append(" ".join(part.strip() for part in lines[i:i + 3]))
    return found


def judge(log, report, text, part):
    """Of some functions alone, the report says of the others that they are not proved: it is not asked then."""
    problems = warnings(log)
    problems += [line for line in log.splitlines() if UNPROVED.search(line)]
    code = re.sub(r'"[^"\n]*"', '""', text)
    problems += [f"forbidden in the sources: {found.group()}" for found in FORBIDDEN.finditer(code)]
    total = re.search(r"Proved goals:\s+(\d+) / (\d+)", log)
    proved, goals = (int(total.group(1)), int(total.group(2))) if total else (0, 0)
    if goals == 0:
        problems.append("no goal was found")
    functions = per_function(json.loads(report.read_text())) if report.exists() else {}
    if proved != goals and not problems:
        problems.append("unproved goals")
    unproved, taken = ([], []) if part else status.judge(log, functions)
    return {"goals": goals, "proved": proved, "functions": functions, "relies_on": taken,
            "problems": problems + unproved}


def judge_smoke(log, path):
    """Every smoke test that a solver or the simplifier proved is a contradiction or dead code."""
    if path in NO_SMOKE and re.search(r"Warning: No goal generated", log) and len(warnings(log)) == 1:
        return {"goals": 0, "proved": 0, "functions": {}, "problems": []}
    excepted = {line.split()[0] for line in EXCEPTIONS.read_text().splitlines() if line and line[0] != "#"}
    lines = log.splitlines()
    problems = [w for w in warnings(log) if "Warning: Failed smoke-test" not in w]
    failed = {}
    for i, line in enumerate(lines):
        goal = re.search(r"\[(?:Failed|Doomed)\] (?:Smoke-test|Goal) (\S+)|Smoke-test (\S+) : (?:Failed|Doomed)", line)
        if goal:
            place = re.search(r"(\S+:\d+): Warning: Failed smoke-test", "\n".join(lines[i:i + 5]))
            failed[goal.group(1) or goal.group(2)] = place.group(1) if place else ""
    unexcused = sorted(set(failed) - excepted)
    for name in unexcused:
        function, kind = re.match(r"typed_(.*?)_wp_smoke_(.*)|(.*)", name).group(1, 2)
        what = f"function {function}, property {kind}" if function else name
        problems.append(f"contradiction or dead code: {what} ({name}) {failed[name]}".rstrip())
    total = re.search(r"Proved goals:\s+\d+ / (\d+)", log)
    goals = int(total.group(1)) if total else 0
    if goals == 0:
        problems.append("no smoke test was run")
    return {"goals": goals, "proved": goals - len(unexcused), "functions": {}, "problems": problems}


def recorded():
    return json.loads(RECORD.read_text())["files"] if RECORD.exists() else {}


def write_record(results):
    """Adds what passed, and drops files that are no longer there."""
    files = {path: entry for path, entry in recorded().items() if (ROOT / path).exists()}
    for path, result in results.items():
        files.pop(str(path), None)
        if not result["problems"]:
            files[str(path)] = {"digest": result["digest"], "tests": result["goals"]}
    RECORD.write_text(json.dumps({"files": files}, indent=1, sort_keys=True) + "\n")


def files_of_manifest():
    return json.loads(MANIFEST.read_text())["files"] if MANIFEST.exists() else {}


def whole(entry):
    """Does an entry of the manifest say that everything is proved?"""
    return all(counts["goals"] == counts["proved"] for counts in [entry, *entry["functions"].values()])


def manifest(results):
    """What is committed as specs/manifest.json: nothing in it depends on which solver was the faster. A file with a
    problem is not in it, however many goals it has proved."""
    files = {str(path): {key: result[key] for key in ("digest", "goals", "proved", "functions")}
             for path, result in results.items() if not result["problems"]}
    return {"goals": sum(f["goals"] for f in files.values()), "proved": sum(f["proved"] for f in files.values()),
            "files": files}


def compare_manifest(mode, results):
    """The number of differences between the committed manifest and this run."""
    now, then = manifest(results), files_of_manifest()
    if mode == "write":
        asked = {str(path) for path in results}
        kept = {path: file for path, file in then.items() if path not in asked and (ROOT / path).exists()}
        now["files"] = {**kept, **now["files"]}
        for key in ("goals", "proved"):
            now[key] = sum(file[key] for file in now["files"].values())
        MANIFEST.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
        return 0
    failed = {str(path) for path, result in results.items() if result["problems"]}  # these have been told
    stale = sorted(f for f in (set(now["files"]) | set(then)) - failed if now["files"].get(f) != then.get(f))
    for path in stale:
        print(f"  manifest: {path} is not as in specs/manifest.json; if that is meant, run make prove-manifest")
    return len(stale)


def note_taken_for_true(results):
    """A problem of a file is a contract, too, on which it relies and which no file proves."""
    proved = {name for file in [*files_of_manifest().values(), *results.values()] for name in file.get("functions", ())}
    headers = status.declared()
    for path, result in results.items():
        for name in status.unproved_elsewhere(result.get("relies_on", []), proved, headers):
            problem = f"the contract of {name} is taken for true, and no file proves it"
            print(f"  {path}: {problem}")
            result["problems"].append(problem)


def sample(files, goals, seed):
    """Some files, others with each seed, that have about so many goals together."""
    drawn, count = [], 0
    for path in random.Random(seed).sample(files, len(files)):
        if count + weight(path) <= goals:
            drawn.append(path)
            count += weight(path)
    return drawn


def settle(results, mode):
    """Writes or compares the record, once it is known of all files what they rely on; how many files are bad."""
    note_taken_for_true(results)
    bad = sum(bool(result["problems"]) for result in results.values())
    return bad + (compare_manifest(mode, results) if mode else 0)


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cache", default="update")
    parser.add_argument("--provers", default="z3,cvc5")
    parser.add_argument("--timeout", type=int, default=20, help="seconds a solver has for one goal")
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one file")
    parser.add_argument("--jobs", type=int, default=2, help="files at a time")
    parser.add_argument("--fct", default="")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--record", action="store_true", help="write the smoke tests that passed to specs/smoke.json")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--manifest", choices=["check", "write"])
    parser.add_argument("--sample", type=int, default=0, help="of the files, some that have so many goals together")
    parser.add_argument("--seed", default="")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args(words)
    if args.fct and args.manifest:
        parser.error("the manifest is of whole files")
    return args


def main():
    args = options()
    args.build = args.build.resolve()
    if args.sample:
        args.files = sample(args.files, args.sample, args.seed)
    (args.build / "prove").mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    env = environment(args.build)
    answers.unpack(args.build)
    args.tools = tools(args.smoke)
    results = {}
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs)
    running = {path: pool.submit(prove, path, args, env) for path in sorted(args.files, key=weight, reverse=True)}
    for path in args.files:
        result = results[path] = running[path].result()
        print(f"  {str(path):36} {result['proved']:4} / {result['goals']:4}  {result['source']}", flush=True)
        for problem in result["problems"]:
            print(f"    {problem[:300]}")
    if not args.smoke and args.cache in ("update", "cleanup"):
        answers.pack(args.build)
    bad = settle(results, args.manifest)
    if args.record:
        write_record(results)
    goals, proved = (sum(r[key] for r in results.values()) for key in ("goals", "proved"))
    if args.smoke:
        old = sum(r["goals"] for r in results.values() if r["source"] == "on record")
        print(f"{goals} smoke tests, {proved} passed ({old} on record in specs/smoke.json, {goals - old} run)")
    else:
        print(f"{goals} goals, {proved} proved")
    for path in (path for path, result in results.items() if result["problems"]):
        print(f"{path} is not proved: {results[path]['problems'][0][:200]}")
    return bad > 0 or goals != proved


if __name__ == "__main__":
    sys.exit(main())
