"""sluicectl replay: the journal of a daemon comes out the same; what was changed in it is told. No server is asked."""
import struct
from scene import *


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def records(data):
    """(offset, type, payload length) of each"""
    at = 32
    while at + 26 <= len(data):
        length, kind = struct.unpack_from("<I", data, at)[0], struct.unpack_from("<H", data, at + 24)[0]
        yield at, kind, length
        at += 26 + length


class Replay(Scene):
    def replay(self, *arguments):
        return self.daemon.sluicectl("replay", *arguments, check=False)

    def setUp(self):
        super().setUp()
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "2"}}), local_queue("main", "team"))
        self.create(job("first", cpu="2", run_for="600ms"), job("second", cpu="2", run_for="100ms"))
        self.workload("second", lambda w: holds(w, "Finished"), "end")
        self.daemon.stop()
        self.daemon.start()
        self.create(job("third"))
        self.finished("third")
        self.daemon.stop()
        found = sorted(self.daemon.data.rglob("journal-*.log"))
        self.assertEqual(len(found), 1, found)
        self.journal = found[0]

    def test_daemon_with_a_restart_comes_out_the_same(self):
        done = self.replay(str(self.journal.parent))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^20\S+Z #\d+ c\d+ Reserve +default/job-first-\S+ team f:cpu=2\S* QuotaReserved$")
        self.assertRegex(done.stdout, r"(?m) Pending +default/job-second-\S+ team - \S+$")
        self.assertRegex(done.stdout.splitlines()[-1], r"^the same: \d+ records, 2 starts \(0 with an image\), ")
        self.assertEqual(self.replay(str(self.journal)).stdout, done.stdout)

    def test_one_workload_and_why_and_stop(self):
        story = self.replay(str(self.journal)).stdout.splitlines()
        line = next(l for l in story if " Pending " in l and "job-second" in l)
        number, name = line.split()[1], line.split()[4]
        done = self.replay(str(self.journal), "--workload", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"why: default/job-second-\S+ .*flavor f, cpu: more needed: 2")
        self.assertNotIn("job-first", "".join(l for l in done.stdout.splitlines() if not l.startswith("    ")))
        done = self.replay(str(self.journal), "--until", number)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(line, done.stdout)
        self.assertIn("    now: " + name + " is pending", done.stdout)
        self.assertIn("stopped behind record " + number[1:], done.stdout)
        self.assertIn("stopped behind cycle 1 of start 1:", self.replay(str(self.journal), "--until", "c1").stdout)
        second = self.replay(str(self.journal), "--until", "2.c1").stdout
        self.assertIn("stopped behind cycle 1 of start 2:", second)
        self.assertIn("job-first", second)
        for bad in ("2.c", ".c1", "0.c1", "2.d1", "2.c1x"):
            self.assertEqual(self.replay(str(self.journal), "--until", bad).returncode, 2, bad)
        done = self.replay(str(self.journal), "--until", "c999999", "--workload", "default/nosuch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the journal ends before c999999", done.stderr)
        self.assertIn("nothing was decided about default/nosuch", done.stderr)

    def change(self, edit):
        data = bytearray(self.journal.read_bytes())
        edit(data)
        other = self.daemon.home / "changed.log"
        other.write_bytes(data)
        return self.replay(str(other))

    def test_changed_byte_of_a_decision_is_told(self):
        where = []

        def edit(data, mend):
            at, _, length = [r for r in records(data) if r[1] == 5][1]
            where.append((struct.unpack_from("<Q", data, at + 8)[0], at))
            data[at + 26 + length - 1] ^= 1
            if mend:
                struct.pack_into("<I", data, at + 4, crc32c(data[at + 8:at + 26 + length]))

        done = self.change(lambda data: edit(data, True))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"replay: record {where[0][0]}, decision ", done.stderr)
        self.assertIn("recorded: ", done.stderr)
        done = self.change(lambda data: edit(data, False))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"damaged at offset {where[1][1]}", done.stdout)
        self.assertIn("damaged", done.stderr)

    def test_unknown_version_is_told(self):
        def edit(data):
            data[8] = 99
        done = self.change(edit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has journal version 99, this program reads versions up to", done.stderr)

    def test_torn_end_is_told(self):
        def edit(data):
            del data[-5:]
        done = self.change(edit)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"its end is torn at offset \d+")

    def test_wrong_usage_is_told(self):
        for words, text in ((["replay"], "replay takes one file or directory"),
                            (["replay", "x", "--until", "soon"], '"soon" is neither a record (N) nor a cycle (cN, S.cN)'),
                            (["replay", "x", "--workload", "job"], '"job" is not NAMESPACE/NAME')):
            done = self.daemon.sluicectl(*words, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)
        done = self.replay("/nonexistent")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read /nonexistent", done.stderr)


class Rotated(Scene):
    """A daemon whose journal has lost its start: the oldest of its files is gone."""
    options = ("--journal-file", "64Ki")

    def files(self):
        return sorted(self.daemon.data.rglob("journal-*.log"), key=lambda f: int(f.stem.split("-")[1]))

    def replay(self, *arguments):
        return self.daemon.sluicectl("replay", *arguments, check=False)

    def setUp(self):
        super().setUp()
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "3"}}), local_queue("main", "team"))
        made = 0
        while self.files()[0].name == "journal-1.log":
            self.assertLess(made, 2000, "the journal is not rotated")
            for _ in range(20):
                made += 1
                status, answer = self.daemon.request("POST", JOBS, job(f"job-{made}", cpu="1", run_for="10ms"))
                self.assertEqual(status, 201, answer)
            self.finished(f"job-{made}")
        self.last = f"default/job-job-{made}-"

    def test_journal_without_its_start_comes_out_the_same(self):
        self.daemon.stop()
        files = self.files()
        self.assertEqual(len(files), 4)
        log = self.daemon.log_path.read_text()
        self.assertRegex(log, r"image of the core in the journal .*bytes=\d+")
        done = self.replay(str(files[0].parent))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], files[0].name + r": from an image of the core at record \d+ on$")
        self.assertRegex(lines[-1], r"^the same: \d+ records, 1 starts \(1 with an image\), ")
        self.assertTrue(any(" Reserve " in l and self.last in l for l in lines))
        self.assertFalse([l for l in lines if " ? " in l], "everybody has a name")
        story = []
        for file in files:
            alone = self.replay(str(file))
            self.assertEqual(alone.returncode, 0, alone.stderr)
            story += alone.stdout.splitlines()[1:-1]
        self.assertEqual(story, lines[1:-1])

    def test_journal_goes_on_after_a_restart(self):
        self.daemon.stop()
        self.daemon.start()
        self.create(job("later"))
        self.finished("later")
        self.daemon.stop()
        done = self.replay(str(self.files()[0].parent))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1], r"^the same: \d+ records, 2 starts \(1 with an image\), ")
        self.assertIn("default/job-later-", done.stdout)

    def test_changed_image_is_told(self):
        self.daemon.stop()
        file = self.files()[0]
        data = bytearray(file.read_bytes())
        data[32 + 26 + 100] ^= 1
        file.write_bytes(data)
        alone = self.replay(str(file))
        self.assertEqual(alone.returncode, 1)
        self.assertIn("damaged at offset 32", alone.stdout)
        done = self.replay(str(file.parent))
        self.assertEqual(done.returncode, 1)
        self.assertIn("damaged at offset 32", done.stderr)
        self.assertIn(f"{self.files()[1].name}: from an image of the core", done.stdout)
