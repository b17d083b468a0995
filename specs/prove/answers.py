#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The solvers' answers: one sorted text file in the repository, WP's many small files under the build directory.

A line of specs/answers.txt is an answer: module, digest of the goal, solver, verdict, seconds, steps ("-" where WP
wrote none). WP reads and writes BUILD/prove/session/MODULE/cache/DIGEST.json. Answers of the second solver about goals that the
first one proves (both.py) are in a text and a directory of their own.

usage: answers.py unpack|pack BUILD"""
import contextlib, fcntl, hashlib, json, pathlib, shutil, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ANSWERS = ROOT / "specs/answers.txt"
PLACE = "session"
FIELDS = ("prover", "verdict", "time", "steps")


def directory(build, module, place=PLACE):
    """Where WP looks for a module's answers."""
    return build / "prove" / place / module / "cache"


def read_answer(text):
    """WP writes `20.` for a number, which is no JSON."""
    return json.loads(text.replace(". }", ".0 }").replace(".,", ".0,"), parse_float=str, parse_int=str)


def write_answer(fields):
    values = {name: value for name, value in zip(FIELDS, fields) if value != "-"}
    quoted = (f'"{name}": ' + (f'"{value}"' if name in FIELDS[:2] else value) for name, value in values.items())
    return "{ " + ", ".join(quoted) + " }\n"


def digest(text):
    return hashlib.sha256(text.read_bytes()).hexdigest() if text.exists() else ""


@contextlib.contextmanager
def alone(build, text):
    """Two tools may begin in one build directory at the same time."""
    (build / "prove").mkdir(parents=True, exist_ok=True)
    with open(build / f"prove/{text.stem}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield build / f"prove/{text.stem}.digest"


def unpack(build, text=None, place=PLACE):
    """Makes WP's files those of the committed text, if that is another one than last time: what a run that was
    interrupted has learned stays otherwise."""
    text = text or ANSWERS
    with alone(build, text) as mark:
        if mark.exists() and mark.read_text() == digest(text):
            return
        shutil.rmtree(build / "prove" / place, ignore_errors=True)
        for line in text.read_text().splitlines() if text.exists() else []:
            module, goal, *fields = line.split()
            where = directory(build, module, place)
            where.mkdir(parents=True, exist_ok=True)
            (where / f"{goal}.json").write_text(write_answer(fields))
        mark.write_text(digest(text))


def pack(build, text=None, place=PLACE):
    """Writes the text anew from WP's files. The text keeps its time stamp if there is nothing new. A solver that failed
    (it was stopped, or had no memory) has not answered, though WP keeps that like an answer: it is to be asked again."""
    text = text or ANSWERS
    with alone(build, text) as mark:
        lines = []
        for path in (build / "prove" / place).glob("*/cache/*.json"):
            answer = read_answer(path.read_text())
            if answer.get("verdict") == "failed":
                path.unlink()
                continue
            fields = [answer.get(name, "-") for name in FIELDS]
            lines.append(" ".join([path.parent.parent.name, path.stem, *fields]))
        now = "".join(f"{line}\n" for line in sorted(lines))
        if not text.exists() or text.read_text() != now:
            text.write_text(now)
        mark.write_text(digest(text))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("unpack", "pack"):
        sys.exit(__doc__)
    {"unpack": unpack, "pack": pack}[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve())
