"""Jobs and hours of report --as, captures without a time, objects of kubectl, sacct without a header,
and a node that is ended."""
import csv
import gzip
import io
import json
import os
import re
from fractions import Fraction

from harness import ROOT, expect, expect_run, folder, report, run

JOBS = ["1|alice|ml|COMPLETED|2026-03-28T20:00:00|2026-03-29T04:00:00|cpu=8,mem=64G,gres/gpu=2|n1"
        "|2026-03-28T18:30:00|0:0",
        "2|bob|ml|FAILED|2026-03-29T01:00:00|2026-03-29T01:30:00|cpu=4,mem=8G,gres/gpu=1|n2"
        "|2026-03-29T01:00:00|1:0",
        "3_1|alice|vision|COMPLETED|2026-03-30T00:00:00|2026-03-30T02:00:00|cpu=60,gres/gpu=4|n1,n2"
        "|Unknown|0:0"]
COLUMNS = "JobID%20,User,Account,State,Start,End,AllocTRES,NodeList,Submit,ExitCode"
NODES = "node,pool,gpu_model,gpu_count,vcpu,memory_gib,from,to\n"


def rows(arguments, cwd):
    out, _ = expect_run(["report", *arguments, "--format", "csv"], cwd)
    return list(csv.DictReader(io.StringIO(out)))


def activity():
    cwd = folder()
    (cwd / "jobs.psv").write_text("\n".join(JOBS) + "\n")
    (cwd / "n.csv").write_text(NODES + "n1,a,A100-SXM4-40GB,4,64,512,2026-03-28,\n" +
                               "n2,a,A100-SXM4-40GB,4,64,512,2026-03-28,\n")
    expect_run(["import", "--cluster", "c", "jobs.psv"], cwd, code=1, has=["give --columns"])
    expect_run(["import", "--cluster", "c", "--columns", COLUMNS, "jobs.psv"], cwd,
               has=["3 holdings: 3 new"])
    expect_run(["import", "--cluster", "c", "n.csv"], cwd)
    days = rows(["--as", "activity", "--every", "day", "--by", "label:user"], cwd)
    whole = rows(["--as", "activity", "--by", "label:user"], cwd)
    alice = [row for row in whole if row["label:user"] == "alice"][0]
    expect(alice["cpu_hours_exact"] == str(8 * 8 + 60 * 2), f"CPU-hours of alice: {alice}")
    expect(alice["gpu_hours_exact"] == str(2 * 8 + 4 * 2), f"GPU-hours of alice: {alice}")
    expect(alice["memory_gib_hours_exact"] == str(64 * 8), f"memory of alice: {alice}")
    expect(alice["node_hours_exact"] == str(8 + 2 * 2), f"node-hours of alice: {alice}")
    expect((alice["jobs_started"], alice["jobs_ended"]) == ("2", "2"), f"jobs of alice: {alice}")
    expect(alice["wait_hours_exact"] == "3/2", f"wait of alice: {alice}")
    codes = rows(["--as", "activity", "--by", "exit_code"], cwd)
    expect([(row["exit_code"], row["jobs_ended"]) for row in codes] == [("0:0", "2"), ("1:0", "1")],
           f"exit codes: {codes}")
    # The same jobs without the two columns, as an older export has them, are the same jobs.
    (cwd / "older.psv").write_text("\n".join(job.rsplit("|", 2)[0] for job in JOBS) + "\n")
    expect_run(["import", "--cluster", "c", "--columns", COLUMNS.rsplit(",", 2)[0], "older.psv"], cwd,
               has=["3 holdings: 0 new, 3 already there"])
    for name in ("cpu_hours_exact", "gpu_hours_exact", "wall_hours_exact", "jobs_started"):
        expect(sum(Fraction(row[name]) for row in days) ==
               sum(Fraction(row[name]) for row in whole), f"days of {name} are not the whole")
    by_node = rows(["--as", "activity", "--by", "node", "--from", "2026-03-28", "--to", "2026-03-30"],
                   cwd)
    expect([row["gpu_capacity_hours_exact"] for row in by_node] == ["288", "288"],
           f"capacity: {by_node}")
    sizes = rows(["--as", "sreport:SizesByAccount"], cwd)
    expect([row["cpus_50_249"] for row in sizes if row["slurm_account"] == "vision"] ==
           [str(60 * 120)], f"sizes: {sizes}")
    states = rows(["--as", "xdmod:jobs", "--by", "state", "--filter", "label:user=bob"], cwd)
    expect([(row["state"], row["job_count"]) for row in states] == [("FAILED", "1")],
           f"states: {states}")
    expect_run(["report", "--as", "activity", "--by", "usr"], cwd, code=2, has=["did you mean 'user'"])
    expect_run(["report", "--as", "activity", "--cost", "all"], cwd, code=2, has=["is for costs"])
    expect_run(["report", "--filter", "cluster=a,kind=used"], cwd, code=2, has=["two filters"])


def measures():
    cwd = folder()
    (cwd / "n.csv").write_text(NODES + "n1,a,A100-SXM4-40GB,2,64,512,2026-03-01,\n")
    (cwd / "g.csv").write_text("node,uuid,index,model,from\n" + "".join(
        f"n1,GPU-{i},{i},A100-SXM4-40GB,2026-03-01\n" for i in range(2)))
    (cwd / "h.csv").write_text("workload,begin,end,gpu,user\n"
                               "w,2026-03-02,2026-03-02T02:00:00Z,GPU-0,ann\n"
                               "v,2026-03-03,2026-03-03T02:00:00Z,GPU-0,bo\n")
    (cwd / "u.csv").write_text("node,gpu,at,gpu_util\n" + "".join(
        f"n1,GPU-{i},2026-03-02T00:{m:02}:30Z,{50 + i}\n" for m in range(10) for i in range(2)))
    # Power, from which energy is told: 400 W.
    (cwd / "p.prom").write_text("".join(
        'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-0",modelName="A100-SXM4-40GB",Hostname="n1"} 400 '
        f"{1772409600000 + m * 60000}\n" for m in range(60)))
    for name in ("n.csv", "g.csv", "h.csv", "u.csv", "p.prom"):
        expect_run(["import", "--cluster", "c", name], cwd)
    expect_run(["report", "--as", "measures"], cwd, code=2, has=["name the days"])
    for asked in (["usage"], ["report", "--as", "measures"]):
        expect_run([*asked, "--from", "1970-01-01", "--to", "2026-03-31"], cwd, code=2,
                   has=["more than 400 days"])
    for arguments in (["--by", "user"], ["--by", "node", "--every", "day"], []):
        got = rows(["--as", "measures", *arguments, "--month", "2026-03"], cwd)
        keys = [name for name in ("from", "user", "node") if name in got[0]]
        out, _ = expect_run(["usage", *(arguments or ["--by", "cluster"]), "--month", "2026-03",
                             "--format", "csv"], cwd)
        held = rows(["--as", "activity", *arguments, "--month", "2026-03"], cwd)
        for told, of in ((list(csv.DictReader(io.StringIO(out))), ("seen_hours", "energy_kwh")),
                         (held, ("wall_hours", "gpu_hours", "jobs_started"))):
            for row in told:
                mine = [each for each in got if all(each[key] == row[key] for key in keys)]
                expect(len(mine) == 1, f"one row of {row} in {got}")
                for name in of:
                    expect(mine and mine[0][name] == row[name], f"{name} of {row}: {mine}")
    users = {row["user"]: row for row in rows(["--as", "measures", "--by", "user", "--month",
                                               "2026-03"], cwd)}
    expect(users["ann"]["jobs_started"] == "1" and float(users["ann"]["energy_kwh"]) > 0.3,
           f"energy of ann: {users}")
    expect(users["bo"]["energy_kwh"] == "" and users["bo"]["gpu_hours"] == "2.0000",
           f"bo was not seen: {users}")


def pbs():
    cwd = folder()
    log = "02/11/2026 20:12:21;%s;%s.srv;user=ann queue=gpu ctime=1770861600 start=%d end=%d exec_vnode=%s\n"
    (cwd / "20260211").write_text(
        log % ("R", 7, 1770865200, 1770867000, "(n1:ncpus=8:ngpus=2:mem=10gb)") +
        log % ("E", 7, 1770868800, 1770872400, "(n1:ncpus=8:ngpus=2)+(n2[1]:ncpus=8:ngpus=2)") +
        log % ("E", 8, 1770868800, 1770872400, "(n1:ncpus=4)") +
        "02/11/2026 20:12:21;S;9.srv;user=ann\n02/11/2026 20:12:22;E;9.sr")
    arguments = ["import", "--cluster", "c", "20260211"]
    (cwd / "n.csv").write_text(NODES + "".join(f"n{i},a,A100-SXM4-40GB,4,64,512,2026-02-01,\n"
                                               for i in (1, 2)))
    expect_run(["import", "--cluster", "c", "n.csv"], cwd)
    expect_run(arguments, cwd, has=["3 holdings: 3 new", "5.0000 GPU-hours held", "1 record is of",
                                    "20260211", "cut off"])
    expect_run(arguments, cwd, has=["3 already there"])
    expect_run(["import", "20260211"], cwd, code=2, has=["--cluster"])
    got = rows(["--as", "activity", "--by", "label:queue,node"], cwd)
    expect([(row["node"], row["gpu_hours_exact"], row["cpu_hours_exact"]) for row in got] ==
           [("n1", "3", "16"), ("n2", "2", "8")], f"PBS by node: {got}")
    expect(sum(Fraction(row["wait_hours_exact"]) for row in
               rows(["--as", "activity"], cwd)) == 1 + 2 + 2, "waits of PBS")


def contradictions():
    cwd = folder()
    head = "JobID|State|Start|End|ElapsedRaw|AllocTRES|NodeList\n"
    (cwd / "jobs.psv").write_text(
        head + "1|COMPLETED|1970-01-01T00:00:00|2026-03-01T04:00:00|3600|gres/gpu=2|n1\n" +
        "2_[1-3]|COMPLETED|2026-03-01T00:00:00|2026-03-01T04:00:00|14400|gres/gpu=2|n1\n" +
        "3|EXPLODED|2026-03-01T00:00:00|2026-03-01T04:00:00|14400|gres/gpu=2|n1\n" +
        "4|COMPLETED|2026-03-01T00:00:00|2026-03-01T04:00:00|3600|gres/gpu=2|n1\n")
    expect_run(["import", "--cluster", "c", "jobs.psv"], cwd,
               has=["2 holdings: 2 new", "10.0000 GPU-hours held", "sacct --array",
                    "1 job ran shorter than from Start to End", "in a state that Slurm does not have"])
    (cwd / "eyes.txt").write_text("JobID           JobName\n------------ ----------\n1  train\n")
    expect_run(["import", "--cluster", "c", "eyes.txt"], cwd, code=1, has=["sacct --parsable2"])


def ended_node():
    cwd = folder()
    (cwd / "n.csv").write_text(NODES + "n1,a,A100-SXM4-40GB,4,64,512,2026-03-01,\n")
    expect_run(["import", "--cluster", "c", "n.csv"], cwd)
    (cwd / "n.csv").write_text(NODES + "n1,a,A100-SXM4-40GB,4,64,512,2026-03-01,2026-03-02\n")
    expect_run(["import", "--cluster", "c", "n.csv"], cwd, has=["1 node: 1 new"])
    capacity = rows(["--as", "activity", "--by", "node", "--from", "2026-03-01", "--to",
                     "2026-03-31"], cwd)
    expect([row["gpu_capacity_hours_exact"] for row in capacity] == ["96"], f"ended: {capacity}")


def captures():
    cwd = folder()
    listing = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
    (cwd / "list.txt").write_text(listing)
    os.utime(cwd / "list.txt", (1772323200, 1772323200))  # 2026-03-01
    arguments = ["import", "--cluster", "c", "--node", "n1"]
    expect_run([*arguments, "list.txt"], cwd, has=["1 GPU: 1 new", "2026-03-01T00:00:00Z", "--at"])
    expect_run([*arguments, "list.txt"], cwd, has=["1 already there"])
    expect_run([*arguments, "--at", "2026-03-02", "list.txt"], cwd, has=["1 GPU: 1 new"])
    expect_run([*arguments, "-"], cwd, stdin=listing.encode(), has=["nothing says when this was", "capture"])
    # GPU instances are the layout of the GPU whose index they name.
    instances = ("+-----------------------------+\n| GPU instances:              |\n"
                 "|   0  MIG 3g.20gb   9   1   4:4  |\n|   0  MIG 3g.20gb   9   2   0:4  |\n")
    (cwd / "lgi.txt").write_text(instances)
    expect_run([*arguments, "--at", "2026-03-03", "lgi.txt"], cwd, has=["index 0", "nvidia-smi -L", "nothing to import"])
    (cwd / "both.txt").write_text(listing + instances)
    expect_run([*arguments, "--at", "2026-03-03", "both.txt"], cwd, has=["1 GPU: 1 new"])


def kubectl():
    cwd = folder()
    data = os.path.join(ROOT, "tests", "data", "kubernetes")
    items = [json.load(open(os.path.join(data, name))) for name in
             ("node_a100_mig.json", "pod_a100_mig.json")]
    (cwd / "objects.json").write_text(json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}))
    arguments = ["import", "--cluster", "k", "--at", "2023-01-20", "objects.json"]
    expect_run(arguments, cwd, has=["1 holding: 1 new", "1 node: 1 new"])
    expect_run(arguments, cwd, has=["1 already there"])
    # The same in YAML, as kubectl prints it, is the same.
    def yaml(value, indent):
        pad = "  " * indent
        if isinstance(value, dict) and value:
            return "\n" + "\n".join(f"{pad}{json.dumps(key)}:{yaml(each, indent + 1)}"
                                    for key, each in value.items())
        if isinstance(value, list) and value:
            return "\n" + "\n".join(f"{pad}-{yaml(each, indent + 1)}" for each in value)
        return " " + json.dumps(value)

    (cwd / "objects.yaml").write_text("apiVersion: v1\nkind: List\nitems:" + yaml(items, 0) + "\n")
    expect_run([*arguments[:-1], "objects.yaml"], cwd, has=["1 already there"])
    # Cut off, it is still YAML.
    (cwd / "cut.yaml").write_text("apiVersion: v1\nitems:" + yaml(items, 0) + "\n")
    expect_run([*arguments[:-1], "cut.yaml"], cwd, code=1, has=["is cut off"])
    (cwd / "manifest.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: u\n"
                                       "spec:\n  nodeName: n1\n")
    expect_run([*arguments[:-1], "manifest.yaml"], cwd, has=["no status.phase"])
    (cwd / "documents.yaml").write_text(
        "".join("---\napiVersion: v1\nkind: " + each["kind"] + yaml(
            {key: value for key, value in each.items() if key not in ("apiVersion", "kind")}, 0) + "\n"
            for each in items))
    expect_run([*arguments[:-1], "documents.yaml"], cwd, has=["1 already there"])
    # A node with 2 cores and its pod with half of one, as the documentation of Kubernetes prints them.
    here = folder()
    expect_run([*arguments[:3], "--at", "2022-02-17T22:21:01Z", os.path.join(data, "kubectl.yaml")], here,
               has=["1 holding: 1 new", "1 node: 1 new"])
    held, = rows(["--as", "activity", "--by", "namespace,node"], here)
    expect((held["namespace"], held["node"], held["cpu_hours_exact"], held["memory_gib_hours_exact"],
            held["device_hours_exact"]) == ("default", "kube-worker-1", "1/4", "1/16", "0"),
           f"kubectl.yaml: {held}")
    (cwd / "twice.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n")
    expect_run(["import", "--cluster", "k", "--at", "2023-01-20", "twice.yaml"], cwd, code=1,
               has=["line 5: the key 'name' is here twice", "-o json"])
    (cwd / "pods.json").write_text(json.dumps({"apiVersion": "v1", "items": [{"metadata": {}}],
                                               "kind": "PodList"}))
    expect_run(["import", "--cluster", "k", "pods.json"], cwd, has=["item 1: ", "metadata/name"])
    expect_run(["import", "--cluster", "k", "--at", "2023-01-19", "objects.json"], cwd,
               has=["was created at 2023-01-19T07:56:47Z", "give --at"])
    (cwd / "services.json").write_text(json.dumps({"apiVersion": "v1", "kind": "ServiceList", "items": [
        {"metadata": {"name": "s", "uid": "u"}}]}))
    expect_run(["import", "--cluster", "k", "services.json"], cwd,
               has=["1 object, and no pod or node among them"])
    (cwd / "cut.json").write_text('{"apiVersion": "v1", "items": [')
    expect_run(["import", "--cluster", "k", "cut.json"], cwd, code=1, has=["is not JSON"])


def efficiency():
    """What jobs used beside what they requested, by day and in total; it divides no cost."""
    cwd = folder()
    columns = "JobID,User,State,Start,End,ElapsedRaw,AllocTRES,NodeList,TotalCPU,NTasks,MaxRSS,TRESUsageInTot"
    times = "2026-03-01T22:00:00|2026-03-02T02:00:00|14400"
    (cwd / "jobs.psv").write_text("\n".join([
        columns.replace(",", "|"),
        f"1|ann|COMPLETED|{times}|cpu=8,mem=64G,gres/gpu=1|n1,n2|16:00:00|||",
        f"1.0|ann|COMPLETED|{times}||n1|16:00:00|2|8G|mem=16G",
        f"2|bob|COMPLETED|{times}|cpu=2|n1|00:00:00|||",
        f"3|bob|COMPLETED|{times}|cpu=2,mem=1G,gres/gpu:a=1,gres/gpu:b=1|n1|04:00:00|||"]) + "\n")
    # What the configuration's table of outcomes says is the same to the report.
    (cwd / "pods.csv").write_text(
        "workload,measure,begin,end,count\n"
        f"2,memory_used_kib_ms,2026-03-01T23:00:00Z,2026-03-02T01:00:00Z,{2 * 3_600_000 * 2**20}\n")
    (cwd / "long.csv").write_text(
        "workload,measure,begin,end,count\n"
        "2,cpu_used_core_ms,2026-03-01T23:00:00Z,2026-03-03T01:00:00Z,1\n")
    (cwd / "n.csv").write_text(NODES + "n1,a,A100-SXM4-40GB,4,64,512,2026-03-01,\n" +
                               "n2,a,A100-SXM4-40GB,4,64,512,2026-03-01,\n")
    expect_run(["import", "--cluster", "c", "n.csv"], cwd)
    expect_run(["import", "--cluster", "c", "jobs.psv"], cwd,
               has=["4 holdings: 4 new", "6 job measurements: 6 new", "2 jobs say what they used"])
    expect_run(["import", "--cluster", "c", "jobs.psv"], cwd,
               has=["6 job measurements: 0 new, 6 already there"])
    expect_run(["import", "--cluster", "c", "pods.csv"], cwd)
    expect_run(["import", "--cluster", "c", "long.csv"], cwd, has=["is told day by day"])
    whole = {row["label:user"]: row for row in rows(["--as", "efficiency", "--by", "label:user"], cwd)}
    ann, bob = whole["ann"], whole["bob"]
    expect((ann["cpu_hours_exact"], ann["cpu_hours_known_exact"], ann["cpu_hours_used_exact"],
            ann["cpu_efficiency"]) == ("32", "32", "16", "50.0000"), f"CPUs of ann: {ann}")
    expect((ann["memory_peak_efficiency"], ann["memory_efficiency"], ann["memory_gib_hours_peak_exact"]) ==
           ("25.0000", "", "64"), f"memory of ann: {ann}")
    # Slurm gathered nothing of job 2; the two kinds of device of job 3 are one job.
    expect((bob["cpu_hours_exact"], bob["cpu_hours_known_exact"], bob["cpu_hours_used_exact"],
            bob["cpu_efficiency"]) == ("16", "8", "4", "50.0000"), f"CPUs of bob: {bob}")
    expect(bob["memory_gib_hours_used_exact"] == "2", f"memory of bob: {bob}")
    days = rows(["--as", "efficiency", "--every", "day", "--by", "label:user"], cwd)
    for name in ("cpu_hours_known_exact", "cpu_hours_used_exact", "memory_gib_hours_used_exact"):
        for user, row in whole.items():
            expect(sum(Fraction(day[name]) for day in days if day["label:user"] == user) ==
                   Fraction(row[name]), f"days of {name} of {user} are not the whole")
    nodes = rows(["--as", "efficiency", "--by", "node", "--filter", "label:user=ann"], cwd)
    expect([row["cpu_hours_used_exact"] for row in nodes] == ["8", "8"], f"by node: {nodes}")


def two_devices():
    """A pod of two kinds of device is one job, and what it used counts once."""
    cwd = folder()
    (cwd / "n.csv").write_text(NODES + "n1,a,A100-SXM4-40GB,4,64,512,2026-03-01,\n")
    (cwd / "h.csv").write_text("workload,attempt,begin,end,node,devices,vcpu,label:kind\n" + "".join(
        f"ml/p,{attempt},2026-03-01T10:00:00Z,2026-03-01T12:00:00Z,n1,1,{cpus},{kind}\n"
        for attempt, cpus, kind in (("uid", 4, "whole"), ("uid/mig", 0, "part"))))
    (cwd / "used.csv").write_text("workload,measure,begin,end,count\nml/p,cpu_used_core_ms,"
                                  f"2026-03-01T10:00:00Z,2026-03-01T12:00:00Z,{3 * 3_600_000}\n")
    for name in ("n.csv", "h.csv", "used.csv"):
        expect_run(["import", "--cluster", "c", name], cwd)
    whole, = rows(["--as", "activity"], cwd)
    expect((whole["jobs_started"], whole["jobs_ended"], whole["gpu_hours_exact"]) == ("1", "1", "4"),
           f"one job: {whole}")
    kinds = rows(["--as", "activity", "--by", "label:kind"], cwd)
    expect([row["jobs_started"] for row in kinds] == ["1", "1"], f"by kind: {kinds}")
    used, = rows(["--as", "efficiency"], cwd)
    expect((used["cpu_hours_used_exact"], used["cpu_efficiency"]) == ("3", "37.5000"), f"used: {used}")
    # What began before the days that are asked for reaches into them.
    (cwd / "pennyweight.yaml").write_text("policy:\n  time_zone: Pacific/Auckland\n")
    second, = rows(["--as", "efficiency", "--from", "2026-03-02"], cwd)
    expect((second["cpu_hours_used_exact"], second["cpu_efficiency"]) == ("3/2", "37.5000"),
           f"from midnight on: {second}")


def held_nothing():
    """Jobs that never started or have no length count where jobs are counted, and nowhere else."""
    cwd = folder()
    jobs = JOBS + ["4|alice|ml|CANCELLED by 0|None|2026-03-29T03:00:00||None assigned|2026-03-29T01:00:00|0:0",
                   "5|bob|ml|FAILED|2026-03-29T05:00:00|2026-03-29T05:00:00|cpu=4,gres/gpu=1|n1"
                   "|2026-03-29T04:00:00|127:0"]
    (cwd / "jobs.psv").write_text("\n".join(jobs) + "\n")
    arguments = ["import", "--cluster", "c", "--columns", COLUMNS, "jobs.psv"]
    expect_run(arguments, cwd, has=["3 holdings: 3 new", "2 job measurements: 2 new"])
    expect_run(arguments, cwd, has=["2 job measurements: 0 new, 2 already there"])
    states = {row["state"]: row for row in rows(["--as", "activity", "--by", "state"], cwd)}
    expect([(states[state]["jobs_ended"], states[state]["jobs_never_started"], states[state]["jobs_started"])
            for state in ("COMPLETED", "FAILED", "CANCELLED")] ==
           [("2", "0", "2"), ("2", "0", "2"), ("1", "1", "0")], f"jobs by state: {states}")
    expect(states["FAILED"]["wall_hours_exact"] == "1/2", f"no time of a zero-length job: {states}")
    codes = {row["exit_code"] for row in rows(["--as", "activity", "--by", "exit_code", "--filter",
                                               "state=FAILED"], cwd)}
    expect(codes == {"1:0", "127:0"}, f"exit codes: {codes}")
    xdmod = rows(["--as", "xdmod:jobs", "--every", "day", "--filter", "state=CANCELLED,FAILED"], cwd)
    expect([(row["from"], row["job_count"]) for row in xdmod] == [("2026-03-29", "2")],
           f"XDMoD leaves out jobs that never started: {xdmod}")
    alone = folder()  # a cluster that has no node and no other job
    (alone / "jobs.psv").write_text("\n".join(jobs[-2:]) + "\n")
    expect_run(arguments, alone, has=["2 job measurements: 2 new"])
    row, = rows(["--as", "activity"], alone)
    expect((row["jobs_ended"], row["jobs_never_started"], row["jobs_started"]) == ("2", "1", "1"),
           f"jobs that held nothing, alone: {row}")
    (cwd / "outcomes.csv").write_text("cluster,workload,measure,begin,end,count\n"
                                      "c,9,jobs_never_started,2026-03-01,2026-03-02,1\n")
    expect_run(["import", "outcomes.csv"], cwd, has=["it is kept for jobs", "nothing to import"])


def kinds_of_device():
    """A job with two kinds of device is one job, with one wall time."""
    cwd = folder()
    (cwd / "jobs.psv").write_text(
        "JobID|User|Account|State|Start|End|AllocTRES|NodeList\n"
        "1|ann|ml|COMPLETED|2026-03-01T00:00:00|2026-03-01T02:00:00|"
        "cpu=8,mem=64G,gres/gpu:h100=1,gres/gpu:a100_3g.20gb=2,gres/gpu=3,gres/shard=4|n1\n")
    expect_run(["import", "--cluster", "c", "jobs.psv"], cwd, has=["3 holdings: 3 new"])
    row, = rows(["--as", "activity"], cwd)
    expect((row["jobs_ended"], row["wall_hours_exact"], row["node_hours_exact"], row["cpu_hours_exact"],
            row["device_hours_exact"]) == ("1", "2", "2", "16", "14"), f"one job: {row}")
    row, = rows(["--as", "sreport:UserUtilizationByAccount"], cwd)
    expect([row[name] for name in ("cpu", "mem", "node", "gres/gpu", "gres/shard")] ==
           [str(8 * 120), str(64 * 1024 * 120), "120", str(3 * 120), str(4 * 120)],
           f"in sreport's minutes: {row}")


def suspended():
    """Three hours on two GPUs, one of them suspended: costs and GPU-hours are of two, device-hours of
    three, and both outputs say why."""
    cwd = folder()
    (cwd / "jobs.psv").write_text(
        "JobID|Account|User|State|Start|End|ElapsedRaw|Suspended|AllocTRES|NodeList\n"
        "1|ml|ann|COMPLETED|2026-03-01T01:00:00|2026-03-01T04:00:00|7200|01:00:00|cpu=8,gres/gpu=2,node=1|n1\n")
    (cwd / "nodes.csv").write_text("node,gpu_model,gpu_count,vcpu,memory_gib,from,to\n"
                                   "n1,A100-SXM4-40GB,2,64,512,2026-03-01,2026-03-02\n")
    (cwd / "bill.csv").write_text(
        "BillingAccountId,BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ChargePeriodStart,"
        "ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,ChargeCategory,ResourceId,ServiceCategory\n"
        "a,48,48,48,48,USD,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,2026-03-01T00:00:00Z,"
        "2026-04-01T00:00:00Z,Usage,n1,Compute\n")
    for name in ("jobs.psv", "nodes.csv", "bill.csv"):
        expect_run(["import", "--cluster", "c", name], cwd)
    expect_run(["allocate", "--month", "2026-03"], cwd, has=["holdings were suspended for a time"])
    cost, = [row for row in csv.DictReader(io.StringIO(expect_run(
        ["report", "--by", "user", "--format", "csv"], cwd)[0])) if row["user"] == "ann"]
    expect((cost["effective_cost"], cost["gpu_hours_exact"]) == ("4", "4"), f"cost: {cost}")
    held, = rows(["--as", "activity", "--by", "user"], cwd)
    expect((held["gpu_hours_exact"], held["device_hours_exact"]) == ("4", "6"), f"activity: {held}")
    expect_run(["report", "--as", "activity"], cwd, has=["1 holding suspended for 1.0000 hours in all"])


def more_formats():
    cwd = folder()
    arguments = ["import", "--cluster", "c"]
    (cwd / "slurm.conf").write_text("ClusterName=lab\nNodeName=DEFAULT CPUs=64 RealMemory=512000\n"
                                    "NodeName=n[1-3] Gres=gpu:a100:4\nPartitionName=gpu Nodes=ALL\n")
    expect_run([*arguments, "slurm.conf"], cwd, code=2, has=["--from"])
    expect_run([*arguments, "--from", "2026-03-01", "slurm.conf"], cwd, has=["3 nodes: 3 new"])
    capacity = rows(["--as", "activity", "--by", "gpu_model", "--from", "2026-03-01", "--to",
                     "2026-03-01"], cwd)
    expect([(row["gpu_capacity_hours_exact"], row["cpu_capacity_hours_exact"]) for row in capacity] ==
           [(str(12 * 24), str(192 * 24))], f"nodes of slurm.conf: {capacity}")
    (cwd / "gres.conf").write_text("NodeName=n[1-3] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n")
    expect_run([*arguments, "gres.conf"], cwd, code=1, has=["is Slurm's gres.conf", "scontrol show node"])
    lsf = os.path.join(ROOT, "tests", "data", "lsf", "lsb.acct")
    expect_run([*arguments, lsf], cwd, has=["LSF accounting", "1 holding: 1 new"])
    expect_run([*arguments, lsf], cwd, has=["1 already there"])
    # 3,072 KiB over the job's run, though nothing says what it requested.
    peak, = rows(["--as", "efficiency", "--by", "label:queue", "--filter", "label:queue=batchq"], cwd)
    expect((Fraction(peak["memory_gib_hours_peak_exact"]), peak["memory_peak_efficiency"]) ==
           (Fraction(3072 * (1649214696 - 1648726872), 2**20 * 3600), ""), f"a peak of LSF: {peak}")
    engine = os.path.join(ROOT, "tests", "data", "grid_engine", "accounting")
    expect_run([*arguments, engine], cwd, has=["Grid Engine", "5 holdings: 5 new"])
    expect_run([*arguments, engine], cwd, has=["5 already there"])
    wide, = rows(["--as", "activity", "--by", "label:queue", "--filter", "label:queue=large"], cwd)
    expect((wide["cpu_hours_exact"], wide["wall_hours_exact"], wide["wait_hours_exact"]) ==
           (str(Fraction(9 * 180001, 3600)), str(Fraction(180001, 3600)), str(Fraction(10, 3600))),
           f"a job of 9 slots: {wide}")
    trace = os.path.join(ROOT, "tests", "data", "pbs", "tracejob")
    expect_run([*arguments, trace], cwd, has=["tracejob", "1 job ended in the second in which it began"])
    (cwd / "trace").write_text("Job: 7.srv\n\n02/11/2026 20:12:21  A    user=eve queue=gpu start=1770865200\n"
                               "                          exec_vnode=(n1:ncpus=8:ngpus=2) end=1770868800\n")
    expect_run([*arguments, "trace"], cwd, has=["1 holding: 1 new"])
    held, = rows(["--as", "activity", "--by", "user", "--filter", "user=eve"], cwd)
    expect((held["device_hours_exact"], held["cpu_hours_exact"]) == ("2", "8"), f"tracejob: {held}")
    # What programs print is not what they read, and says so.
    for name, text, advice in (
            ("qacct", "====\nqname all.q\nru_wallclock 1s\n", "common/accounting"),
            ("bhist", "Job <7>, User <ann>\nFri: Submitted from host <a>\n", "lsb.acct"),
            ("tracejob", "Job: 7.srv\n\n02/11/2026 20:12:21  S    Job Queued\n", "accounting log"),
            ("xpu-smi", "Timestamp, DeviceId, GPU Power (W)\n06:14:46.000, 0, 14.61\n", "usage"),
            ("dmon", "#Date        Time         gpu    pwr\n#YYYYMMDD    HH:MM:SS     Idx      W\n", "query-gpu"),
            ("pmon", "# gpu         pid   type\n# Idx           #    C/G\n", "query-gpu"),
            ("ray", '[{"type": "SUBMISSION", "job_id": "01"}]', "table of holdings"),
            ("rays", '[{"submission_id": "raysubmit_1", "driver_info": null}]', "its tasks"),
            ("cadvisor", "# HELP cadvisor_version_info A metric.\n", "serve.host_usage"),
            ("summary", '{"node": {"cpu": {"usageNanoCores": 1}}, "pods": []}', "serve.host_usage"),
            ("podres", '{"podResources": [{"name": "a", "containers": []}]}', "kubectl get pods"),
            ("runai", '{"data": [{"project": "p", "currentAllocatedGPUs": 1}]}', "not since when")):
        (cwd / name).write_text(text)
        expect_run([*arguments, name], cwd, code=1, has=[advice])
    # A pod with two GPUs of a node with eight, as kube-state-metrics tells them.
    pod = 'namespace="ml",pod="train",uid="u1"'
    (cwd / "ksm.prom").write_text("".join(line + "\n" for line in (
        "# HELP kube_pod_info [STABLE] Information about pod.", "# TYPE kube_pod_info gauge",
        f'kube_pod_info{{{pod},node="g1",created_by_kind="Job",created_by_name="j"}} 1',
        f'kube_pod_start_time{{{pod}}} 1772323200', f'kube_pod_status_scheduled_time{{{pod}}} 1772323200',
        f'kube_pod_created{{{pod}}} 1772323200', f'kube_pod_status_phase{{{pod},phase="Running"}} 1',
        f'kube_pod_container_info{{{pod},container="main"}} 1',
        f'kube_pod_container_resource_requests{{{pod},node="g1",container="main",'
        'resource="nvidia_com_gpu",unit="integer"} 2',
        f'kube_pod_container_resource_requests{{{pod},node="g1",container="main",resource="cpu",'
        'unit="core"} 8', 'kube_node_info{node="g1"} 1', 'kube_node_created{node="g1"} 1772323200',
        'kube_node_status_capacity{node="g1",resource="nvidia_com_gpu",unit="integer"} 8',
        'kube_node_status_allocatable{node="g1",resource="nvidia_com_gpu",unit="integer"} 8',
        'kube_node_status_condition{node="g1",condition="Ready",status="true"} 1',
        'kube_node_labels{node="g1",label_nvidia_com_gpu_product="NVIDIA-A100-SXM4-40GB"} 1')))
    dump = ["import", "--cluster", "k", "--at", "2026-03-01T03:00:00Z", "ksm.prom"]
    expect_run(dump, cwd, has=["kube-state-metrics", "1 holding: 1 new", "1 node: 1 new"])
    expect_run(dump, cwd, has=["1 already there"])
    held = rows(["--as", "activity", "--by", "namespace,node", "--filter", "cluster=k"], cwd)
    expect([(row["namespace"], row["node"], row["gpu_hours_exact"], row["cpu_hours_exact"])
            for row in held] == [("ml", "g1", "6", "24")], f"kube-state-metrics: {held}")
    expect_run(["import", "--cluster", "k", "-"], cwd, stdin=(cwd / "ksm.prom").read_bytes(), code=2,
               has=["give --at"])


def audit_log():
    """A node of 4 GPUs at 96 USD the day, and two pods, from what an API server answered."""
    def event(at, verb, resource, name, answer=None, level="RequestResponse"):
        one = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": level, "stage": "ResponseComplete",
               "verb": verb, "objectRef": {"resource": resource, "namespace": "ml", "name": name},
               "responseStatus": {"code": 200}, "stageTimestamp": f"2026-03-01T{at}Z"}
        return json.dumps({**one, **({"responseObject": answer} if answer else {})}) + "\n"

    def pod(name, gpus, begin, end=None, version=1):
        return {"kind": "Pod", "apiVersion": "v1", "metadata": {
                    "name": name, "namespace": "ml", "uid": f"u-{name}", "resourceVersion": str(version),
                    "creationTimestamp": "2026-03-01T00:00:00Z"},
                "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {
                    "limits": {"nvidia.com/gpu": str(gpus)}, "requests": {"nvidia.com/gpu": str(gpus)}}}]},
                "status": {"phase": "Succeeded" if end else "Running", "conditions": [
                    {"type": "PodScheduled", "status": "True", "lastTransitionTime": f"2026-03-01T{begin}Z"}],
                    "containerStatuses": [{"name": "c", "state": {"terminated": {
                        "finishedAt": f"2026-03-01T{end}Z"}}}] if end else []}}

    node = {"kind": "Node", "apiVersion": "v1", "metadata": {
                "name": "n1", "uid": "nu", "creationTimestamp": "2026-03-01T00:00:00Z",
                "labels": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.count": "4"}},
            "status": {"capacity": {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "4"}}}
    log = [event("00:00:01", "create", "nodes", "n1", node),
           event("00:30:01", "patch", "pods", "chat", pod("chat", 1, "00:30:00")),
           event("06:00:00", "patch", "pods", "train", pod("train", 2, "06:00:00")),
           event("12:00:02", "patch", "pods", "train", pod("train", 2, "06:00:00", "12:00:00", 2)),
           event("18:00:00", "update", "leases", "l", {"kind": "Lease"})]
    arguments = ["import", "--cluster", "k"]
    cwd = folder()
    (cwd / "audit.log").write_text("".join(log))
    expect_run([*arguments, "audit.log"], cwd, has=["Kubernetes audit log", "2 holdings: 2 new", "1 node: 1 new",
                                                    "1 event holds nothing"])
    expect_run([*arguments, "audit.log"], cwd, has=["2 holdings: 0 new, 2 already there"])
    (cwd / "audit.log.gz").write_bytes(gzip.compress("".join(log).encode()))
    expect_run([*arguments, "audit.log.gz"], cwd, has=["2 holdings: 0 new, 2 already there"])
    (cwd / "bill.csv").write_text(
        "BillingAccountId,BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ChargePeriodStart,"
        "ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,ChargeCategory,ResourceId,ServiceCategory\n"
        "a,96,96,96,96,USD,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,2026-03-01T00:00:00Z,"
        "2026-04-01T00:00:00Z,Usage,n1,Compute\n")
    expect_run(["import", "bill.csv"], cwd)
    expect_run(["allocate", "--month", "2026-03"], cwd)
    costs = {row["workload"]: (row["effective_cost"], row["gpu_hours_exact"])
             for row in rows(["--by", "workload"], cwd)}
    expect((costs.get("ml/train"), costs.get("ml/chat")) ==
           (("12", "12"), ("17.5", "35/2")), f"costs of the log: {costs}")
    # Rotated logs, one after another, come to the same; the other way round the file is refused.
    parts = folder()
    for name, lines in (("1.log", log[:3]), ("2.log", log[3:]), ("late.log", log[3:] + log[:3])):
        (parts / name).write_text("".join(lines))
    for name in ("1.log", "2.log", "late.log"):
        expect_run([*arguments, name], parts, code=int(name == "late.log"),
                   has=["in order of time"] if name == "late.log" else [])
    for row in rows(["--as", "activity", "--by", "workload"], parts):
        want = {"ml/train": "12", "ml/chat": "11/2"}[row["workload"]]
        expect(row["gpu_hours_exact"] == want, f"rotated: {row}")
    # Two events as Falco's tests quote them, without the version by which a log is recognised.
    real = os.path.join(ROOT, "tests", "data", "kubernetes", "audit.jsonl")
    expect_run([*arguments, "--format", "kubernetes-audit", real], folder(),
               has=["1 pod was on no node at its end", "1 event holds nothing"])
    # Without answers nobody knows what happened: no hour is guessed.
    blind = folder()
    (blind / "b.log").write_text(log[1] + log[2] + event("09:00:00", "patch", "pods", "train", level="Request") +
                                 event("09:00:00", "delete", "pods", "chat", level="Metadata"))
    expect_run([*arguments, "b.log"], blind, has=["2 pods are left out", "delete of pods at level Metadata"])


def price_tiers():
    """How nodes were bought, who submitted a job, its image and its tasks, in costs and in activity."""
    cwd = folder()
    (cwd / "n.csv").write_text(NODES + "".join(
        f"{name},a,A100-SXM4-40GB,4,64,512,2026-03-01,2026-03-03\n" for name in ("n1", "n2", "n3", "n4")))
    columns = "BillingAccountId,BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency," \
              "ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,ChargeCategory," \
              "ResourceId,ServiceCategory,PricingCategory\n"
    # n3 was on demand on its first day, and committed on its second; n4 has no bill.
    bought = [("n1", 1, "Standard"), ("n1", 2, "Standard"), ("n2", 1, "Dynamic"), ("n2", 2, "Dynamic"),
              ("n3", 1, "Standard"), ("n3", 2, "Committed")]
    (cwd / "bill.csv").write_text(columns + "".join(
        f"a,96,96,96,96,USD,2026-03-0{day}T00:00:00Z,2026-03-0{day + 1}T00:00:00Z,2026-03-01T00:00:00Z,"
        f"2026-04-01T00:00:00Z,Usage,{node},Compute,{pricing}\n" for node, day, pricing in bought))
    (cwd / "h.csv").write_text(
        "workload,begin,end,node,devices,user,label:submitter,label:image,label:slurm:ntasks,label:ntasks\n" + "".join(
            f"w-{node},2026-03-01T12:00:00Z,2026-03-02T12:00:00Z,{node},2,{who},99\n" for node, who in
            (("n1", "ann,,,8"), ("n2", "svc,ci,vllm:1,"), ("n3", "bo,,,2"), ("n4", "bo,,,many"))))
    expect_run(["import", "--cluster", "c", "n.csv", "h.csv"], cwd)
    expect_run(["import", "bill.csv"], cwd)
    expect_run(["allocate", "--month", "2026-03"], cwd)
    costs = {row["price_tier"]: (row["effective_cost"], row["gpu_hours_exact"], row["idle_gpu_hours_exact"])
             for row in rows(["--by", "price_tier"], cwd)}
    # 3 days of 4 GPUs on demand, 2 at spot, 1 committed; 2 of the 4 held for 36, 24 and 12 hours.
    expect(costs == {"on_demand": ("288", "72", "216"), "spot": ("192", "48", "144"),
                     "committed": ("96", "24", "72")}, f"price tiers: {costs}")
    spot, = rows(["--by", "workload,kind", "--filter", "price_tier=spot", "--filter", "kind=used"], cwd)
    expect(spot["effective_cost"] == "48" and spot["workload"] == "w-n2", f"spot: {spot}")
    for arguments in (["--by", "submitter"], ["--by", "image"]):
        expect_run(["report", *arguments], cwd, code=2, has=["is a dimension of holdings", "{from: ["])
    capacity = {row["price_tier"]: (row["gpu_capacity_hours_exact"], row["gpu_hours_exact"]) for row in
                rows(["--as", "activity", "--by", "price_tier"], cwd)}
    expect(capacity == {"on_demand": ("192", "48"), "spot": ("192", "48"), "mixed": ("192", "48"),
                        "(none)": ("192", "48")}, f"capacity by price tier: {capacity}")
    second = {row["price_tier"]: row["gpu_hours_exact"] for row in
              rows(["--as", "activity", "--by", "price_tier", "--from", "2026-03-02"], cwd)}
    expect(second == {"on_demand": "24", "spot": "24", "committed": "24", "(none)": "24"},
           f"price tiers of the second day: {second}")
    got, _ = expect_run(["usage", "--by", "price_tier", "--from", "2026-03-01", "--to", "2026-03-02",
                         "--format", "csv"], cwd)
    expect(sorted(line.split(",")[0] for line in got.splitlines()[1:]) ==
           ["(none)", "mixed", "on_demand", "spot"], f"usage by price tier: {got}")
    whose = {(row["submitter"], row["image"]): row["tasks_started"] for row in
             rows(["--as", "activity", "--by", "submitter,image"], cwd)}
    expect(whose == {("ann", "(none)"): "8", ("ci", "vllm:1"): "", ("bo", "(none)"): "2"}, f"whose: {whose}")
    expect_run(["report", "--as", "activity"], cwd, has=["2 holdings that began and do not say how many tasks"])
    # The answer to sacct's steps, and an export without them, are the same jobs.
    head = "JobID|State|Start|End|AllocTRES|NodeList|NTasks\n"
    times = "COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00"
    (cwd / "steps.psv").write_text(head + f"1|{times}|gres/gpu=2|n1|\n1.extern|{times}||n1|2\n"
                                   f"1.0|{times}||n1|16\n1.1|{times}||n1|4\n")
    (cwd / "jobs.psv").write_text(head.replace("|NTasks", "") + f"1|{times}|gres/gpu=2|n1\n")
    expect_run(["import", "--cluster", "s", "steps.psv"], cwd, has=["1 holding: 1 new"])
    expect_run(["import", "--cluster", "s", "jobs.psv"], cwd, has=["1 already there"])
    job, = rows(["--as", "activity", "--filter", "cluster=s"], cwd)
    expect(job["tasks_started"] == "16", f"tasks: {job}")


def old_defects():
    cwd = folder()
    # Programs that write the XML anew pad its values.
    with open(os.path.join(ROOT, "tests", "data", "nvidia_smi", "tesla-t4.xml")) as file:
        xml = file.read()
    (cwd / "plain.xml").write_text(xml)
    (cwd / "padded.xml").write_text(re.sub(r">([^<>\n]+)</", r"> \1 </", xml))
    out = []
    for name in ("plain.xml", "padded.xml"):
        here = folder()
        expect_run(["import", "--cluster", "c", "--node", "n1", str(cwd / name)], here,
                   has=["1 GPU: 1 new", "1 usage sample: 1 new"])
        got, _ = expect_run(["usage", "--by", "gpu", "--from", "2023-04-24", "--to", "2023-04-24",
                             "--format", "csv"], here)
        out.append(got)
    expect(out[0] == out[1] and "GPU-d37e67a5" in out[0] and ",0.0" in out[0],
           f"padded XML differs: {out}")
    # A job that comes again with other content is not kept, and its hours are not told as kept.
    head = "JobID|State|Start|End|AllocTRES|NodeList\n"
    for gpus in (2, 4):
        (cwd / "jobs.psv").write_text(head + "1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|"
                                      f"gres/gpu={gpus}|n1\n")
        code, said, aside = run(["import", "--cluster", "s", "jobs.psv"], cwd)
        expect(code == (1 if gpus == 4 else 0) and ("not kept" in said) == (gpus == 4),
               f"{gpus} GPUs: {code}: {said}{aside}")
    # A month of the zone, by its days and as one row.
    (cwd / "pennyweight.yaml").write_text("policy:\n  time_zone: Asia/Tokyo\n")
    (cwd / "h.csv").write_text("workload,begin,end,node,devices\n"
                               "w,2026-03-31T12:00:00Z,2026-03-31T18:00:00Z,n1,1\n")
    expect_run(["import", "--cluster", "z", "h.csv"], cwd)
    months = {row["from"]: row["gpu_hours_exact"] for row in
              rows(["--as", "activity", "--every", "month", "--filter", "cluster=z"], cwd)}
    expect(months == {"2026-03-01": "3", "2026-04-01": "3"}, f"months of Tokyo: {months}")
    for month, hours in (("2026-03", "3"), ("2026-04", "3")):
        row, = rows(["--as", "activity", "--month", month, "--filter", "cluster=z"], cwd)
        expect(row["gpu_hours_exact"] == hours, f"{month} in Tokyo: {row}")
    # A month of ten nodes without a price is one warning, and of two days of one that was ended two lines.
    (cwd / "n.csv").write_text(NODES + "".join(f"x{i},a,Unheard Of 9000,4,64,512,2026-03-01,\n" for i in range(10)))
    node = "node,instance_type,gpu_model,gpu_count,from,to\ny1,p5.48xlarge,NVIDIA H100 80GB HBM3,8,2026-03-01,"
    (cwd / "y.csv").write_text(node + "\n")
    (cwd / "card.csv").write_text("instance_type,unit,price,currency\np5.48xlarge,Hours,98.32,USD\n")
    expect_run(["import", "--cluster", "p", "n.csv", "y.csv"], cwd)
    price = ["price", "--month", "2026-03", "--rate-card", "card.csv"]
    code, out, said = run(price, cwd)
    expect(code == 0 and said.count("warning") == 1 and "10 nodes, such as x0" in said and
           "31 lines: 31 new" in out and "73,150.08 USD" in out, f"price: {code}: {out}{said}")
    (cwd / "y.csv").write_text(node + "2026-03-03\n")
    expect_run(["import", "--cluster", "p", "y.csv"], cwd)
    expect_run(price, cwd, has=["2 lines: 0 new, 2 already there, 29 retired", "4,719.36 USD"])


held_nothing()
efficiency()
two_devices()
kinds_of_device()
suspended()
more_formats()
audit_log()
price_tiers()
old_defects()
activity()
measures()
pbs()
contradictions()
ended_node()
captures()
kubectl()
report("figures")
