# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What mkdocs does for this site beside its own work.

README.md is the first page, and the other pages at the root of the repository are below project/. A page may link to any
file of the repository, as it does on GitHub: what is not a page of docs/ is taken along below source/, a folder as a
list of its files. So the site needs no address of a repository, and a link that leads nowhere fails the build."""
import fnmatch, os, pathlib, posixpath, re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# No link in code: fences and `...` are left as they are.
CODE_OR_LINK = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)|`[^`\n]*`|(?P<start>\]\()(?P<to>[^)\s]+)\)", re.M | re.S)


def target_of(folder, to):
    """What a link of a page in this folder leads to, from the root; a README is the page of its folder."""
    path = posixpath.normpath(posixpath.join(folder, to))
    return posixpath.dirname(path) if path.endswith("/README.md") else path


def page_of(path):
    """A file of the repository -> its name in the site."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path[len("docs/"):]
    if "/" not in path and path.endswith(".md"):
        return f"project/{path}"
    if (ROOT / path).is_dir():
        return f"source/{path}/index.md"
    return f"source/{path}"


def targets(text):
    """The links of a text to files, without their anchors."""
    for m in CODE_OR_LINK.finditer(text):
        if m["to"] and not re.match(r"[a-z]+:|#|/", m["to"]):
            yield m["to"].split("#")[0]


def folder_page(path):
    """The README of a folder; below deploy/, and where there is none, its files."""
    folder = ROOT / path
    readme = folder / "README.md"
    text = readme.read_text() if readme.is_file() else f"# {path}\n"
    if readme.is_file() and not path.startswith("deploy/"):
        return text
    names = sorted(p.name + ("/" if p.is_dir() else "") for p in folder.iterdir() if not p.name.startswith(("_", ".")))
    return text + "\n## Files\n\n" + "".join(f"- [{n}]({n.rstrip('/')})\n" for n in names)


def text_of(path):
    return folder_page(path) if (ROOT / path).is_dir() else (ROOT / path).read_text()


def is_page(path):
    return (ROOT / path).is_dir() or path.endswith(".md")


def on_config(config):
    def expand(item):
        if isinstance(item, str) and "*" in item:
            return sorted(fnmatch.filter((str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md")), item))
        if isinstance(item, dict):
            return [{title: walk(inside) if isinstance(inside, list) else inside for title, inside in item.items()}]
        return [item]

    def walk(items):
        return [new for item in items for new in expand(item)]

    config.nav = walk(config.nav)
    return config


def on_files(files, config):
    """All that pages lead to, and what that leads to, is part of the site."""
    files.append(File.generated(config, "site.css", abs_src_path=str(ROOT / "site/site.css")))
    origin.clear()
    origin.update({f.src_uri: f"docs/{f.src_uri}" for f in files})
    left = ["README.md"] + [p.name for p in ROOT.glob("*.md")] + [f"docs/{f.src_uri}" for f in files if f.src_uri.endswith(".md")]
    done = set()
    while left:
        path = left.pop()
        if path in done:
            continue
        done.add(path)
        name = page_of(path)
        if not path.startswith("docs/"):
            origin[name] = path
            files.append(File.generated(config, name, content=text_of(path)) if is_page(path) else
                         File.generated(config, name, abs_src_path=str(ROOT / path)))
        if is_page(path):
            folder = path if (ROOT / path).is_dir() else posixpath.dirname(path)
            found = (target_of(folder, to) for to in targets(text_of(path)))
            left += [to for to in found if (ROOT / to).exists() and not to.startswith("..")]
    return files


origin = {}  # a page of the site -> its file in the repository


def on_page_markdown(markdown, page, config, files):
    path = origin[page.file.src_uri]
    folder = path if (ROOT / path).is_dir() else posixpath.dirname(path)
    here = posixpath.dirname(page.file.src_uri)

    def moved(m):
        if not m["to"] or re.match(r"[a-z]+:|#|/", m["to"]):
            return m[0]
        to, hash_sign, anchor = m["to"].partition("#")
        target = target_of(folder, to)
        if not (ROOT / target).exists():
            return m[0]  # which mkdocs complains of
        return f"]({os.path.relpath(page_of(target), here or '.')}{hash_sign}{anchor})"

    return CODE_OR_LINK.sub(moved, markdown)
