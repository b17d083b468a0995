"""What three shells complete, the manual page, and what `make install` puts where."""
import os, pathlib, re, shutil, subprocess, tempfile, unittest
from daemon import *

CTL = BUILD / "sluicectl"


def run(*words, **options):
    done = subprocess.run(words, text=True, capture_output=True, timeout=60, **options)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def commands():
    """Of the global help: the names, of one word or two."""
    listed = run(CTL, "--help").split("Options of every command:")[0].split("\n\n", 1)[1]
    return re.findall(r"(?m)^  (\S+(?: \S+)?)  +\S", listed)


def options(command):
    """Long options in the help of a command, those of every command among them."""
    return re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", run(CTL, *command.split(), "--help"))


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        for words in (("create", "rf", "spot"), ("create", "cq", "research"), ("create", "cq", "retired"), ("create", "lq", "main", "-c", "research")):
            cls.daemon.sluicectl(*words)
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-completion-"))
        run("make", "-s", "-C", ROOT, "install", f"BUILD={BUILD}", f"DESTDIR={cls.home}", "PREFIX=/usr")
        cls.share = cls.home / "usr/share"
        cls.env = {**os.environ, "SLUICE_SERVER": cls.daemon.url, "PATH": f"{cls.home}/usr/bin:{os.environ['PATH']}", "HOME": str(cls.home)}

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        shutil.rmtree(cls.home)

    def bash(self, *words):
        """The last word is what is completed; "=" is a word of its own, as bash has it."""
        quoted = " ".join(f"'{w}'" for w in words)
        script = f"""source {self.share}/bash-completion/completions/sluicectl
            COMP_WORDS=({quoted}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _sluicectl; printf '%s\\n' "${{COMPREPLY[@]}}" """
        return run("bash", "-c", script, env=self.env).split()

    def zsh(self, *words):
        quoted = " ".join(f"'{w}'" for w in words)
        script = f"""_describe() {{ print -rl -- $found }}; _files() {{ print FILES }}
            words=({quoted}); CURRENT=$#words; source {self.share}/zsh/site-functions/_sluicectl; _sluicectl"""
        return [line.split(":")[0] for line in run("zsh", "-fc", script, env=self.env).split("\n") if line]

    def fish(self, *words):
        line = " ".join(words)
        script = f"source {self.share}/fish/vendor_completions.d/sluicectl.fish; complete -C '{line}'"
        return [line.split("\t")[0] for line in run("fish", "--no-config", "-c", script, env=self.env).splitlines()]

    def each(self):
        return (self.bash, self.zsh, self.fish)

    def test_every_command_is_completed_in_every_shell(self):
        firsts = {name.split()[0] for name in commands()}
        self.assertGreater(len(firsts), 15)
        for shell in self.each():
            self.assertEqual(set(shell("sluicectl", "")), firsts, shell)
        for name in commands():
            first, *second = name.split()
            if second:
                self.assertIn(second[0], self.bash("sluicectl", first, ""), name)

    def test_every_option_is_completed(self):
        for name in commands():
            wanted = set(options(name))
            self.assertIn("--server", wanted, name)
            self.assertEqual(set(self.bash("sluicectl", *name.split(), "--")), wanted, name)
        for shell in (self.zsh, self.fish):
            self.assertEqual(set(shell("sluicectl", "create", "cq", "--")), set(options("create clusterqueue")), shell)

    def test_names_come_from_the_server(self):
        for shell in self.each():
            self.assertEqual(shell("sluicectl", "stop", "cq", "re"), ["research", "retired"], shell)
        self.assertEqual(self.bash("kubectl-sluice", "drain", "res"), ["research"])
        self.assertEqual(self.bash("sluicectl", "get", "lq", "-n", "nosuch", ""), [])
        self.assertEqual(self.bash("sluicectl", "get", "lq", ""), ["main"])
        self.assertEqual(self.bash("sluicectl", "submit", "--queue", ""), ["main"])
        self.assertEqual(self.bash("sluicectl", "submit", "--queue", "=", "m"), ["main"])
        self.assertEqual(self.bash("sluicectl", "list", "wl", "-c", "ret"), ["retired"])
        self.assertEqual(self.bash("sluicectl", "history", "-q", "ret"), ["retired"])
        self.assertEqual(self.bash("sluicectl", "topology", ""), ["spot"])
        self.assertEqual(self.bash("sluicectl", "node", ""), ["list", "fail", "recover"])
        self.assertEqual(self.bash("sluicectl", "node", "fail", ""), [])
        self.assertEqual(self.bash("sluicectl", "-s", "http://127.0.0.1:1", "stop", "cq", ""), [])

    def test_words_come_from_the_tables(self):
        self.assertEqual(self.bash("sluicectl", "stop", ""), ["clusterqueue", "localqueue", "workload"])
        self.assertIn("resourceflavor", self.bash("sluicectl", "get", ""))
        self.assertEqual(self.bash("sluicectl", "get", "cq", "-o", ""), ["table", "wide", "json", "yaml", "name"])
        self.assertEqual(self.bash("sluicectl", "create", "cq", "--dry-run", "=", ""), ["none", "client", "server"])
        self.assertEqual(self.bash("sluicectl", "list", "wl", "--status", "p"), ["pending"])
        self.assertEqual(self.bash("sluicectl", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.bash("sluicectl", "usage", "--by", ""), ["queue", "namespace", "workload", "flavor"])
        self.assertEqual(self.bash("sluicectl", "usage", "-o", "c"), ["csv"])
        self.assertIn("submit", self.bash("sluicectl", "help", "s"))
        self.assertEqual(self.bash("sluicectl", "get", "nosuch", ""), [])
        self.assertEqual(self.bash("sluicectl", "nosuch", ""), [])
        self.assertIn("FILES", self.zsh("sluicectl", "apply", "-f", ""))
        (self.home / "jobs.yaml").write_text("")
        self.assertEqual(self.bash("sluicectl", "apply", "-f", f"{self.home}/job"), [f"{self.home}/jobs.yaml"])
        self.assertIn(f"{self.home}/jobs.yaml", self.fish("sluicectl", "apply", "-f", f"{self.home}/job"))

    def test_the_manual_has_every_command_and_option(self):
        page = (self.share / "man/man1/sluicectl.1").read_text()
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-c", "-rLL=160n"], input=page, text=True, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = re.sub(r".\x08", "", done.stdout)
        for name in commands():
            section = re.search(rf"(?ms)^   {name}\n(.*?)(?=^   \S|^\S)", shown).group(1)
            self.assertIn(f"sluicectl {name}", section)
            own = run(CTL, *name.split(), "--help").split("Options of every command:")[0]
            for option in re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", own):
                self.assertIn(option, section, name)
        for option in options("version"):
            self.assertIn(option, shown)

    def test_what_is_installed_works(self):
        bin = self.home / "usr/bin"
        self.assertEqual(sorted(p.name for p in bin.iterdir()), ["kubectl-sluice", "sluicectl", "sluiced"])
        self.assertRegex(run(bin / "kubectl-sluice", "--version"), r"^sluicectl \d")

    def test_what_they_do_not_take_is_refused(self):
        for words in (("completion",), ("completion", "csh"), ("completion", "bash", "zsh"), ("man", "get")):
            done = subprocess.run([CTL, *words], text=True, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2, words)
        broken = {**self.env, "KUBECONFIG": str(self.home / "usr"), "SLUICE_SERVER": ""}
        self.assertIn("compdef", run(CTL, "completion", "zsh", env=broken))  # no server is asked


if __name__ == "__main__":
    unittest.main()
