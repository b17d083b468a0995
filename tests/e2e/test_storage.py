"""The data directory of the daemon when the disk was not kind to it: a journal that nobody can read, a database that is not
what was written, at the start and while it runs, and a backup that was put back."""
import http.client, os, shutil, sqlite3, subprocess, threading, unittest
from daemon import *

JOBS = "/apis/batch/v1/namespaces/default/jobs"


class Storage(unittest.TestCase):
    def setUp(self):
        self.d = Daemon()
        self.addCleanup(self.d.close)

    def make(self, *names):
        for name in names:
            code, body = self.d.request("POST", JOBS, job(name, queue="nowhere", cpu="1"))
            self.assertEqual(code, 201, body)

    def names(self):
        return {j["metadata"]["name"] for j in self.d.get(JOBS)["items"]}

    def ends_with(self, code, *words):
        """It ends by itself, and its last line says these."""
        self.assertEqual(self.d.process.wait(30), code, self.d.log_text()[-2000:])
        last = self.d.log_text().strip().splitlines()[-1]
        for word in words:
            self.assertIn(word, last)

    def test_a_journal_that_cannot_be_gone_on_with_is_no_reason_not_to_start(self):
        self.d.start()
        self.make("a")
        self.assertEqual(self.d.stop(), 0)
        journal = self.d.data / "journal-1.log"
        good = journal.read_bytes()
        def garbage():
            journal.write_bytes(os.urandom(5000))
        def flipped():
            journal.write_bytes(bytes(b ^ (i % 997 == 0) for i, b in enumerate(good)))
        def directory():
            journal.unlink()
            journal.mkdir()
        def loop():
            journal.unlink()
            journal.symlink_to(journal)
        for damage in (garbage, flipped, directory, loop):
            with self.subTest(damage.__name__):
                for old in self.d.data.glob("journal-*"):
                    old.rmdir() if old.is_dir() and not old.is_symlink() else old.unlink()
                journal.write_bytes(good)
                damage()
                self.d.start()
                self.assertEqual(self.names(), {"a"})
                self.assertEqual(self.d.stop(), 0)
                self.assertIn("a file of the journal is set aside", self.d.log_text())
                replay = subprocess.run([BUILD / "sluicectl", "replay", self.d.data], capture_output=True, text=True)
                self.assertIn("the same: ", replay.stdout, replay.stderr)

    def change_body(self):
        """Of the job `a`, where it stands in the database's file."""
        path = self.d.data / "sluice.db"
        data = path.read_bytes()
        self.assertIn(b'"name":"marked-job"', data)
        with open(path, "r+b") as f:
            f.seek(data.index(b'"name":"marked-job"') + 8)
            f.write(b"M")

    def test_a_database_that_is_not_what_was_written_is_not_served(self):
        self.d.start()
        self.make("marked-job")
        self.assertEqual(self.d.stop(), 0)
        self.change_body()
        self.d.start(wait=False)
        self.ends_with(3, str(self.d.data / "sluice.db"), "is damaged", "marked-job", "restore a backup")

    def test_a_database_that_changes_while_it_runs_ends_the_daemon(self):
        self.d.start()
        self.make("marked-job")
        self.assertEqual(self.d.stop(), 0)
        self.d.start()
        with sqlite3.connect(self.d.data / "sluice.db") as db:  # another program would not write
            db.create_function("sluice_xor", -1, lambda first, *_: first)
            db.execute("UPDATE objects SET body = replace(body, 'marked-job', 'Marked-job')")
        code, body = self.d.request("GET", JOBS)
        self.assertEqual(code, 500, body)
        self.ends_with(3, "is damaged", "marked-job", "restore a backup")

    def test_a_backup_that_was_put_back_repeats_no_revision(self):
        self.d.start()
        self.make("a", "b")
        backup = self.d.home / "backup"
        source, target = sqlite3.connect(self.d.data / "sluice.db"), sqlite3.connect(backup)
        source.backup(target)
        source.close()
        target.close()
        self.make("c", "d")
        told = self.d.get(JOBS)["metadata"]["resourceVersion"]
        self.assertEqual(self.d.stop(), 0)
        for place in (self.d.data, self.d.home / "elsewhere"):
            with self.subTest(place.name):
                place.mkdir(exist_ok=True)
                shutil.copy(backup, place / "sluice.db")
                self.d.data = place
                self.d.start()
                self.assertEqual(self.names(), {"a", "b"})
                self.assertGreater(int(self.d.get(JOBS)["metadata"]["resourceVersion"]), int(told))
                code, body = self.d.request("GET", f"{JOBS}?watch=1&resourceVersion={told}&timeoutSeconds=1")
                self.assertIn("Expired", json.dumps(body))
                self.assertEqual(self.d.stop(), 0)

    def ctl(self, *arguments):
        return subprocess.run([BUILD / "sluicectl", *arguments], capture_output=True, text=True, timeout=60)

    def test_a_backup_while_jobs_are_written_and_its_way_back(self):
        self.d.start()
        written, stop = [], threading.Event()

        def write():
            while not stop.is_set():
                self.make(f"j{len(written)}")
                written.append(f"j{len(written)}")
        writer = threading.Thread(target=write)
        writer.start()
        backup = str(self.d.home / "backup.db")
        try:
            eventually(lambda: len(written) > 20, what="some jobs")
            known = set(written)
            done = self.ctl("backup", "--data", self.d.data, backup)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, f"{backup} has what {self.d.data} holds\n")
        finally:
            stop.set()
            writer.join()
        running = self.ctl("restore", "--data", self.d.data, backup)
        self.assertEqual(running.returncode, 1)
        self.assertIn("is in use by another process", running.stderr)
        self.assertEqual(self.names(), set(written))
        told = self.d.get(JOBS)["metadata"]["resourceVersion"]
        self.d.kill()  # with a log that is not to be read into what comes back
        done = self.ctl("restore", "--data", self.d.data, backup)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"what it held before is {self.d.data}/sluice.db.replaced", done.stdout)
        self.d.start()
        self.assertLessEqual(known, self.names())
        self.assertLessEqual(self.names(), set(written) | {f"j{len(written)}"})
        self.assertGreater(int(self.d.get(JOBS)["metadata"]["resourceVersion"]), int(told))
        self.make("goes-on")
        self.assertEqual(self.d.stop(), 0)

    def test_backup_and_restore_say_what_is_wrong(self):
        for arguments, code, words in ((("backup",), 2, "backup takes one FILE"), (("restore", "a", "b"), 2, "restore takes one FILE"),
                                       (("backup", "--data", "/nonexistent", "x"), 1, "/nonexistent/sluice.db: No such file"),
                                       (("restore", "--data", self.d.data, "/nonexistent"), 1, "/nonexistent: No such file")):
            done = self.ctl(*arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(words, done.stderr)

    def test_what_is_stored_is_for_its_owner_alone(self):
        self.d.data.mkdir()
        os.chmod(self.d.data, 0o777)
        self.d.start()
        self.make("a")
        modes = {f.name: oct(f.stat().st_mode & 0o777) for f in self.d.data.iterdir()}
        self.assertEqual({mode for mode in modes.values()}, {"0o600"}, modes)
        self.assertEqual(self.d.stop(), 0)
        self.assertIn(f"chmod 0700 {self.d.data}", self.d.log_text())


if __name__ == "__main__":
    unittest.main()
