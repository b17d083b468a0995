#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Writes BUILD/evidence/index.html: which evidence there is for each guarantee, from what the tools wrote. What has
not run is shown as that. The page needs no network.

usage: evidence.py --build DIR [--root DIR]"""
import argparse, html, os, pathlib, re, sys

import sources

WIDTH, HEAD, ROW, NAME, CELL = 1220, 56, 40, 260, 118
NAME_CHARS = 32
STYLE = """
:root { --ground: #fff; --ink: #1c2530; --soft: #5c6b7a; --line: #d5dbe1; --fill: #8bd3ae; --lack: #b4530a; --cell: #f2f5f7; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #12171d; --ink: #e6ebf0; --soft: #93a1af; --line: #2f3a45; --fill: #1f7350; --lack: #e39a4f; --cell: #1b222a; } }
body { background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 1020px;
  margin: 2em auto; padding: 0 1em; }
a { color: inherit; } h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--line); padding: .3em .6em .3em 0;
  text-align: left; vertical-align: top; } th { color: var(--soft); font-weight: 600; }
.lack { color: var(--lack); } .soft { color: var(--soft); }
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif; } svg text { fill: var(--ink); }
svg .soft { fill: var(--soft); } svg .lack { fill: var(--lack); } svg .cell { fill: var(--cell); stroke: var(--line); }
svg .fill { fill: var(--fill); } svg .none { fill: none; stroke: var(--lack); stroke-dasharray: 4 3; }
"""


def text(value):
    return html.escape(str(value))


class Page:
    def __init__(self, root, build):
        self.root, self.build = root, build
        self.out = build / "evidence"
        self.kinds = [kind(root, build) for kind in sources.KINDS]
        self.rows = sources.guarantees(root / "docs/guarantees.md")

    def link(self, path, words=None):
        """To a file of the tree or of the build directory, as seen from the page."""
        place = self.build / path[len("BUILD/"):] if path.startswith("BUILD/") else self.root / path
        words = text(words or path.replace("BUILD/", "build/"))
        if not place.exists():
            return words
        return f'<a href="{text(os.path.relpath(place, self.out))}">{words}</a>'

    def answer(self, kind, name, row):
        """(strength or None, short, long) of one cell."""
        if kind.data is None:
            return None, "not run", f"{kind.title}: not run; {kind.command} writes {kind.path.replace('BUILD/', 'build/')}"
        strength, short, long = kind.says(name, row)
        return strength, short, f"{kind.title}: {long}"

    @staticmethod
    def cell(x, y, strength, short, title):
        """Filled by strength; dashed when strength is None, a dash when there is nothing to say."""
        box = f'x="{x + 3}" y="{y + 4}" height="{ROW - 8}" rx="4"'
        width, lacking = CELL - 6, ' class="lack"'
        middle = f'x="{x + CELL / 2:.0f}" y="{y + ROW / 2 + 5:.0f}" text-anchor="middle"'
        if strength is None:
            shape = f'<rect class="none" {box} width="{width}"/><text class="lack" {middle}>not run</text>'
        elif not short:
            shape = f'<text class="soft" {middle}>–</text>'
        else:
            shape = (f'<rect class="cell" {box} width="{width}"/>'
                     f'<rect class="fill" {box} width="{width * strength:.1f}"/>'
                     f'<text{"" if strength else lacking} {middle}>{text(short)}</text>')
        return f"<g><title>{text(title)}</title>{shape}</g>"

    @staticmethod
    def heads(y, heads):
        """Of columns: a word, and below it what its numbers count."""
        parts = []
        for i, (word, unit) in enumerate(heads):
            place = f'x="{NAME + i * CELL + CELL / 2:.0f}" text-anchor="middle"'
            parts.append(f'<text {place} y="{y}" font-weight="600">{text(word)}</text>'
                         f'<text class="soft" {place} y="{y + 17}" font-size="11">{text(unit)}</text>')
        return parts

    def row(self, y, name, row):
        short = re.split(r"[;:.]", row["text"])[0]
        short = short if len(short) <= NAME_CHARS else short[:NAME_CHARS - 2].rsplit(" ", 1)[0] + " …"
        parts = [f'<text x="0" y="{y + 25}" font-weight="600">{text(name)}</text>'
                 f'<text class="soft" x="36" y="{y + 25}"><title>{text(row["text"])}</title>{text(short)}</text>']
        for i, kind in enumerate(self.kinds):
            strength, short, long = self.answer(kind, name, row)
            parts.append(self.cell(NAME + i * CELL, y, strength, short, f"{name}, {long}"))
        return parts

    def whole(self, y):
        """What is about all of it, not about one guarantee: stages that have passed are full."""
        parts = self.heads(y + 22, [(name, "passed") for name, *_ in sources.STAGES])
        parts.append(f'<text class="soft" x="0" y="{y + 22 + ROW + 3}">all of it together</text>')
        for i, (name, _, what) in enumerate(sources.STAGES):
            passed, failed = sources.stage(self.build, name) or (None, None)
            strength = None if passed is None else float(failed == 0)
            parts.append(self.cell(NAME + i * CELL, y + ROW + 1, strength, f"{failed} failed" if failed else str(passed),
                                   f"{name}: {what}, {passed} passed, {failed} failed"))
        return parts

    def picture(self):
        parts = self.heads(22, [(kind.title, kind.unit) for kind in self.kinds])
        for j, (name, row) in enumerate(self.rows.items()):
            parts += self.row(HEAD + j * ROW, name, row)
        height = HEAD + ROW * (len(self.rows) + 2) + 20
        return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Guarantees and their evidence">'
                + "\n".join(parts + self.whole(HEAD + ROW * len(self.rows) + 10)) + "</svg>")

    def overall(self):
        """Each kind of evidence with its file, its command and its sum."""
        rows = []
        for kind in self.kinds:
            said = kind.overall() if kind.data is not None else None
            rows.append((kind.title, said, kind.path, kind.command))
        rows += [(title, says(self.root), path, command) for title, says, path, command in sources.RECORDS]
        for name, command, what in sources.STAGES:
            ended = sources.stage(self.build, name)
            said = ended and f"{ended[0]} {what} passed, {ended[1]} failed"
            rows.append((name, said, f"BUILD/ci/{name}.log", command))
        lines = [f"<tr><td>{text(title)}</td><td>{text(said) if said else lack()}</td><td>{self.link(path)}</td>"
                 f"<td><code>{text(command)}</code></td></tr>" for title, said, path, command in rows]
        return "<table><tr><th>evidence</th><th>says</th><th>from</th><th>made by</th></tr>" + "\n".join(lines) + "</table>"

    def one(self, name, row):
        lines = []
        for kind in self.kinds:
            strength, short, long = self.answer(kind, name, row)
            words = long.split(": ", 1)[1]
            cell = lack() if strength is None else f'<span class="soft">{text(words)}</span>' if not short else text(words)
            lines.append(f"<tr><td>{self.link(kind.path, kind.title)}</td><td>{cell}</td></tr>")
        return f'<h2 id="{name}">{name}</h2><p>{text(row["text"])}</p><table>{"".join(lines)}</table>'

    def defects(self):
        kind = next(k for k in self.kinds if isinstance(k, sources.Defects))
        ran = kind.data["defects"] if kind.data else {}
        lines = []
        for name, guarantee in kind.known.items():
            says = ran.get(name)
            by = lack() if says is None else text(says["rejected_by"]) if says["ok"] else '<span class="lack">not rejected</span>'
            seconds = "" if says is None else f"{sum(a['seconds'] for a in says['asked']):.1f} s"
            lines.append(f"<tr><td>{self.link(f'tests/defects/{name}.patch', name)}</td><td>{text(guarantee)}</td>"
                         f"<td>{by}</td><td>{seconds}</td></tr>")
        return ("<h2>Seeded defects</h2><table><tr><th>defect</th><th>breaks</th><th>rejected by</th><th>in</th></tr>"
                + "".join(lines) + "</table>")

    def write(self):
        self.out.mkdir(parents=True, exist_ok=True)
        how = ("Each row is a guarantee, each column a kind of evidence. A cell is filled by how much of it there is: goals proved "
               "and functions covered, mutants and seeded defects rejected, properties that hold, executions and seeds on a "
               "logarithmic scale. A dash: this kind says nothing about the guarantee. Dashed: it has not run. Empty: it was not passed.")
        body = [f"<h1>What Sluice guarantees, and on what evidence</h1><p class=\"soft\">{how}</p>", self.picture(),
                f"<p>The guarantees are those of {self.link('docs/guarantees.md')}; how far proofs reach is in "
                f"{self.link('docs/soundness.md')}.</p>", "<h2>Sums</h2>", self.overall()]
        body += [self.one(name, row) for name, row in self.rows.items()] + [self.defects()]
        page = (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
                f"<title>Sluice: evidence</title><style>{STYLE}</style></head><body>" + "\n".join(body) + "</body></html>\n")
        (self.out / "index.html").write_text(page)

    def missing(self):
        names = [k.title for k in self.kinds if k.data is None] + [title for title, says, *_ in sources.RECORDS if not says(self.root)]
        return names + [name for name, *_ in sources.STAGES if sources.stage(self.build, name) is None]


def lack():
    return '<span class="lack">not run</span>'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent.parent)
    args = parser.parse_args()
    page = Page(args.root.resolve(), args.build.resolve())
    page.write()
    print(f"{page.out / 'index.html'}: {len(page.rows)} guarantees; not run: {', '.join(page.missing()) or 'nothing'}")
    return not page.rows


if __name__ == "__main__":
    sys.exit(main())
