#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Makes docs/reference from what the programs and their sources say, so that it cannot be forgotten.

    fields.md        the schema tables of src/api/schema (build/fields-tool)
    commands.md      the help of both programs, and the exit codes and variables of reference/environment.txt
    metrics.md       the families that src/cli names, with their texts
    labels.md        reference/labels.txt, where every label and annotation of the sources has to be, and no other one
    reasons.md       reference/reasons.txt, the same for conditions, reasons and events

usage: reference.py BUILD [--check]"""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/reference"
TABLES = ROOT / "tests/lint/reference"
MADE = "<!-- Made by `make reference` from the sources; do not edit. -->\n\n"
problems = []


def sources(*patterns):
    return {p: p.read_text() for pattern in patterns for p in sorted(ROOT.glob(pattern))}


def rows(name):
    """[(heading, note or None, [[cell, ...], ...])]"""
    found = []
    for line in (TABLES / name).read_text().splitlines():
        if line.startswith("= "):
            found.append([line[2:], None, []])
        elif line.startswith("> "):
            found[-1][1] = line[2:]
        elif line and not line.startswith("#"):
            found[-1][2].append([cell.strip() for cell in line.split(" | ")])
    return found


def table(heads, lines):
    out = f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}\n"
    return out + "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


# --- fields ---------------------------------------------------------------------------------------------------

def fields(build):
    text = subprocess.run([build / "fields-tool"], capture_output=True, text=True, check=True).stdout
    out, lines = "", []

    def end():
        return table(["field", "type", "default", "what"], lines) if lines else ""

    for line in text.splitlines():
        cells = line.split("\t")
        if cells[0] == "kind" and len(cells) == 5 and cells[3].startswith(("in ", "of ")):
            out, lines = out + end(), []
            short = f", in short {', '.join(f'`{name}`' for name in cells[2].split(','))}" if cells[2] else ""
            out += f"\n## {cells[1]}\n\n{cells[4]}\n\nAn object {cells[3]}{short}.\n\n"
        elif cells[0] not in ("apiVersion", "kind"):
            path, kind, preset, values, about = cells
            values = f" One of {', '.join(f'`{v}`' for v in values.split('|'))}." if values else ""
            about += "" if about == "" or about.endswith(".") else "."
            lines.append([f"`{path}`", kind, f"`{preset}`" if preset else "", (about + values).strip()])
    return ("# Fields\n\n" + MADE + "The kinds of `kueue.x-k8s.io/v1beta2`. `[]` is any item of a list, `{}` any key of a map. The same texts are in\n"
            "`kubectl explain`. Pod templates are those of Kubernetes. Fields of the configuration file:\n"
            "[configuration](../configuration.md#fields).\n" + out + end())


# --- labels and annotations -----------------------------------------------------------------------------------

OF_OTHERS = {"kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/manager", "kueue.x-k8s.io/podset-", "kueue.x-k8s.io/", "sluice.dev/", "sluice.dev/v1"}  # versions, prefixes


def named_labels():
    """What src and the policies name. Where a file has a prefix of its own, what is put together with it, too."""
    found = {}
    for path, text in sources("src/**/*.[ch]", "src/**/*.def", "deploy/kubernetes/**/*.yaml", "deploy/adapters/*.yaml").items():
        names = set(re.findall(r"(?<![\w.-])((?:kueue\.x-k8s\.io|sluice\.dev)/[a-z0-9-]*)", text))
        prefix = re.search(r'#define (\w+) "(kueue\.x-k8s\.io/|sluice\.dev/)"', text)
        if prefix:
            names |= {prefix[2] + end for end in re.findall(rf'\b{prefix[1]} "([a-z0-9-]+)"', text)}
        for name in names - OF_OTHERS:
            found.setdefault(name, path)
    return found


def labels():
    known = rows("labels.txt")
    listed = [line[0] for _, _, lines in known for line in lines]
    found = named_labels()
    for name in sorted(set(found) - set(listed)):
        problems.append(f"{found[name].relative_to(ROOT)} names {name}: say in tests/lint/reference/labels.txt what it is for")
    for name in sorted(set(listed) - set(found)):
        problems.append(f"tests/lint/reference/labels.txt has {name}, which no source names")
    out = "# Labels and annotations\n\n" + MADE + "All that Sluice reads or writes on objects. The same names mean the same in Kueue; `sluice.dev/` is Sluice's own.\n"
    for heading, _, lines in known:
        out += f"\n## {heading}\n\n" + table(["name", "kind", "on", "what"], [[f"`{c[0]}`", *c[1:]] for c in lines])
    return out


# --- conditions, reasons, events ------------------------------------------------------------------------------

def named_reasons():
    found = {}
    for path, text in sources("model/*.def").items():
        for name in re.findall(r'SL_REASON\(\w+, "(\w+)"\)', text):
            found.setdefault(name, path)
    two_words = re.compile(r'"((?:[A-Z][a-z]+){2,}|[A-Z][A-Za-z]*FIFO)"')
    for path, text in sources("src/controllers/**/*.[ch]", "src/engine/**/*.[ch]").items():
        for name in two_words.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
            found.setdefault(name, path)
    return found


def reasons():
    known = rows("reasons.txt")
    listed = {line[0] for _, _, lines in known for line in lines}
    others = set(re.sub(r"^#.*$", "", (TABLES / "other-names.txt").read_text(), flags=re.M).split())
    kinds = set(re.findall(r'SL_KIND\(\w+, "[^"]*", "\w+", "(\w+)"', (ROOT / "src/api/objects/kinds.def").read_text()))
    found = {name: path for name, path in named_reasons().items() if name not in kinds}
    texts = "\n".join(sources("src/**/*.[ch]", "model/*.def").values())
    for name in sorted(set(found) - listed - others):
        problems.append(f"{found[name].relative_to(ROOT)} names {name}: a reason, condition or event? Say in "
                        "tests/lint/reference/reasons.txt what it means, or put it into other-names.txt")
    for name in sorted(n for n in listed | others if f'"{n}"' not in texts):
        problems.append(f"tests/lint/reference has {name}, which no source names")
    out = "# Conditions, reasons and events\n\n" + MADE
    for heading, note, lines in known:
        out += f"\n## {heading}\n\n" + (f"{note}\n\n" if note else "")
        out += table(["name", "what it means"], [[f"`{c[0]}`", c[1]] for c in lines])
    return out


# --- metrics --------------------------------------------------------------------------------------------------

ONE_MODE = {"src/cli/daemon/daemon.c": " (standalone)", "src/cli/daemon/daemon_cluster.c": " (on a cluster)"}


def metric_families():
    """{name: (type, text)}"""
    found = {}
    texts = r'"((?:[^"\\]|\\.)*)"(?:\s*"((?:[^"\\]|\\.)*)")*'

    def joined(m):
        return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m[0]))

    def add(name, kind, text):
        found.setdefault(name, (kind or ("counter" if name.endswith("_total") else "gauge"), text))

    for path, text in sources("src/cli/**/*.c").items():
        where = ONE_MODE.get(str(path.relative_to(ROOT)), "")
        for name, value in re.findall(r'#define (\w+) ("(?:kueue|sluice)_\w+")', text):
            text = re.sub(rf"(?<!#define )\b{name}\b", value, text)
        variables = dict(re.findall(r'struct family (\w+) = \{\s*\w+,\s*\w+,\s*"(\w+)"', text))
        for m in re.finditer(r'BOTH\("(\w+)"\),\s*(' + texts + ")", text):
            for start in ("kueue_", "kueue_local_queue_"):
                add(start + m[1], "counter" if m[1].endswith("_total") else "histogram", joined(re.search(texts, m[2])))
        for m in re.finditer(r'\{"((?:kueue|sluice)_\w+)",\s*(NULL,\s*)?(' + texts + ")", text):
            add(m[1], "histogram" if m[2] and not m[1].endswith("_total") else None, joined(re.search(texts, m[3])) + where)
        for m in re.finditer(r'sl_metrics_value\(\s*\w+,\s*"(\w+)",\s*(' + texts + ")", text):
            add(m[1], None, joined(re.search(texts, m[2])) + where)
        for m in re.finditer(r'sl_metrics_help\(\s*&?[\w>-]+,\s*(?:"(\w+)"|(\w+)\.metric),\s*"(\w+)",\s*(' + texts + ")", text):
            add(m[1] or variables[m[2]], m[3], joined(re.search(texts, m[4])) + where)
        for name in re.findall(r'"((?:kueue|sluice|process)_[a-z_]+[a-z])"', text):
            if name not in found and re.sub("_(count|sum|bucket)$", "", name) not in found:
                problems.append(f"{path.relative_to(ROOT)} names {name}, and reference.py finds no text for it")
    return found


def metrics():
    families = metric_families()
    out = ("# Metrics\n\n" + MADE + "`/metrics` in the format of Prometheus. Names, labels and bounds are Kueue's where Kueue has the family; what begins\n"
           "with `sluice_` is about the daemon itself. What the labels mean, and which families of Kueue are missing:\n"
           "[operations](../operations.md#metrics).\n")
    for heading, start in (("Queues and workloads", "kueue_"), ("The daemon", "sluice_"), ("The process", "process_")):
        lines = [[f"`{n}`", kind, text] for n, (kind, text) in sorted(families.items()) if n.startswith(start)]
        out += f"\n## {heading}\n\n" + table(["name", "type", "what"], lines)
    return out


# --- commands -------------------------------------------------------------------------------------------------

def help_of(build, program, *words):
    return subprocess.run([build / program, *words, "--help"], capture_output=True, text=True, check=True).stdout


def fence(text):
    return f"```text\n{text.rstrip()}\n```\n"


def check_environment(lines):
    texts = sources("src/**/*.c")
    found = {name: path for path, text in texts.items() for name in re.findall(r'(?:getenv|environment)\("(\w+)"\)', text)}
    listed = {line[0] for line in lines}
    for name in sorted(set(found) - listed):
        problems.append(f"{found[name].relative_to(ROOT)} reads {name}: say in tests/lint/reference/environment.txt what it is")
    for name in sorted(listed - set(found)):
        problems.append(f"tests/lint/reference/environment.txt has {name}, which no source reads")


def commands(build):
    known = {heading: lines for heading, _, lines in rows("environment.txt")}
    check_environment(known["Environment"])
    whole = help_of(build, "sluicectl")
    names = re.findall(r"^  ([a-z][a-z-]*(?: [a-z-]+)?)(?: {2,}\S|$)", whole.split("Options of every command:")[0], re.M)
    out = "# Commands\n\n" + MADE + "## sluicectl\n\n" + fence(whole)
    for name in names:
        if name == "help":
            continue
        text = re.sub(r"\nOptions of every command:\n(?:[ ].*\n)*", "", help_of(build, "sluicectl", *name.split()))
        out += f"\n### sluicectl {name}\n\n" + fence(text)
    out += "\n## sluiced\n\n" + fence(help_of(build, "sluiced"))
    out += "\n## Exit codes\n\n" + table(["code", "program", "meaning"], known["Exit codes"])
    out += "\n## Environment\n\n" + table(["variable", "program", "what"], [[f"`{c[0]}`", *c[1:]] for c in known["Environment"]])
    return out


def index():
    return ("# Reference\n\n" + MADE + "Made from the sources of this version.\n\n"
            "- [Commands](commands.md): `sluicectl`, `sluiced`, exit codes, environment\n"
            "- [Fields](fields.md) of queues, cohorts, flavors, workloads and the others\n"
            "- [Labels and annotations](labels.md)\n"
            "- [Conditions, reasons and events](reasons.md)\n"
            "- [Metrics](metrics.md)\n"
            "- [Configuration file and feature gates](../configuration.md)\n"
            "- [Files that describe more kinds of jobs](../adapters.md)\n")


def main(build, check):
    pages = {"index.md": index(), "fields.md": fields(build), "labels.md": labels(), "reasons.md": reasons(),
             "metrics.md": metrics(), "commands.md": commands(build)}
    for name, text in pages.items():
        path = PAGES / name
        if not check:
            PAGES.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            problems.append(f"docs/reference/{name} is not what the sources say: run make reference")
    for problem in problems:
        print(f"reference: {problem}")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), "--check" in sys.argv))
