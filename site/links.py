#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Do links lead somewhere? Without a network: links to other sites are not followed.

usage: links.py              in all Markdown of the repository, with the anchors that GitHub gives to headings
       links.py --site DIR   in a built site, where nothing may be loaded from another one"""
import html.parser, pathlib, posixpath, re, subprocess, sys, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
CODE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)|`[^`\n]*`|<!--.*?-->", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)


def slug(heading):
    """As GitHub makes it: small letters, no punctuation, a hyphen for each blank."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", "")).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    """Repeated headings get -1, -2 and so on."""
    seen, found = {}, set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in HEADING.findall(re.sub(r"^(```+|~~~+).*?^\1", "", text, flags=re.M | re.S)):
        name = slug(heading)
        found.add(name if name not in seen else f"{name}-{seen[name]}")
        seen[name] = seen.get(name, 0) + 1
    return found


def without_code(text):
    return CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def broken_in_text(path, text, root=ROOT):
    """(line, link, what is wrong with it)"""
    for number, line in enumerate(without_code(text).splitlines(), 1):
        for link in LINK.findall(line):
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            to, _, anchor = link.partition("#")
            target = path if to == "" else (root / path).parent.joinpath(to).resolve().relative_to(root)
            if not (root / target).exists():
                yield number, link, "no such file"
            elif anchor and (target.suffix != ".md" or anchor not in anchors((root / target).read_text() if to else text)):
                yield number, link, "no such heading"


def check_texts():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", "*.md"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split()
    found = [f"{name}:{line}: {link}: {why}" for name in names if (ROOT / name).exists()
             for line, link, why in broken_in_text(pathlib.Path(name), (ROOT / name).read_text())]
    return len(names), found


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.ids.update(v for k, v in attributes if k == "id" or (k == "name" and tag == "a"))
        if tag in ("script", "img", "source", "iframe", "video") or (tag == "link" and has.get("rel") != "canonical"):
            self.loads += [v for k, v in attributes if k in ("src", "href") and v]
        elif tag == "a" and has.get("href"):
            self.links.append(has["href"])


def broken_in_page(name, pages, files):
    page = pages[name]
    for link in page.loads:
        if re.match(r"(https?:)?//", link):
            yield f"{name}: loads {link} from another site"
    for link in page.links + page.loads:
        to, _, anchor = urllib.parse.unquote(link.split("?")[0]).partition("#")
        if re.match(r"[a-z][a-z0-9+.-]*:|//", to) or to == "#" or (name == "404.html"):
            continue
        target = name if to == "" else posixpath.normpath(posixpath.join(posixpath.dirname(name), to))
        target = target if target in files else posixpath.normpath(f"{target}/index.html")
        if target not in files:
            yield f"{name}: {link}: no such file"
        elif anchor and target in pages and anchor not in pages[target].ids:
            yield f"{name}: {link}: no such heading"


def check_site(directory):
    files = {str(p.relative_to(directory)) for p in directory.rglob("*") if p.is_file()}
    pages = {name: Page((directory / name).read_text()) for name in files if name.endswith(".html") and not name.startswith("assets/")}
    return len(pages), [complaint for name in sorted(pages) for complaint in broken_in_page(name, pages, files)]


def main(arguments):
    count, found = check_site(pathlib.Path(arguments[1])) if arguments[:1] == ["--site"] else check_texts()
    for complaint in found:
        print(complaint)
    print(f"links: {count - len({c.split(':')[0] for c in found})} passed, {len({c.split(':')[0] for c in found})} failed")
    return bool(found) or count == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
