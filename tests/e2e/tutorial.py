"""Follows a page of docs word for word: runs what its console blocks say and compares what they show.

    ```console
    $ command                a line that begins with "$ "; one that ends in \\ goes on in the next line
    what it prints           compared by the rules below; a line "..." stands for any lines
    ```

All commands of a page run in one shell, at the root of the repository, in the order of the page. A command of
`build/sluiced` or `make run` is what the reader starts in a terminal of its own: it runs beside the others, to the end of
the page, and what it prints is not compared. Elsewhere an address and a directory are other ones:

    127.0.0.1:8088           the address of the daemon: a free port
    /tmp/sluice-tutorial     its directory: a new one for each run
    build/                   where the programs were built

A page about a cluster is followed by a Reader of its own (tests/cluster/test_tutorial.py).

Two lines are the same when they are so after these changes, in both:

    blanks                   several are one, and none at the end
    job-first-6e3a3          the five digits at the end of a Workload's name are #####
    2s, 1m30s, 250ms, 5d3h   a time is #, at the end of a word: "30s" in a name is none
    2026-11-26T17:24:40Z     a date is DATE
    00000000-0034-80c9-...   a UID is UID

A command that only looks (get, describe, pending, ...) is repeated for up to 15 s until it shows what the page says, as a
reader would: what he typed before may take a moment.

usage: tutorial.py --write PAGE...     puts what is printed now into the pages; look at the diff"""
import os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

from daemon import BUILD, KUBECTL, ROOT, free_port
from patience import deadline

LOOKS = re.compile(r"(build/)?((sluicectl|kubectl sluice) (get|describe|pending|why|what-if|shares|status|topology|node list|history|usage|list|"
                   r"version)|kubectl (--server \S+ )?(get|describe))\b|curl ")
STARTS = re.compile(r"(build/sluiced|make run)\b")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def steps(page):
    """[(command, [lines of output], where the output begins in the page, where it ends)]"""
    found = []
    for block in BLOCK.finditer(page):
        at, command, lines, begin = block.start(1), None, [], 0
        for line in block[1].splitlines(keepends=True):
            at += len(line)
            if command is not None and command.endswith("\\\n"):
                command, begin = command + line, at
            elif line.startswith("$ "):
                if command is not None:
                    found.append((command.strip(), lines, begin, at - len(line)))
                command, lines, begin = line[2:], [], at
            elif command is None:
                raise AssertionError(f"a console block begins with output: {line!r}")
            else:
                lines.append(line.rstrip("\n"))
        if command is not None:
            found.append((command.strip(), lines, begin, at))
    return found


def plain(line):
    line = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "DATE", line)
    line = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID", line)
    line = re.sub(r"(?<=-)[0-9a-f]{5}\b", "#####", line)
    line = re.sub(r"(?<![\w.-])(\d+(\.\d+)?(ms|s|m|h|d))+(?![\w-])", "#", line)
    return " ".join(line.split())


def matches(expected, actual):
    """Lines against lines, where ... stands for any."""
    expected, actual = [plain(line) for line in expected], [plain(line) for line in actual]

    def from_here(i, k):
        while i < len(expected) and expected[i] != "...":
            if k == len(actual) or expected[i] != actual[k]:
                return False
            i, k = i + 1, k + 1
        return k == len(actual) if i == len(expected) else any(from_here(i + 1, n) for n in range(k, len(actual) + 1))

    return from_here(0, 0)


class Reader:
    """A person with a shell, and a second terminal for the daemon."""

    def __init__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-tutorial-"))
        self.address = f"127.0.0.1:{free_port()}"
        self.beside = []
        bin_directory = self.home / "bin"
        bin_directory.mkdir()
        (bin_directory / "kubectl").symlink_to(KUBECTL)
        self.env = {name: value for name, value in os.environ.items() if name not in ("KUBECONFIG", "SLUICE_SERVER", "SLUICE_KUBECONFIG")}
        self.env.update(HOME=str(self.home), PATH=f"{bin_directory}:{os.environ['PATH']}", **self.server())
        self.shell = subprocess.Popen(["bash", "--norc"], cwd=ROOT, env=self.env, text=True, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def server(self):
        """The variables that say which one it is."""
        return {"DATA": str(self.home / "data"), "LISTEN": self.address, "SLUICE_SERVER": f"http://{self.address}"}

    def close(self):
        self.shell.stdin.close()
        self.shell.wait(20)
        for process in self.beside:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)
        shutil.rmtree(self.home, ignore_errors=True)

    def here(self, command):
        command = command.replace("127.0.0.1:8088", self.address).replace("/tmp/sluice-tutorial", str(self.home / "data"))
        command = command.replace("build/run-data", str(self.home / "data"))
        return re.sub(r"(?<![\w./-])(\$PWD/)?build(?=[/:])", str(BUILD), command)

    def start(self, command):
        log = self.home / "beside"
        with open(log, "wb") as sink:
            self.beside.append(subprocess.Popen(["bash", "-c", f"exec {self.here(command)}"], cwd=ROOT, env=self.env, stdout=sink,
                                                stderr=sink, start_new_session=True))
        sign = "Ctrl-C stops it" if command.startswith("make") else "listening"
        for _ in range(1200):
            if sign in log.read_text():
                return
            if self.beside[-1].poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"{command}\n{log.read_text()[-2000:]}")

    def type(self, command):
        """What it prints, with the names of the page."""
        mark = "--- end of command ---"
        self.shell.stdin.write(f"{{ {self.here(command)}\n}} </dev/null\necho '{mark}'\n")
        self.shell.stdin.flush()
        lines = []
        for line in self.shell.stdout:
            if line.rstrip("\n").endswith(mark):
                rest = line.rstrip("\n")[:-len(mark)]
                return lines + ([rest] if rest else [])
            lines.append(line.rstrip("\n").replace(self.address, "127.0.0.1:8088").replace(str(self.home / "data"),
                                                                                           "/tmp/sluice-tutorial"))
        raise AssertionError(f"the shell ended at: {command}")

    def see(self, command, expected, seconds=15):
        """What the command printed at last, repeated where it only looks."""
        end = deadline(seconds)
        while True:
            printed = self.type(command)
            if matches(expected, printed) or not LOOKS.match(command) or time.monotonic() > end:
                return printed
            time.sleep(0.2)

    def settled(self, command):
        """The same twice in a row."""
        before, printed = None, self.type(command)
        while LOOKS.match(command) and (before is None or not matches(before, printed)):
            time.sleep(1)
            before, printed = printed, self.type(command)
        return printed


def follow(page, write=False, reader=Reader):
    """[(command, expected, printed)] of what differs, and the page as it should be."""
    different, out, at = [], "", 0
    reader = reader()
    try:
        for command, expected, begin, end in steps(page):
            if STARTS.match(command):
                reader.start(command)
                continue
            printed = reader.settled(command) if write else reader.see(command, expected)
            if not matches(expected, printed):
                different.append((command, expected, printed))
                out += page[at:begin] + "".join(f"{line}\n".replace(" \n", "\n") for line in printed)
                at = end
    finally:
        reader.close()
    return different, out + page[at:]


def main(pages, reader=Reader):
    for name in pages:
        path = pathlib.Path(name)
        different, text = follow(path.read_text(), write=True, reader=reader)
        path.write_text(text)
        print(f"{name}: {len(different)} outputs written")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    main(sys.argv[2:])
