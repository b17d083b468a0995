# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Slurm on this machine alone, for a comparison: its controller, its daemon of the one node and munge, in a directory of their own, on
loopback, as root. Debian's packages slurmctld, slurmd, slurm-client and munge."""
import os, pathlib, shutil, socket, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cluster"), str(HERE.parent / "e2e")]
from controlplane import die_with_parent, free_port
from daemon import eventually

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "munged")
# Nothing is held back that could go on: the scheduler is asked with every job and with every end.
CONFIG = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge/socket
CryptoType=crypto/munge
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=1,bf_interval=1
MaxJobCount=100000
MinJobAge=600
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=p Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def lacks():
    """What is not there; None: all is."""
    missing = [p for p in PROGRAMS if not shutil.which(p, path=f"{os.environ['PATH']}:/usr/sbin")]
    return f"{', '.join(missing)} not installed" if missing else None if os.geteuid() == 0 else "it wants root here"


class Slurm:
    """A node of `cpus` processors, whatever the machine has: so many jobs run at once."""

    def __init__(self, cpus):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-slurm-"))
        for name in ("munge", "state", "spool"):
            (self.home / name).mkdir(mode=0o755)
        self.home.chmod(0o755)
        host = socket.gethostname().split(".")[0]
        (self.home / "slurm.conf").write_text(CONFIG.format(home=self.home, host=host, cpus=cpus, ports=(free_port(), free_port())))
        (self.home / "munge/key").write_bytes(os.urandom(1024))
        (self.home / "munge/key").chmod(0o600)
        self.env = {**os.environ, "SLURM_CONF": str(self.home / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
        self.programs = []
        munge = self.home / "munge"
        self.spawn("munged", "-F", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                   f"--seed-file={munge}/seed", f"--log-file={munge}/log")
        eventually((munge / "socket").exists, what="munge")
        self.spawn("slurmctld", "-D")
        self.spawn("slurmd", "-D", "-N", host, "-b")
        eventually(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False), 30, what=self.logs)

    def spawn(self, *command):
        with open(self.home / f"{command[0]}.out", "wb") as out:
            self.programs.append(subprocess.Popen(command, env=self.env, stdout=out, stderr=out, preexec_fn=die_with_parent))

    def run(self, *command, check=True):
        return subprocess.run(command, env=self.env, check=check, capture_output=True, text=True).stdout

    def logs(self):
        return "\n".join(f"{p.name}:\n{p.read_text(errors='replace')[-1500:]}" for p in sorted(self.home.glob("*.[lo]*")))

    def submit(self, *arguments):
        self.run("sbatch", "--chdir", "/", "--output", "/dev/null", *arguments, "--wrap", "true")

    def wait(self, seconds=600):
        end = time.monotonic() + seconds
        while self.run("squeue", "-h", "-r").strip():
            if time.monotonic() > end:
                raise SystemExit(f"Slurm's jobs did not end\n{self.logs()}")
            time.sleep(0.05)

    def close(self):
        for p in reversed(self.programs):
            p.terminate()
            p.wait()
        shutil.rmtree(self.home, ignore_errors=True)
