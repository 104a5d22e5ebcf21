"""What it costs `serve` to reckon many budgets each minute: the processor time of evaluations, in percent of one core.

usage: budgets.py PENNYWEIGHT [BUDGETS] [MINUTES]

Makes a ledger of 40 days in which each of BUDGETS (10,000) teams has held a GPU, gives each team a budget of this month,
and measures `serve` for MINUTES (5) after its first evaluation. Meanwhile each of 800 teams has a job with a time limit on
each GPU, so that its budget has committed costs. Without budgets it is measured too, for comparison. Needs the program
pennyweight-generate beside PENNYWEIGHT.
"""
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

BINARY = pathlib.Path(sys.argv[1]).resolve()
BUDGETS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
MINUTES = int(sys.argv[3]) if len(sys.argv) > 3 else 5
DAYS, NODES = 40, 100
TODAY = datetime.datetime.now(datetime.timezone.utc).date()
TICKS = os.sysconf("SC_CLK_TCK")


def run(folder, *arguments):
    done = subprocess.run([BINARY, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stdout}{done.stderr}")


def make_ledger(folder):
    first = TODAY - datetime.timedelta(days=DAYS)
    nodes = "cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,memory_gib,from,to\n" + "".join(
        f"lab,n{n},i-{n:017x},p4d.24xlarge,us-east-1,train,A100-SXM4-40GB,8,96,1152,{first}T00:00:00Z,\n"
        for n in range(NODES))
    (folder / "nodes.csv").write_text(nodes)
    lines = ["JobID|JobName|Partition|Account|User|State|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|NodeList"]
    hours = DAYS * 24
    for number in range(BUDGETS * 4):
        # Each team has an hour on a GPU in each of four weeks.
        hour = (number * 7919) % hours
        begin = datetime.datetime.combine(first, datetime.time()) + datetime.timedelta(hours=hour)
        lines.append(f"{number + 1}|x|train|team{number % BUDGETS}|ana|COMPLETED|{begin.isoformat()}|"
                     f"{(begin + datetime.timedelta(hours=1)).isoformat()}|3600|1|12|"
                     f"billing=12,cpu=12,gres/gpu=1,mem=144G,node=1|n{(number // hours + number) % NODES}")
    (folder / "jobs.txt").write_text("\n".join(lines) + "\n")
    (folder / "pennyweight.yaml").write_text("clusters: [{name: lab, kind: slurm, time_zone: UTC}]\ntime_zone: UTC\n")
    run(folder, "generate", "bill", "--nodes", "nodes.csv", "--from", str(first), "--to", str(TODAY),
        "--prices-as-of", "2026-07-20", "--out", "bill.csv")
    run(folder, "import", "--cluster", "lab", "nodes.csv", "jobs.txt")
    run(folder, "import", "--cluster", "lab", "bill.csv")
    run(folder, "allocate")


def run_jobs(folder):
    """Slurm's programs, as scripts that say that each GPU is held by a job with a time limit of a day."""
    now = int(time.time())
    nodes = "\n".join(
        f"NodeName=n{n} Arch=x86_64 CoresPerSocket=48\n   CPUAlloc=96 CPUTot=96 CPULoad=1.0\n   Gres=gpu:a100:8\n"
        f"   NodeAddr=n{n} NodeHostName=n{n} Version=24.05\n   RealMemory=1179648 State=ALLOCATED Weight=1\n"
        f"   Partitions=train\n   CfgTRES=cpu=96,mem=1152G,billing=96,gres/gpu=8\n" for n in range(NODES))
    jobs = "\n".join(
        f"JobId={900_000 + n} JobName=x\n   UserId=ana(5) GroupId=g(0)\n   Priority=1 Nice=0 Account=team{n % BUDGETS} "
        f"QOS=normal\n   JobState=RUNNING Reason=None\n   RunTime=01:00:00 TimeLimit=1-00:00:00\n"
        f"   StartTime={now - 3600} EndTime={now + 82_800}\n   NodeList=n{n // 8}\n   NumNodes=1 NumCPUs=12\n"
        f"   TRES=cpu=12,mem=144G,node=1,billing=12,gres/gpu=1\n"
        f"     Nodes=n{n // 8} CPU_IDs=0-11 Mem=147456 GRES=gpu:a100:1(IDX:{n % 8})\n" for n in range(NODES * 8))
    (folder / "node").write_text(nodes)
    (folder / "job").write_text(jobs)
    for name, text in (("scontrol", f'cat "{folder}/$2"'),
                       ("sacctmgr", "echo 'NodeName|TimeStart|TimeEnd|State'"),
                       ("sacct", "echo 'JobID|Account|User|State|Start|End|ElapsedRaw|Suspended|AllocTRES|NodeList|JobName'"
                                 " | tr '|' '\\037'")):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    with open(folder / "pennyweight.yaml", "a") as config:
        config.write(f"slurm: [{{cluster: lab, sacct: {folder}/sacct, scontrol: {folder}/scontrol, "
                     f"sacctmgr: {folder}/sacctmgr}}]\n")


def seconds_used(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def check_jobs(folder):
    """That `serve` has read the jobs whose time limits are committed costs."""
    listening = next(json.loads(line) for line in (folder / "serve.log").read_text().splitlines() if '"serving"' in line)
    token = next(folder.glob("*.live/machine-token")).read_text().strip()
    asked = urllib.request.Request(f"http://{listening['address']}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        running = re.search(r'pennyweight_source\{[^}]*count="running_jobs"[^}]*\} (\S+)', answer.read().decode())
    if running is None or float(running[1]) != NODES * 8:
        raise SystemExit(f"serve knows of {running and running[1]} running jobs, not of {NODES * 8}")


def measure(folder, what):
    (folder / "serve.log").unlink(missing_ok=True)
    with open(folder / "serve.log", "ab") as log:
        serve = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=folder, stdout=log, stderr=log)
    try:
        # The first evaluation makes all forecasts; it is over once nothing is computed for a while.
        quiet = 0
        while b'"serving"' not in (folder / "serve.log").read_bytes():
            if serve.poll() is not None:
                raise SystemExit((folder / "serve.log").read_text())
            time.sleep(1)
        time.sleep(60)  # and the first one begins within a minute
        check_jobs(folder)
        before = seconds_used(serve.pid)
        while quiet < 3:
            time.sleep(10)
            now = seconds_used(serve.pid)
            quiet = quiet + 1 if now - before < 1 else 0
            before = now
        first = seconds_used(serve.pid)
        print(f"{what}: {first:.1f} s of processor time until all forecasts are made", flush=True)
        time.sleep(MINUTES * 60)
        used = (seconds_used(serve.pid) - first) / MINUTES
        print(f"{what}: {used:.2f} s of processor time a minute, {used / 60 * 100:.1f} % of a core", flush=True)
        return used
    finally:
        serve.terminate()
        serve.wait()


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-budgets-"))
    make_ledger(folder)
    run_jobs(folder)
    without = measure(folder, "no budgets")
    with open(folder / "pennyweight.yaml", "a") as config:
        config.write("budgets:\n" + "".join(
            f"  - {{name: b{n}, amount: 5 USD, filter: team=team{n}, owner: o{n}}}\n" for n in range(BUDGETS)))
    with_all = measure(folder, f"{BUDGETS:,} budgets")
    alerts = json.loads(next(folder.glob("*.live/alerts.json")).read_text())["alerts"]
    print(f"the budgets cost {(with_all - without) / 60 * 100:.1f} % of a core; {len(alerts):,} alerts are known")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
