#!/usr/bin/env python3
"""Slurm's plugins (deploy/slurm) on a real slurmctld: jobs that are refused, changed, approved; a serve
that is down, hangs, lies, or is lied to.

usage: test_guard.py PENNYWEIGHT

Exits 77 where there is no Slurm, no lua-socket or no root.
"""
import json
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import cluster

BINARY = os.path.abspath(sys.argv[1])
PLUGINS = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "slurm"
PRICES = """provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_gib
own,,a,on_demand,2026-01-01,20,USD,A100-SXM4-40GB,4,16,4
own,,h,on_demand,2026-01-01,40,USD,H100-SXM5-80GB,4,16,4
own,,(cpu),on_demand,2026-01-01,0.04,USD,,,,
own,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,
"""
CONFIG = """store: {path: ledger.duckdb}
prices: {override: prices.csv}
serve: {listen: 127.0.0.1:0, trust_loopback: true}
guardrails:
  pricing: {provider: own, gpu_models: {a100: A100-SXM4-40GB, h100: H100-SXM5-80GB, default: A100-SXM4-40GB}}
  slurm: {socket: SOCKET}
  rules:
  - name: defaults
    effect: mutate
    when: {kind: Slurm job, label: {account: proj-vision}}
    set: {label: {qos: low, wckey: vision, team: vision, cost_center: "7"}, time_limit: 2h}
  - name: owner
    when: {kind: Slurm job, label_missing: [team]}
    reason: who pays must be known, 100% of it, %s and %d
    way_out: add --comment=team=NAME
  - name: no h100 for news
    when: {gpu_model: "H100*", label: {team: news}}
    reason: they are reserved
  - name: big
    effect: require_approval
    when: {gpus_above: 2}
  - name: dear run
    when: {label: {team: run}, per_run_above: 100 USD}
  - name: dear
    mode: warn
    when: {per_hour_above: 9 USD}
"""
failures = []
BEGUN = time.monotonic()


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)
    return condition


def say(text):
    print(f"[{time.monotonic() - BEGUN:5.1f} s] {text}", flush=True)


class GuardedCluster(cluster.Cluster):
    """A cluster whose slurmctld and commands have the plugins."""

    def __init__(self, folder, gate):
        super().__init__(folder=folder, slurmdbd_conf="TrackWCKey=yes",
                         extra_conf="JobSubmitPlugins=lua\nCliFilterPlugins=lua\nTrackWCKey=yes\n"
                         "PartitionName=short Nodes=n1,n2 MaxTime=120 DefaultTime=60 State=UP\n"
                         "PartitionName=long Nodes=n1,n2 MaxTime=10-0 State=UP")
        self.gate = gate
        self.set_plugins("open")

    def set_plugins(self, without_answer):
        for name in ("job_submit.lua", "cli_filter.lua", "pennyweight.lua"):
            text = (PLUGINS / name).read_text()
            if name == "pennyweight.lua":
                for old, new in (("/run/pennyweight/slurm.sock", str(self.gate)),
                                 ('M.without_answer = "open"', f'M.without_answer = "{without_answer}"')):
                    expect(old in text, f"pennyweight.lua has no {old}")
                    text = text.replace(old, new)
            # slurmctld reads job_submit.lua again when its time changes.
            (self.folder / name).write_text(text)

    def sbatch(self, *options, user="games", account="proj-llm", command="sbatch"):
        words = ["sbatch", "--parsable", "--output=/dev/null", f"--account={account}", "--chdir=/tmp", *options,
                 "--wrap=sleep 1"]
        if command != "sbatch":
            words = [command, f"--account={account}", "--chdir=/tmp", *options, "true"]
        return subprocess.run(words, user=user, group=pwd.getpwnam(user).pw_gid, extra_groups=[], env=self.env,
                              capture_output=True, text=True, timeout=60, check=False)

    def job(self, done):
        if not expect(done.returncode == 0, f"not admitted: {done.stderr}"):
            return {}
        number = done.stdout.strip().split(";")[0]
        shown = self.run("scontrol", "--oneliner", "show", "job", number)
        return dict(re.findall(r"(\S+?)=(\S*)", shown), id=number)


class Serve:
    def __init__(self, cwd):
        self.log = cwd / f"serve-{time.monotonic_ns()}.log"
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([BINARY, "--config", "pennyweight.yaml", "serve"], cwd=cwd, stderr=out,
                                            stdout=out)
        end = time.monotonic() + 60
        while '"serving"' not in self.log.read_text():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("serve does not start:\n" + self.log.read_text())
            time.sleep(0.05)

    def events(self, name):
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") == name]


def cli(cwd, *words, check=True, text=None):
    done = subprocess.run([BINARY, "--config", "pennyweight.yaml", *words], cwd=cwd, capture_output=True, text=True,
                          input=text, timeout=60, check=False)
    if check:
        expect(done.returncode == 0, f"{words}: {done.returncode} {done.stderr}")
    return done


def ask_here(gate, text):
    """A question as another program would send it; the answer."""
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(10)
        one.connect(str(gate))
        answer = b""
        try:
            one.sendall(text.encode())
            one.shutdown(socket.SHUT_WR)
            while part := one.recv(65536):
                answer += part
        except (BrokenPipeError, ConnectionResetError):
            pass  # it is not read to its end
        return answer.decode()


def ask(gate, text, user=None):
    """The same, as a user."""
    if user is None:
        return ask_here(gate, text)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        entry = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
        try:
            os.write(writer, ask_here(gate, text).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def check_refusals(slurm):
    done = slurm.sbatch("--gres=gpu:a100:1", "--time=10")
    expect(done.returncode != 0 and "rule 'owner'" in done.stderr and "the label 'team' is missing" in done.stderr
           and "100% of it, %s and %d" in done.stderr and "add --comment=team=NAME" in done.stderr, f"refused with the reason and the way out: {done.stderr}")
    done = slurm.sbatch("--gres=gpu:h100:1", "--time=10", "--comment=team=news")
    expect(done.returncode != 0 and "they are reserved" in done.stderr, f"by the model: {done.stderr}")
    done = slurm.sbatch("--ntasks=4", "--ntasks-per-gpu=1", "--time=10", "--comment=team=nlp")
    expect(done.returncode != 0 and "4 GPUs are more than 2" in done.stderr, f"GPUs of tasks: {done.stderr}")
    for command in ("srun", "salloc"):
        done = slurm.sbatch("--gres=gpu:a100:1", "--time=1", command=command)
        expect(done.returncode != 0 and "rule 'owner'" in done.stderr, f"{command}: {done.stderr}")
    done = slurm.sbatch("--gres=gpu:a100:1", "--time=1", "--comment=team=nlp", command="srun")
    expect(done.returncode == 0, f"srun: {done.stderr}")


def check_changes(slurm):
    job = slurm.job(slurm.sbatch("--gres=gpu:a100:1", account="proj-vision", user="news"))
    expect(job.get("TimeLimit") == "02:00:00" and job.get("QOS") == "low" and "vision" in job.get("WCKey", ""),
           f"time limit, QOS and WCKey: {job}")
    expect(job.get("Comment") == "cost_center=7;team=vision" or job.get("Comment") == "team=vision;cost_center=7",
           f"tags: {job.get('Comment')}")
    job = slurm.job(slurm.sbatch("--gres=gpu:a100:1", "--time=5", "--qos=normal", "--comment=team=own,run=4",
                                 account="proj-vision", user="news"))
    expect(job.get("TimeLimit") == "00:05:00" and job.get("QOS") == "normal", f"what is stated stays: {job}")
    expect(job.get("Comment") == "team=own,run=4,cost_center=7", f"its own separator: {job.get('Comment')}")
    long = "x" * 900  # Slurm takes 1,024 bytes
    job = slurm.job(slurm.sbatch("--gres=gpu:a100:1", f"--comment=run={long}", account="proj-vision", user="news"))
    expect(job.get("Comment", "").startswith(f"run={long};") and "team=vision" in job.get("Comment", ""),
           f"a long comment stays whole: {len(job.get('Comment', ''))}")
    # A line break and a backslash are of the comment, and make no line of the answer.
    forged = "run=\\n\nset.time_limit=999999\nallowed=yes"
    job = slurm.job(slurm.sbatch("--gres=gpu:a100:1", f"--comment={forged}", account="proj-vision", user="news"))
    shown = slurm.run("scontrol", "show", "job", job.get("id", "0"))
    expect(job.get("TimeLimit") == "02:00:00" and f"Comment={forged};" in shown, f"a forged line: {shown}")


def check_times(slurm):
    """A job without a time has the longest of its partitions; unlimited is not the default."""
    ask = ["--gres=gpu:a100:1", "--comment=team=run", "--hold"]
    for options, is_admitted in ((["--time=60"], True), (["--time=6-0"], False), (["--partition=short"], True),
                                 (["--partition=long"], False), (["--partition=short,long"], False),
                                 (["--partition=long,short"], False), (["--partition=gpu"], False),
                                 (["--partition=short,gpu"], False), ([], False), (["--time=UNLIMITED"], False),
                                 (["--partition=short", "--time=UNLIMITED"], False),
                                 (["--partition=short", "--time=0"], False)):
        done = slurm.sbatch(*ask, *options)
        refused = done.returncode != 0 and "rule 'dear run'" in done.stderr
        expect(refused != is_admitted and (done.returncode == 0) == is_admitted, f"{options}: {done.stderr}")
    # What is not set in 16 bits is a number in 64.
    for memory in ("65534", "65535"):
        done = slurm.sbatch("--gres=gpu:a100:1", "--time=10", "--comment=team=nlp", f"--mem={memory}")
        expect("sbatch: lua: pennyweight: rule 'dear': its cost is not known" in done.stderr
               and "sbatch: error: pennyweight: rule 'dear': its cost is not known" in done.stderr,
               f"no machine has --mem={memory}: {done.stderr}")
    done = slurm.sbatch("--gres=gpu:h100:1", "--partition=gpu", "--time=10", "--comment=team=news")
    expect("cli_filter plugin terminated" in done.stderr, f"refused early: {done.stderr}")


def check_costs(cwd, slurm):
    """What the plugin tells of a job is what `estimate` says of the same options."""
    ways = [["--gres=gpu:a100:2"], ["--gpus=a100:2"], ["--gpus-per-node=a100:1", "--nodes=2"], ["--gres=gpu:1"],
            ["--gpus-per-task=a100:1", "--ntasks=2"], ["--gres=gpu:h100:1", "--cpus-per-task=4"],
            ["--gpus=a100:1", "--cpus-per-gpu=2", "--mem-per-gpu=100"], ["--gres=gpu:a100:1", "--mem=500"],
            ["--gres=gpu:a100:1", "--array=0-3%2"], ["--gres=gpu:a100:1", "--mem-per-cpu=50", "--ntasks=2"],
            ["--ntasks=4", "--ntasks-per-gpu=2"], ["--gpus=a100:1", "--ntasks-per-gpu=4"],
            ["--gpus-per-socket=a100:1", "--sockets-per-node=1", "--ntasks=1"], ["--gres=gpu:a100:1", "--exclusive"]]
    for way in ways:
        options = [*way, "--time=30", "--comment=team=nlp"]
        done = slurm.sbatch(*options, "--hold")
        told = re.search(r"it costs ([0-9.,]+) USD an hour, at most ([0-9.,]+) USD a run", done.stderr)
        script = "#!/bin/sh\n" + "".join(f"#SBATCH {option}\n" for option in options)
        (cwd / "job.sbatch").write_text(script)
        priced = json.loads(cli(cwd, "estimate", "job.sbatch", "--format", "json").stdout)
        text = json.dumps(priced)
        if not expect(told, f"{way}: no cost is told: {done.stderr}"):
            continue
        amounts = [float(part.replace(",", "")) for part in told.groups()]
        figures = [round(float(part), 2) for part in re.findall(r'"(-?[0-9]+(?:\.[0-9]+)?)"', text)]
        expect(all(amount in figures for amount in amounts), f"{way}: told {amounts}, estimate says {text[:600]}")
        warned = "rule 'dear'" in done.stderr
        expect(warned == (amounts[0] > 9), f"{way}: warned {warned} at {amounts}: {done.stderr}")
        if done.returncode == 0:
            slurm.run("scancel", done.stdout.strip().split(";")[0])


def check_approval(cwd, slurm):
    options = ["--gres=gpu:a100:4", "--time=60"]
    done = slurm.sbatch(*options, "--comment=team=nlp")
    found = re.search(r"(ap-[0-9a-f]+) asks for it", done.stderr)
    if not expect(done.returncode != 0 and found, f"an approval is asked for: {done.stderr}"):
        return
    own = cli(cwd, "approvals", "show", found[1])
    expect("slurm:games" in own.stdout, f"by whom: {own.stdout}")
    token = re.search(r"ap-[0-9a-f]+\.[0-9a-f]{64}", cli(cwd, "approvals", "approve", found[1], "--note", "planned").stdout)
    if not expect(token, "approving prints the token"):
        return
    bigger = slurm.sbatch("--gres=gpu:a100:4", "--time=90", f"--comment=team=nlp;approval={token[0]}")
    expect(bigger.returncode != 0 and "does not hold" in bigger.stderr, f"another job: {bigger.stderr}")
    job = slurm.job(slurm.sbatch(*options, f"--comment=team=nlp;approval={token[0]}"))
    expect(job.get("Comment") == "team=nlp", f"the token is gone from the job: {job.get('Comment')}")
    slurm.until("the approved job runs", lambda: "JobState=RUNNING" in slurm.run("scontrol", "show", "job", job["id"])
                or "JobState=COMPLETED" in slurm.run("scontrol", "show", "job", job["id"]))
    again = slurm.sbatch(*options, f"--comment=team=nlp;approval={token[0]}")
    expect(again.returncode != 0 and "used" in again.stderr, f"once is once: {again.stderr}")


LIMITS = """store: {path: limits.duckdb}
guardrails:
  pricing: {gpu_models: {a100: A100-SXM4-40GB, h100: H100-SXM5-80GB}}
  limits:
  - {name: llm, gpus: {A100-SXM4-40GB: 4, H100-SXM5-80GB: 2}, slurm_account: proj-llm, slurm_qos: llm-gpu}
  - {name: fresh, gpus: {A100-SXM4-40GB: 1}, slurm_account: proj-fresh}
"""


def check_limits(cwd, slurm):
    """sacctmgr takes the export, twice is once, and what differs is found."""
    (cwd / "limits.yaml").write_text(LIMITS)

    def limits(*words, code=0):
        done = subprocess.run([BINARY, "--config", "limits.yaml", "guard", "limits", "--export", "slurm", *words],
                              cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == code, f"{words}: {done.returncode} {done.stdout} {done.stderr}")
        return done.stdout

    def real():
        text = slurm.run("sacctmgr", "--parsable2", "show", "assoc", "format=account,user,grptres,grptresmins")
        qos = slurm.run("sacctmgr", "--parsable2", "show", "qos", "format=name,grptres,grptresmins")
        may = slurm.run("sacctmgr", "--parsable2", "show", "assoc", "account=proj-llm", "format=account,user,qos")
        (cwd / "assoc.txt").write_text(text)
        (cwd / "qos.txt").write_text(qos)
        return text + qos + may

    files = ("--drift", "assoc.txt", "--drift", "qos.txt")
    real()
    limits(*files, code=1)
    (cwd / "limits.sh").write_text(limits())
    states = []
    for _ in range(2):
        done = subprocess.run(["sh", "limits.sh"], cwd=cwd, env=slurm.env, capture_output=True, text=True, timeout=60,
                              check=False)
        expect(done.returncode == 0, f"sacctmgr refuses: {done.stdout} {done.stderr}")
        states.append(real())
    expect(states[0] == states[1] and "gres/gpu=6" in states[0] and "proj-fresh" in states[0], f"{states}")
    expect(re.search(r"^llm-gpu\|.*gres/gpu:h100=2", states[0], re.MULTILINE), f"the QOS: {states[0]}")
    expect(re.search(r"^proj-llm\|\|.*llm-gpu", states[0], re.MULTILINE), f"the account may ask for it: {states[0]}")
    limits(*files)
    for kind, name in (("account", "proj-llm"), ("qos", "llm-gpu")):
        slurm.run("sacctmgr", "-i", "modify", kind, "where", f"name={name}", "set", "GrpTRES=gres/gpu=3")
        real()
        expect(name in limits(*files, code=1), f"a changed limit of {name} is found")
        subprocess.run(["sh", "limits.sh"], cwd=cwd, env=slurm.env, capture_output=True, timeout=60, check=True)
        real()
        limits(*files)


def check_attackers(slurm, serve):
    held = slurm.job(slurm.sbatch("--gres=gpu:a100:1", "--time=10", "--comment=team=nlp", "--hold"))

    def scontrol(*words):
        return subprocess.run(["scontrol", *words], user="games", extra_groups=[], env=slurm.env, text=True,
                              group=pwd.getpwnam("games").pw_gid, capture_output=True, check=False)

    # Each by its field in the log, since Slurm refuses some of them by itself.
    for change, field in (("NumNodes=2", "min_nodes"), ("Gres=gpu:a100:4", "tres_per_node"), ("Gres=", "tres_per_node"),
                          ("Comment=x", "comment"), ("Comment=", "comment"), ("MinCPUsNode=8", "pn_min_cpus"),
                          ("NumCPUs=8", "min_cpus"), ("NumTasks=65534", "num_tasks"), ("Partition=long", "partition"),
                          ("Features=a100", "features"), ("Features=", "features"), ("MinMemoryNode=0", "min_mem_per_node"),
                          ("MinMemoryCPU=65534", "min_mem_per_cpu"), ("OverSubscribe=no", "shared"),
                          ("OverSubscribe=yes", "shared"), ("JobName=other", "name"), ("Account=proj-vision", "account"),
                          ("WCKey=x", "wckey"), ("QOS=low", "qos"), ("CpusPerTres=gres:gpu:8", "cpus_per_tres"),
                          ("MemPerTres=gres:gpu:9", "mem_per_tres"), ("TresPerJob=gres:gpu:4", "tres_per_job"),
                          ("ReqSockets=2", "sockets_per_node")):
        log = (slurm.folder / "slurmctld.log").read_text()
        done = scontrol("update", f"JobId={held['id']}", change)
        log = (slurm.folder / "slurmctld.log").read_text()[len(log):]
        expect(done.returncode != 0 and f"as the guardrails judged it ({field})" in log,
               f"a queued job changes by {change}: {done.stderr} {log}")
    for words in (("update", f"JobId={held['id']}", "TimeLimit=5"), ("update", f"JobId={held['id']}", "Nice=10"),
                  ("update", f"JobId={held['id']}", "StartTime=now+1hour"), ("hold", held["id"]),
                  ("update", f"JobId={held['id']}", "Dependency=")):
        done = scontrol(*words)
        expect(done.returncode == 0, f"{words}: {done.stderr}")
    slurm.run("scontrol", "update", f"JobId={held['id']}", "Comment=root may")
    slurm.run("scancel", held["id"])
    question = "call=submit\nuser=root\noption.gres=gpu:a100:1\n\n"
    expect(ask(slurm.gate, question, "games").startswith("error="), "only slurmctld submits")
    advice = ask(slurm.gate, question.replace("submit", "advise"), "games")
    expect("decision=denied" in advice, f"everybody may ask: {advice}")
    hostile = ["\n", "\n\n", "call=advise\n", "x\n\n", "call=advise\nx=y\n\n", "call=rm\n\n", "call=advise\nuser=\\q\n\n",
               "call=advise\n" * 300 + "\n", "call=advise\noption.gres=" + "x" * 100_000 + "\n\n",
               "call=advise\noption.time=never\n\n", "call=advise\noption.gres=gpu:a100:99999999\n\n",
               "call=advise\noption.array=0-999999999\n\n", "call=advise\npartition_minutes=-1\n\n"]
    for text in hostile:
        answer = ask(slurm.gate, text)
        expect("allowed=yes" not in answer, f"{text[:60]!r}: {answer}")
    # Names with line breaks and separators change nothing of the question.
    done = slurm.sbatch("--gres=gpu:a100:1", "--time=10", "--job-name=a\nuser=root\noption.comment=team=x", )
    expect(done.returncode != 0 and "rule 'owner'" in done.stderr, f"a forged line: {done.stderr}")
    # Users who hold connections keep nobody out, and slurmctld least of all.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setuid(pwd.getpwnam("games").pw_uid)
        idle = [socket.socket(socket.AF_UNIX) for _ in range(300)]
        for one in idle:
            try:
                one.connect(str(slurm.gate))
            except OSError:
                pass
        os.write(writer, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(reader, 1)
    begun = time.monotonic()
    answers = [ask(slurm.gate, "call=submit\nuser=ana\n\n") for _ in range(20)]
    spent = time.monotonic() - begun
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    expect(all("decision=" in answer for answer in answers) and spent < 10,
           f"with 300 idle connections: {spent:.1f} s, {answers}")
    expect(serve.process.poll() is None, "serve lives")


class LyingGate:
    """Answers every question with the same text."""

    def __init__(self, path, answer):
        self.path, self.answer = path, answer.encode()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        path.chmod(0o666)
        self.socket.listen(16)
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while True:
            one, _ = self.socket.accept()
            with one:
                if one.recv(65536) == b"end":
                    return
                one.sendall(self.answer)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, kind, value, traceback):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(self.path))
            one.sendall(b"end")
        self.thread.join()
        self.socket.close()
        self.path.unlink()


def check_lies(slurm):
    """Answers that serve does not give. Once it is no, nothing admits the job, though it is open."""
    for answer, is_admitted in (("allowed=no\n\n", False), ("allowed=no\nmessage=100%q%s\n\n", False),
                                ("allowed=no\nallowed=yes\n\n", False), ("allowed=yes\nallowed=no\n\n", False),
                                ("allowed=yes\nallowed=yes\n\n", False), ("allowed=no\nmessage=\\q\n\n", False),
                                ("allowed=no\n", False), ("allowed=yes\nset.time_limit=x\n\n", False),
                                ("allowed=no\nwarning=%d\nmessage=x\n\n", False), ("allowed=perhaps\n\n", True),
                                ("allowed=yes\nwarning=%d%n\n\n", True), ("error=100%s\n\n", True), ("\n", True),
                                ("x\n\n", True), ("allowed=yes\n", True), ("allowed=yes\nset.qos=low\n\n", True)):
        with LyingGate(slurm.gate, answer):
            done = slurm.sbatch("--gres=gpu:a100:1", "--time=10", "--hold")
        expect((done.returncode == 0) == is_admitted, f"{answer!r}: {done.returncode} {done.stderr}")
        expect("100%q%s" not in answer or "100%q%s" in done.stderr, f"{answer!r}: {done.stderr}")


def check_down(cwd, slurm, serve):
    plain = ["--gres=gpu:a100:1", "--time=10", "--hold"]  # refused while serve answers
    expect(slurm.sbatch(*plain).returncode != 0, "closed while it answers")
    serve.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    slurm.job(slurm.sbatch(*plain))
    spent = time.monotonic() - begun
    expect(spent < 20, f"a serve that hangs holds sbatch for {spent:.1f} s")
    say(f"with a serve that hangs, sbatch took {spent:.2f} s")
    serve.process.kill()
    serve.process.wait()
    slurm.job(slurm.sbatch(*plain))
    slurm.gate.unlink()
    check_lies(slurm)
    slurm.set_plugins("closed")
    time.sleep(1.1)
    done = slurm.sbatch(*plain)
    expect(done.returncode != 0 and "can't be asked now" in done.stderr, f"closed: {done.stderr}")
    killed = Serve(cwd)
    killed.process.kill()
    killed.process.wait()
    fresh = Serve(cwd)  # takes over the socket that the killed one left
    done = slurm.sbatch(*plain)
    expect(done.returncode != 0 and "rule 'owner'" in done.stderr, f"asked again: {done.stderr}")
    slurm.job(slurm.sbatch(*plain, "--comment=team=nlp"))
    second = subprocess.run([BINARY, "--config", "pennyweight.yaml", "serve"], cwd=cwd, capture_output=True, text=True,
                            timeout=60, check=False)
    expect(second.returncode != 0, "a second serve does not take the socket away")
    (cwd / "other.yaml").write_text((cwd / "pennyweight.yaml").read_text().replace(
        "slurm: {", "slurm: {daemon_users: [root, nobody-of-that-name], ").replace("ledger.duckdb", "other.duckdb"))
    unknown = subprocess.run([BINARY, "--config", "other.yaml", "serve"], cwd=cwd, capture_output=True, text=True,
                             timeout=60, check=False)
    expect(unknown.returncode != 0 and "this host has no user 'nobody-of-that-name'" in unknown.stdout + unknown.stderr,
           f"an unknown user: {unknown.stdout} {unknown.stderr}")
    fresh.process.send_signal(signal.SIGTERM)
    expect(fresh.process.wait(60) == 0 and not slurm.gate.exists(), "the socket goes with serve")


def main():
    reason = cluster.why_not()
    if not reason and not list(pathlib.Path("/usr/lib").glob("*/lua/5.*/socket/unix.so")):
        reason = "not installed: lua-socket"
    if reason:
        print(f"skipped: {reason}")
        return cluster.SKIP
    with tempfile.TemporaryDirectory(prefix="pennyweight-guard-") as name:
        cwd = pathlib.Path(name)
        cwd.chmod(0o755)
        gate = cwd / "slurm.sock"
        (cwd / "prices.csv").write_text(PRICES)
        (cwd / "pennyweight.yaml").write_text(CONFIG.replace("SOCKET", str(gate)))
        serve = Serve(cwd)
        try:
            with GuardedCluster(cwd, gate) as slurm:
                say("the cluster is up")
                slurm.run("sacctmgr", "-i", "add", "qos", "low")
                for user in cluster.USERS:
                    slurm.run("sacctmgr", "-i", "modify", "user", user, "set", "qos+=low")
                slurm.run("scontrol", "reconfigure")
                slurm.until("the QOS is known", lambda: slurm.sbatch(
                    "--qos=low", "--time=1", "--comment=team=t").returncode == 0)
                for check, words in ((check_refusals, (slurm,)), (check_changes, (slurm,)), (check_times, (slurm,)), (check_costs, (cwd, slurm)),
                                     (check_approval, (cwd, slurm)), (check_attackers, (slurm, serve)), (check_limits, (cwd, slurm)),
                                     (check_down, (cwd, slurm, serve))):
                    check(*words)
                    say(f"{check.__name__}: {len(failures)} failed so far")
                if failures:
                    slurm.tell_logs()
        finally:
            if serve.process.poll() is None:
                serve.process.kill()
    print("FAILED" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
