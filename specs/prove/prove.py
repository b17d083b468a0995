#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Proves the kernel: Frama-C WP with run-time-error guards on each file, every goal or it fails.

A file also fails on any warning of Frama-C (a missing contract, a memory model hypothesis that nobody
checks, ...), on an admitted goal or an axiom, and when no goal was found at all. A file whose preprocessed
text, options and tools are those of its last full proof under BUILD/prove is not run again; --fresh does.
Two files are proved at a time, each with one solver at a time.

usage: prove.py --build DIR [--cache update|replay|cleanup|none] [--fct F] [--smoke] [--fresh]
                [--manifest check|write] FILE..."""
import argparse, concurrent.futures, hashlib, json, os, pathlib, re, signal, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MANIFEST = ROOT / "specs/manifest.json"
JOBS = 2
EXCEPTIONS = HERE / "smoke-exceptions.txt"
CPP = ["-Isrc", "-I."]
# What each option assumes is explained in docs/soundness.md.
OPTIONS = ["-wp", "-wp-rte", "-wp-model", "Typed", "-wp-par", "1", "-cpp-extra-args=" + " ".join(CPP)]
SMOKE = ["-wp-smoke-tests", "-wp-smoke-timeout", "1",
         "-wp-prop=-@ensures,-@assigns,-@invariant,-@assert,-@requires,-@variant,-@terminates,-@exits"]
UNPROVED = re.compile(r"Goal \S+ : (?!.*Valid)|\[(?:Failed|Timeout|Unknown)\] Goal")
FORBIDDEN = re.compile(r"\badmit\b\s*(?:[\w]+\s*:|\\|\()|\baxiomatic\b|\baxiom\b")


def run(command, limit_s, env=None):
    """Its output, or what it said until the limit and a last line that tells so. Always dies in time."""
    process = subprocess.Popen(command, cwd=ROOT, env=env, text=True, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        return process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            out = process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out = process.communicate()[0]
        return out + f"\n[prove] Warning: stopped after {limit_s} s\n"
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        raise


def preprocessed(path):
    return subprocess.run(["gcc", "-E", "-C", "-P", *CPP, str(path)], cwd=ROOT, capture_output=True,
                          text=True, check=True).stdout


def digest(text, options):
    return hashlib.sha256("\0".join([text, *options, run(["frama-c", "-version"], 60)]).encode()).hexdigest()


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


def session(name, out_dir):
    """WP's session directory of a module; its cache is the committed one. Only so can WP clean it up."""
    cache = ROOT / "specs/cache" / name
    cache.mkdir(parents=True, exist_ok=True)
    directory = out_dir / "session" / name
    directory.mkdir(parents=True, exist_ok=True)
    link = directory / "cache"
    if not link.is_symlink():
        link.symlink_to(cache)
    return directory


def prove(path, args, env):
    """One file: {digest, goals, proved, functions, problems}."""
    name = path.stem
    out_dir = args.build / "prove"
    text = preprocessed(path)
    options = OPTIONS + ["-wp-prover", args.provers, "-wp-timeout", str(args.timeout)]
    stamp_file = out_dir / (name + (".smoke.json" if args.smoke else ".json"))
    mark = digest(text, OPTIONS + [args.provers, "smoke" if args.smoke else ""])
    if not args.fresh and not args.fct and stamp_file.exists():
        stamp = json.loads(stamp_file.read_text())
        if stamp["digest"] == mark and not stamp["problems"]:
            return dict(stamp, seconds=0.0)
    report = out_dir / f"{name}.report.json"
    report.unlink(missing_ok=True)
    command = ["frama-c", *options, "-wp-report-json", str(report), str(path)]
    if args.smoke:
        command += SMOKE
    elif args.cache != "none":
        command += ["-wp-cache", args.cache, "-wp-session", str(session(name, out_dir))]
    if args.fct:
        command += ["-wp-fct", args.fct]
    started = time.monotonic()
    log = run(command, args.limit, env)
    (out_dir / f"{name}{'.smoke' if args.smoke else ''}.log").write_text(log)
    result = judge_smoke(log) if args.smoke else judge(log, report, text)
    result["digest"] = mark
    if not args.fct:
        stamp_file.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    return dict(result, seconds=time.monotonic() - started)


def warnings(log):
    lines = log.splitlines()
    found = []
    for i, line in enumerate(lines):
        if re.search(r"Warning|Error|aborted|Memory model hypotheses", line):
            found.append(" ".join(part.strip() for part in lines[i:i + 3]))
    return found


def judge(log, report, text):
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
    return {"goals": goals, "proved": proved, "functions": functions, "problems": problems}


def judge_smoke(log):
    excepted = {line.split()[0] for line in EXCEPTIONS.read_text().splitlines() if line and line[0] != "#"}
    problems = [w for w in warnings(log) if "smoke" not in w.lower()]
    failed = [m.group(1) for m in re.finditer(r"\[(?:Failed|Doomed)\] (?:Smoke-test|Goal) (\S+)", log)]
    failed += [m.group(1) for m in re.finditer(r"Smoke-test (\S+) : (?:Failed|Doomed)", log)]
    problems += [f"contradiction or dead code: {name}" for name in sorted(set(failed)) if name not in excepted]
    total = re.search(r"Proved goals:\s+(\d+) / (\d+)", log)
    goals = int(total.group(2)) if total else 0
    if goals == 0:
        problems.append("no smoke test was run")
    known = len([name for name in set(failed) if name in excepted])
    return {"goals": goals, "proved": goals - (len(set(failed)) - known), "functions": {}, "problems": problems}


def manifest(results):
    """What is committed as specs/manifest.json: nothing in it depends on which solver was the faster."""
    files = {str(path): {key: result[key] for key in ("goals", "proved", "functions")}
             for path, result in results.items()}
    return {"goals": sum(f["goals"] for f in files.values()), "proved": sum(f["proved"] for f in files.values()),
            "files": files}


def compare_manifest(mode, results):
    """The number of differences between the committed manifest and this run."""
    now = manifest(results)
    if mode == "write":
        MANIFEST.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
        return 0
    then = json.loads(MANIFEST.read_text()) if MANIFEST.exists() else {"files": {}}
    stale = sorted(f for f in set(now["files"]) | set(then["files"])
                   if now["files"].get(f) != then["files"].get(f))
    for path in stale:
        print(f"  manifest: {path} is not as in specs/manifest.json; if that is meant, run make prove-manifest")
    return len(stale)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cache", default="update")
    parser.add_argument("--provers", default="z3,cvc5")
    parser.add_argument("--timeout", type=int, default=20, help="seconds a solver has for one goal")
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one file")
    parser.add_argument("--fct", default="")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--manifest", choices=["check", "write"])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    (args.build / "prove").mkdir(parents=True, exist_ok=True)
    env = environment(args.build)
    results, bad = {}, 0
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=JOBS)
    running = {path: pool.submit(prove, path, args, env) for path in args.files}
    for path in args.files:
        result = results[path] = running[path].result()
        took = f"{result['seconds']:6.1f} s" if result["seconds"] else "unchanged"
        print(f"  {str(path):28} {result['proved']:4} / {result['goals']:4}  {took}", flush=True)
        for problem in result["problems"]:
            print(f"    {problem[:300]}")
        bad += bool(result["problems"])
    if args.manifest:
        bad += compare_manifest(args.manifest, results)
    goals, proved = (sum(r[key] for r in results.values()) for key in ("goals", "proved"))
    print(f"{goals} smoke tests, {proved} passed" if args.smoke else f"{goals} goals, {proved} proved")
    return bad > 0 or goals != proved


sys.exit(main())
