# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The table of mutants (specs/mutants.json): an entry for each function, which stands as long as its text does."""
import fcntl, functools, hashlib, json, os, pathlib, re, subprocess

import mutations

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KINDS = ("refuted", "rejected", "outrun", "late", "survived")


@functools.cache
def here(path):
    return (ROOT / path).read_text() if (ROOT / path).exists() else ""


def included(text, read):
    """The headers of a file, those first that it includes itself."""
    found, sources = [], [text]
    while sources:
        for header in re.findall(r'^#include "(\S+\.h)"', sources.pop(0), flags=re.M):
            if f"src/{header}" not in found:
                found.append(f"src/{header}")
                sources.append(read(f"src/{header}"))
    return found


def digest(text, function, read=here):
    """Of a function's text with its contract, in the file and in its headers."""
    parts = [text[function.first:function.end]]
    for header in included(text, read):
        declared = read(header)
        for found in re.finditer(rf"\b{function.name}\(", mutations.code_of(declared)):
            comment = declared.rfind("/*@", 0, found.start())
            parts.append(declared[max(comment, 0):found.start()])
    return hashlib.sha256(" ".join(" ".join(parts).split()).encode()).hexdigest()[:16]


@functools.cache
def text_at(commit, path):
    done = subprocess.run(["git", "show", f"{commit}:./{path}"], cwd=ROOT, text=True, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else ""


class Table:
    def __init__(self, path, keep=False):
        self.path, self.keep, self.files = path, keep, {}
        self.read()

    def read(self):
        if self.path and self.path.exists():
            self.files = json.loads(self.path.read_text())["files"]

    def entry(self, path, function):
        return self.files.get(str(path), {}).get(function, {})

    def stands(self, path, text, function):
        """Was the function judged as it is?"""
        return self.entry(path, function.name).get("digest") == digest(text, function)

    def why(self, mutant):
        """The explanation of a survivor, or nothing."""
        return self.entry(mutant.path, mutant.function).get("survived", {}).get(mutant.key, "")

    def change(self, path, function, make):
        """Replaces an entry by what `make` makes of it. Others may have written meanwhile, explanations above all."""
        if not self.path or self.keep:
            return
        guard = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            self.read()
            self.files.setdefault(str(path), {})[function] = make(self.entry(path, function))
            self.path.write_text(json.dumps({"files": self.files}, indent=1, sort_keys=True) + "\n")
        finally:
            os.close(guard)

    def write(self, path, function, mark, judged, took=0.0):
        """Of a whole function: judged is [(mutant, verdict, seconds that the solvers had)]."""
        def make(before):
            whys = before.get("survived", {})
            of = {kind: [m.key for m, verdict, _ in judged if verdict == kind] for kind in KINDS}
            had = {m.key: seconds for m, _, seconds in judged}
            return {"digest": mark, "mutants": len(judged), "rejected": len(of["rejected"]),
                    "refuted": len(of["refuted"]),
                    "seconds": round(took / max(len(judged), 1), 1),
                    "outrun": {key: had[key] for key in of["outrun"]}, "late": {key: had[key] for key in of["late"]},
                    "survived": {key: whys.get(key, "") for key in of["survived"]}}

        self.change(path, function, make)

    def judged_again(self, mutant, verdict, had):
        """Of one that was outrun or late."""
        def make(entry):
            if verdict == "late" and not had:
                return entry  # nobody was asked
            entry["outrun"].pop(mutant.key, None)
            entry["late"].pop(mutant.key, None)
            if verdict in ("refuted", "rejected"):
                entry[verdict] = entry.get(verdict, 0) + 1
            elif verdict == "survived":
                entry["survived"][mutant.key] = ""
            else:
                entry[verdict][mutant.key] = had
            return entry

        self.change(mutant.path, mutant.function, make)

    def prune(self, texts):
        """Forgets what is not as it was judged; how many functions there are, and how many are here."""
        there = known = 0
        for path, text in texts.items():
            found = {f.name: f for f in mutations.functions(text)}
            kept = {name: entry for name, entry in self.files.pop(str(path), {}).items()
                    if name in found and entry["digest"] == digest(text, found[name])}
            self.files.update({str(path): kept} if kept else {})
            there, known = there + len(found), known + len(kept)
        return there, known

    def total(self):
        """(mutants, refuted, rejected, outrun, late, survived) of the whole table."""
        entries = [entry for functions in self.files.values() for entry in functions.values()]
        return (*(sum(e.get(kind, 0) for e in entries) for kind in ("mutants", "refuted", "rejected")),
                *(sum(len(e[kind]) for e in entries) for kind in ("outrun", "late", "survived")))

    def unexplained(self):
        return sum(not why for functions in self.files.values() for e in functions.values()
                   for why in e["survived"].values())

    def __str__(self):
        mutants, refuted, rejected, outrun, late, survived = self.total()
        share = 100 * (refuted + rejected) / max(mutants, 1)
        return (f"{mutants} mutants, {refuted} refuted and {rejected} rejected ({share:.1f} %), {outrun} outrun, "
                f"{late} late, {survived} survived, {self.unexplained()} of these not explained")
