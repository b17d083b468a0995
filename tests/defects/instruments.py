# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The instruments that can reject a version of Sluice, by name. Each answers "accepted", "rejected" or "failed":
it could not run, which is no verdict."""
import os, pathlib, re, shutil, signal, subprocess, time

FORMS = [
    ("unit:ROOM/TEST", "a unit test fails, or a scenario (`scenarios/TEST`)"),
    ("units:ROOM", "a unit test of the room fails, or a scenario (`units:scenarios`)"),
    ("prove:FILE:FUNCTION", "a goal of the function is not proved any more"),
    ("fuzz:TARGET:RUNS", "the fuzz target crashes within so many executions, from its seeds, under sanitizers and with the guarantees "
                         "checked after every step"),
    ("replay:TARGET", "the fuzz target crashes at one of its seeds, or at an input at which it once did"),
    ("conformance", "a recorded outcome of Kueue differs"),
    ("sim:SEEDS", "one of the simulator's seeds from 1 on fails"),
    ("crash:ROUNDS", "what was acknowledged is lost, or a Workload admitted twice, where the daemon is killed so many times under load"),
    ("explore:WORLD", "the explorer finds a history of that small world which breaks a guarantee (docs/models.md)"),
    ("worlds:SECONDS", "the same in some small world, with so many seconds for each"),
    ("model:NAME", "Spin finds a counterexample in `model/NAME.pml`, which has the lifecycle's table from the same file as the code"),
]
LIMIT_S = {"unit": 120, "units": 1200, "replay": 300, "worlds": 600, "prove": 900, "fuzz": 900, "conformance": 300, "sim": 900, "crash": 300, "explore": 300, "model": 1800}
EXPLORE_S = 120
BUILD_LIMIT_S = 3000


def call(command, tree, limit_s, env=None):
    """(exit code or None when time was up, output). Its children end with it. Frama-C finds files by PWD."""
    process = subprocess.Popen(command, cwd=tree, text=True, errors="replace", start_new_session=True,
                               env=dict(os.environ, PWD=str(tree), **(env or {})), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        return finish(process, limit_s)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def finish(process, limit_s):
    try:
        out = process.communicate(timeout=limit_s)[0]
        return process.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]


def tail(text):
    return "\n".join(text.splitlines()[-25:])


def build(target, tree):
    """"" or why there is no such program. Of several, all or none."""
    make = ["make", "--no-print-directory", "-s", "BUILD=build", *target.split()]
    code, out = call(make, tree, BUILD_LIMIT_S, {"MAKEFLAGS": "", "MAKELEVEL": ""})
    return "" if code == 0 else f"{target} does not build\n{tail(out)}"


def unit(name, tree):
    program = f"build/tests/{name}" if name.startswith("scenarios/") else f"build/tests/unit/{name}"
    problem = build(program, tree)
    if problem:
        return "failed", problem
    code, out = call([program], tree, LIMIT_S["unit"], {"CMOCKA_MESSAGE_OUTPUT": "TAP"})
    if code == 0 and not re.search(r"^ok ", out, re.MULTILINE):
        return "failed", f"{name} ran no test\n{tail(out)}"
    return ("accepted" if code == 0 else "rejected"), tail(out)


def units(room, tree):
    """All tests of a room, until one fails."""
    where = tree / ("tests/scenarios" if room == "scenarios" else f"tests/unit/{room}")
    names = [f"{room}/{path.stem}" for path in sorted(where.glob("test_*.c"))]
    if not names:
        return "failed", f"{room} has no tests"
    under = "build/tests" if room == "scenarios" else "build/tests/unit"
    problem = build(" ".join(f"{under}/{name}" for name in names), tree)
    if problem:
        return "failed", problem
    begin = time.monotonic()
    for name in names:
        verdict, log = unit(name, tree)
        if verdict != "accepted":
            return verdict, f"{name}\n{log}"
        if time.monotonic() - begin > LIMIT_S["units"]:
            return "failed", f"{room}: no time was left after {name}"
    return "accepted", f"{len(names)} programs"


def replay(target, tree):
    """Of a sanitizer or an oracle, only what ends the program is a verdict; time is none."""
    program, seeds = f"build/fuzz/replay/{target}", f"build/fuzz/seeds/{target}"
    problem = build(f"{program} {seeds}.unpacked", tree)
    if problem:
        return "failed", problem
    regressions = [r for r in [f"fuzz/regress/{target}"] if (tree / r).exists()]
    code, out = call([program, seeds, *regressions], tree, LIMIT_S["replay"])
    if code is None:
        return "failed", f"{LIMIT_S['replay']} s were not enough\n{tail(out)}"
    return ("accepted" if code == 0 else "rejected"), tail(out)


def prove(name, tree):
    """A goal without a proof rejects; a prover that does not start or says something else does not."""
    path, _, function = name.partition(":")
    command = ["specs/prove/prove.py", "--build", "build", "--cache", "update", "--jobs", "1", "--timeout", "10", "--fresh"]
    code, out = call([*command, *(["--fct", function] if function else []), path], tree, LIMIT_S["prove"])
    if code == 0:
        return "accepted", tail(out)
    odd = [line for line in out.splitlines() if re.search(r"Error|aborted|Warning|no goal was found", line)]
    unproved = re.search(r"Goal \S+ :|\[(Failed|Timeout|Unknown)\] Goal|unproved goals", out)
    return ("rejected" if unproved and not odd and code is not None else "failed"), tail(out)


def fuzz(name, tree):
    target, runs = name.split(":")
    problem = build(f"build/fuzz/libfuzzer/{target}", tree) or build(f"build/fuzz/seeds/{target}.unpacked", tree)
    if problem:
        return "failed", problem
    work = tree / "build/defect-fuzz"
    shutil.rmtree(work, ignore_errors=True)
    (work / "corpus").mkdir(parents=True)
    dictionary = [f"-dict=fuzz/dict/{target}.dict"] if (tree / f"fuzz/dict/{target}.dict").exists() else []
    regressions = [r for r in [f"fuzz/regress/{target}"] if (tree / r).exists()]
    code, out = call([f"build/fuzz/libfuzzer/{target}", "-seed=1", f"-runs={runs}", "-max_len=4096",
                      "-timeout=60", "-entropic=0", *dictionary, f"-artifact_prefix={work}/", str(work / "corpus"),
                      f"build/fuzz/seeds/{target}", *regressions], tree, LIMIT_S["fuzz"])
    found = [p for p in work.iterdir() if p.name.startswith(("crash-", "timeout-"))]
    if code == 0:
        return "accepted", tail(out)
    return ("rejected" if found else "failed"), tail(out)


def conformance(_, tree):
    problem = build("build/sluice-conformance", tree)
    if problem:
        return "failed", problem
    code, out = call(["make", "--no-print-directory", "-s", "BUILD=build", "conformance"], tree, LIMIT_S["conformance"],
                     {"MAKEFLAGS": "", "MAKELEVEL": ""})
    if not re.search(r"^(ok|not ok) ", out, re.MULTILINE):
        return "failed", tail(out)
    return ("accepted" if code == 0 else "rejected"), tail(out)


def sim(seeds, tree):
    problem = build("build/sluice-sim", tree)
    if problem:
        return "failed", problem
    code, out = call(["build/sluice-sim", "--seeds", seeds, "--base", "1", "--processes", "2"], tree, LIMIT_S["sim"])
    last = re.search(r"^(\d+) passed, (\d+) failed$", out, re.MULTILINE)
    if code is None or not last:
        return "failed", tail(out)
    return ("accepted" if code == 0 else "rejected"), tail(out)


def crash(rounds, tree):
    """Only what the test itself says is a verdict: a daemon that does not start is none."""
    problem = build("build/sluiced", tree) or build("build/sluicectl", tree)
    if problem:
        return "failed", problem
    code, out = call(["tests/e2e/run.py", "crash", "test_crash"], tree, LIMIT_S["crash"],
                     {"BUILD": str(tree / "build"), "CRASHES": rounds})
    if code == 0:
        return "accepted", tail(out)
    return ("rejected" if re.search(r"^AssertionError: ", out, re.MULTILINE) else "failed"), tail(out)


def explore(world, tree):
    """It ends with the first history that breaks something, or when its time is over."""
    problem = build("build/explore/explore", tree)
    if problem:
        return "failed", problem
    code, out = call(["build/explore/explore", "--world", world, "--seconds", str(EXPLORE_S)], tree, LIMIT_S["explore"])
    if code is None or not re.search(r"^explore: [01] passed, [01] failed$", out, re.MULTILINE):
        return "failed", tail(out)
    return ("accepted" if code == 0 else "rejected"), tail(out)


def worlds(seconds, tree):
    """Each small world in turn, until one has such a history."""
    names = re.findall(r"^WORLD\((\w+)", (tree / "tests/explore/worlds.def").read_text(), re.MULTILINE)
    problem = build("build/explore/explore", tree)
    for name in [] if problem else names:
        code, out = call(["build/explore/explore", "--world", name, "--seconds", seconds], tree, LIMIT_S["worlds"])
        if code is None or not re.search(r"^explore: [01] passed, [01] failed$", out, re.MULTILINE):
            return "failed", f"{name}\n{tail(out)}"
        if code != 0:
            return "rejected", f"{name}\n{tail(out)}"
    return ("failed" if problem or not names else "accepted"), problem or f"{len(names)} worlds"


def model(name, tree):
    code, out = call(["model/run.py", "--build", "build", name], tree, LIMIT_S["model"])
    if code == 0:
        return "accepted", tail(out)
    broken = code is not None and "BROKEN" in out and "NO RESULT" not in out
    return ("rejected" if broken else "failed"), tail(out)


KINDS = {"unit": unit, "units": units, "prove": prove, "fuzz": fuzz, "replay": replay, "worlds": worlds, "conformance": conformance, "sim": sim, "crash": crash, "explore": explore,
         "model": model}


def ask(name, tree):
    """(verdict, the end of what it said, seconds with what had to be built)."""
    kind, _, rest = name.partition(":")
    if kind not in KINDS:
        return "failed", f"there is no instrument {kind}", 0.0
    start = time.monotonic()
    verdict, log = KINDS[kind](rest, tree)
    return verdict, log, time.monotonic() - start
