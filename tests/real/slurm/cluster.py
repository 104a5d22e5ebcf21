#!/usr/bin/env python3
"""A real Slurm on loopback, in a temporary folder, from Debian's packages.

    apt-get install slurm-wlm slurmdbd slurm-client munge mariadb-server
    python3 cluster.py              # starts it, prints what to export, waits for Enter or Ctrl-C
    python3 cluster.py -- COMMAND   # runs COMMAND in it, then stops it

    with cluster.Cluster() as slurm:
        slurm.run("sinfo")

munged, mariadbd, slurmdbd, slurmctld and two slurmd run on ports and sockets of their own; nothing
of a Slurm, MUNGE or MariaDB that the machine runs already is read, written or stopped. Needs root,
since Slurm runs jobs as their users.

    node n1: 4 GPUs of the type a100, 16 shards     node n2: 2 GPUs of the type h100, 2 MIG instances
    accounts proj-llm (users games, news) and proj-vision (user news); cluster "lab"

The GPUs are plain files. Everything is stopped at the end. A guard, a process of its own, waits for
the end of its standard input, which comes also when this process is killed with SIGKILL; it then
kills what is left of the daemons, steps and jobs (told by this cluster's SLURM_CONF in their
environment), and removes the folder.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIP = 77  # what ctest takes for "skipped"
PROGRAMS = ["munged", "mariadbd", "mariadb-install-db", "mariadb", "slurmdbd", "slurmctld", "slurmd",
            "sacct", "sacctmgr", "scontrol", "sbatch", "scancel", "sinfo"]
USERS = ["games", "news"]  # of every Debian; jobs run as them
ACCOUNTS = {"proj-llm": ["games", "news"], "proj-vision": ["news"]}
START_SECONDS_MAX = 60


def why_not():
    """Why a cluster can't be started here; None when it can."""
    if os.geteuid() != 0:
        return "not root: Slurm runs jobs as their users"
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return (f"not installed: {' '.join(missing)}; "
                "apt-get install slurm-wlm slurmdbd slurm-client munge mariadb-server")
    return None


def free_ports(count):
    """Ports of loopback on which nobody listens now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def processes_of(folder):
    """The processes, zombies left out, that have SLURM_CONF=FOLDER/slurm.conf."""
    mark = f"SLURM_CONF={folder}/slurm.conf".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def guard(folder):
    """Waits for the end of standard input, then leaves nothing of the cluster."""
    sys.stdin.read()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        left = processes_of(folder)
        if not left:
            break
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """Started by `with`; stopped at its end, whatever happens in it."""

    def __init__(self, name="lab", extra_conf="", slurmdbd_conf="", folder=None):
        self.name = name
        self.extra_conf = extra_conf
        self.slurmdbd_conf = slurmdbd_conf
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-slurm-", dir=folder))
        self.folder.chmod(0o755)
        self.daemons = {}
        self.guard = None
        self.env = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), LC_ALL="C")
        for key in list(self.env):
            if key.startswith(("SLURM_", "SACCT_", "SBATCH_")) and key != "SLURM_CONF":
                del self.env[key]

    def __enter__(self):
        plain = {key: value for key, value in self.env.items() if key != "SLURM_CONF"}
        self.guard = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--guard", str(self.folder)], env=plain,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
        # A signal ends the `with` block in order, like an exception.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda got, _: sys.exit(128 + got))
        try:
            self.start()
        except BaseException:
            self.tell_logs()
            self.stop()
            raise
        return self

    def __exit__(self, kind, value, traceback):
        if kind is not None and kind is not SystemExit:
            self.tell_logs()
        self.stop()

    # What users do with it.

    def run(self, *command, user=None, timeout=60, check=True):
        """Runs a program in the cluster's environment, as `user`; its standard output."""
        done = subprocess.run([str(word) for word in command], env=self.env, user=user, cwd="/",
                              group=None, capture_output=True, text=True, timeout=timeout,
                              check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}: "
                               f"{done.stderr.strip()}")
        return done.stdout

    def submit(self, user, account, script, *options):
        """sbatch as `user`; the job's id."""
        out = self.run("sbatch", "--parsable", "--output=/dev/null", f"--account={account}",
                       "--chdir=/tmp", *options, f"--wrap={script}", user=user)
        return int(out.split(";")[0])

    # How it is made.

    def start(self):
        (munge, sql, dbd, ctld, *slurmd) = (None, *free_ports(5))
        del munge
        self.write_munge()
        self.start_database(sql)
        self.write_conf(sql, dbd, ctld, slurmd)
        self.spawn("slurmdbd", "slurmdbd", "-D")
        self.until("slurmdbd answers", lambda: self.answers(dbd))
        self.until("the cluster is known",
                   lambda: self.ok("sacctmgr", "-i", "add", "cluster", self.name))
        for account, users in ACCOUNTS.items():
            self.run("sacctmgr", "-i", "add", "account", account, f"cluster={self.name}")
            for user in users:
                self.run("sacctmgr", "-i", "add", "user", user, f"account={account}",
                         f"cluster={self.name}")
        self.spawn("slurmctld", "slurmctld", "-D", "-i")
        self.until("slurmctld answers", lambda: self.ok("scontrol", "ping")
                   and "is UP" in self.run("scontrol", "ping"))
        for node in ("n1", "n2"):
            self.spawn(f"slurmd-{node}", "slurmd", "-D", "-N", node)
        self.until("both nodes are idle", lambda: self.run(
            "sinfo", "--noheader", "--Node", "--partition=gpu", "--format=%N %t").split()
            == ["n1", "idle", "n2", "idle"])

    def write_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.spawn("munged", "munged", "--foreground", "--force", f"--key-file={key}",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                   f"--seed-file={self.folder}/munge.seed", f"--log-file={self.folder}/munge.log")
        self.until("munged listens", lambda: (self.folder / "munge.socket").exists())

    def start_database(self, port):
        data = self.folder / "sql"
        data.mkdir()
        # A server that starts deletes the temporary tables it finds, those of another one as well.
        temporary = self.folder / "sql-tmp"
        temporary.mkdir()
        temporary.chmod(0o777)
        made = subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=mysql",
             f"--tmpdir={temporary}", "--auth-root-authentication-method=normal", "--skip-test-db"],
            capture_output=True, text=True, env=self.env, check=False)
        if made.returncode != 0:
            raise RuntimeError("mariadb-install-db: " + made.stdout + made.stderr)
        self.spawn("mariadbd", "mariadbd", "--no-defaults", f"--datadir={data}", "--user=mysql",
                   f"--tmpdir={temporary}", f"--socket={data}/sock", f"--pid-file={data}/pid",
                   "--bind-address=127.0.0.1",
                   f"--port={port}", "--innodb-flush-log-at-trx-commit=0",
                   "--innodb-buffer-pool-size=64M", "--performance-schema=0")
        client = ["mariadb", "--no-defaults", f"--socket={data}/sock", "--user=root"]
        self.until("mariadbd answers", lambda: self.ok(*client, "--execute=select 1"))
        self.run(*client, "--execute=create database slurm_acct_db; "
                          "create user slurm@'127.0.0.1' identified by 'slurm'; "
                          "create user slurm@localhost identified by 'slurm'; "
                          "grant all on slurm_acct_db.* to slurm@'127.0.0.1'; "
                          "grant all on slurm_acct_db.* to slurm@localhost")

    def write_conf(self, sql, dbd, ctld, slurmd):
        here, host = self.folder, socket.gethostname().split(".")[0]
        for name in ("state", "spool-n1", "spool-n2", "nv"):
            (here / name).mkdir()
        for i in range(8):
            (here / "nv" / f"nv{i}").write_text("")
        # cred_expire: a requeued job waits until its old credential is void, two minutes otherwise.
        (here / "slurm.conf").write_text(f"""
ClusterName={self.name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={here}/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool-%n
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd-%n.pid
SlurmctldLogFile={here}/slurmctld.log
SlurmdLogFile={here}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,sched_interval=2,bf_interval=1,batch_sched_delay=0
MinJobAge=300
KillWait=1
InactiveLimit=0
Waittime=0
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
PropagateResourceLimits=NONE
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={here}/munge.socket
AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/gpu:h100,gres/gpu:a100_3g.20gb,gres/shard
AccountingStorageEnforce=associations
AccountingStoreFlags=job_comment
GresTypes=gpu,shard
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={slurmd[0]} CPUs=16 RealMemory=4000 \
Gres=gpu:a100:4,shard:16 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={slurmd[1]} CPUs=16 RealMemory=4000 \
Gres=gpu:h100:2,gpu:a100_3g.20gb:2 State=UNKNOWN
PartitionName=gpu Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
SlurmdParameters=config_overrides
{self.extra_conf}
""", encoding="ascii")
        (here / "gres.conf").write_text(f"""
NodeName=n1 Name=gpu Type=a100 File={here}/nv/nv[0-3]
NodeName=n1 Name=shard Count=16
NodeName=n2 Name=gpu Type=h100 File={here}/nv/nv[4-5]
NodeName=n2 Name=gpu Type=a100_3g.20gb File={here}/nv/nv[6-7]
""", encoding="ascii")
        conf = here / "slurmdbd.conf"
        conf.write_text(f"""
AuthType=auth/munge
AuthInfo=socket={here}/munge.socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser=root
LogFile={here}/slurmdbd.log
PidFile={here}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
{self.slurmdbd_conf}
""", encoding="ascii")
        conf.chmod(0o600)

    def spawn(self, name, *command):
        log = open(self.folder / f"{name}.out", "wb")

        self.daemons[name] = subprocess.Popen(
            command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, cwd=self.folder)
        log.close()

    def end_daemon(self, name):
        """Stops one of the daemons; spawn() starts it again."""
        daemon = self.daemons.pop(name)
        daemon.terminate()
        daemon.wait(timeout=20)

    def answers(self, port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    def ok(self, *command):
        return subprocess.run(command, env=self.env, capture_output=True, timeout=30,
                              check=False).returncode == 0

    def until(self, what, holds, seconds=START_SECONDS_MAX, every=0.05):
        """Waits until `holds()`; an error with the daemons' state when it does not come."""
        end = time.monotonic() + seconds
        while not holds():
            for name, daemon in self.daemons.items():
                if daemon.poll() is not None:
                    raise RuntimeError(f"{name} ended with {daemon.returncode}, "
                                       f"while waiting until {what}")
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: not within {seconds} s")
            time.sleep(every)

    def tell_logs(self):
        for log in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")):
            text = log.read_text(encoding="utf-8", errors="replace").strip()
            if text:
                lines = "\n    ".join(text.split("\n")[-15:])
                print(f"---- {log.name}\n    {lines}", file=sys.stderr)

    def stop(self):
        # slurmctld before the daemons that it would report as lost.
        for name in reversed(list(self.daemons)):
            self.daemons[name].terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(timeout=5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.guard.stdin.close()
        self.guard.wait(timeout=30)


def main():
    if sys.argv[1:2] == ["--guard"]:
        return guard(pathlib.Path(sys.argv[2]))
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        return SKIP
    with Cluster() as slurm:
        if sys.argv[1:2] == ["--"]:
            return subprocess.run(sys.argv[2:], env=slurm.env, check=False).returncode
        print(f"export SLURM_CONF={slurm.folder}/slurm.conf\n"
              "Enter ends it.", flush=True)
        sys.stdin.readline()
    return 0


if __name__ == "__main__":
    sys.exit(main())
