# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""A copy of the tree for breaking things in: BUILD/defects/tree, with a build directory of its own.

The copy starts with what BUILD has built already. Whatever is restored in it gets a new time, so that what was
built from the broken version is built anew."""
import filecmp, hashlib, os, pathlib, shutil, subprocess

# What says nothing about what runs.
APART = ("docs/", "specs/answers.txt", "specs/both", "README.md", "tests/defects/")
ROOMS = ("base", "kernel", "policy", "api", "engine", "store", "kube", "server", "controllers", "tests", "explore")
FUZZ = ("fuzz/include", "fuzz/libfuzzer")


class Copy:
    def __init__(self, root, build):
        self.root, self.build = root, build
        self.tree = build / "defects/tree"
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True,
                               check=True).stdout.decode().split("\0")
        self.names = sorted(n for n in names if n and (root / n).is_file())

    def create(self):
        """Files keep their times, so that what was built from them is still good."""
        for name in self.names:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / name, self.tree / name, follow_symlinks=False)
        target = self.tree / "build"
        (target / "fuzz").mkdir(parents=True)
        for source in [self.build / name for name in ROOMS + FUZZ] + list(self.build.glob("lib*.a")):
            if source.exists():
                into = target / source.relative_to(self.build).parent
                subprocess.run(["cp", "-a", str(source), str(into)], check=True)
        for path in target.rglob("*.d"):
            path.write_text(path.read_text().replace(f"{os.path.relpath(self.build, self.root)}/", "build/")
                            .replace(f"{self.build}/", "build/"))

    def restore(self):
        """Makes the copy what the tree is; what differs is copied and counts as changed now."""
        if not (self.tree / "build").exists():
            shutil.rmtree(self.tree, ignore_errors=True)
            self.create()
        for name in self.names:
            source, target = self.root / name, self.tree / name
            if target.exists() and same(source, target):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        known = set(self.names)
        for path in [p for room in ("src", "tests", "fuzz", "specs", "model") for p in (self.tree / room).rglob("*")]:
            name = str(path.relative_to(self.tree))
            if path.is_file() and name not in known and not name.startswith("specs/prove/__pyc"):
                path.unlink()

    def digest(self):
        """Of all that can change a verdict."""
        mark = hashlib.sha256()
        for name in self.names:
            if not name.startswith(APART):
                mark.update(f"{name}\0".encode() + hashlib.sha256((self.root / name).read_bytes()).digest())
        return mark.hexdigest()

    def apply(self, patch, *options):
        """What went wrong, or "". Nothing is guessed: every line of context has to be there."""
        done = subprocess.run(["patch", "-p1", "--fuzz=0", "--forward", "--batch", "--no-backup-if-mismatch", *options,
                               "-i", str(patch)], cwd=self.tree, capture_output=True, text=True)
        return f"{patch.name} does not apply:\n{done.stdout}{done.stderr}" if done.returncode else ""

    def would_apply(self, patch):
        return self.apply(patch, "--dry-run")


def same(a, b):
    """Equal size and time is equal enough; otherwise the bytes decide."""
    one, two = a.stat(), b.stat()
    if (one.st_size, one.st_mtime_ns) == (two.st_size, two.st_mtime_ns):
        return True
    return one.st_size == two.st_size and filecmp.cmp(a, b, shallow=False)
