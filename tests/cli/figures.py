"""Jobs and hours of report --as, captures without a time, objects of kubectl, sacct without a header,
and a node that is ended."""
import csv
import io
import json
import os
from fractions import Fraction

from harness import ROOT, expect, expect_run, folder, report

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
    expect_run(["report", "--as", "measures"], cwd, code=2, has=["say of which days"])
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
    (cwd / "documents.yaml").write_text(
        "".join("---\napiVersion: v1\nkind: " + each["kind"] + yaml(
            {key: value for key, value in each.items() if key not in ("apiVersion", "kind")}, 0) + "\n"
            for each in items))
    expect_run([*arguments[:-1], "documents.yaml"], cwd, has=["1 already there"])
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


activity()
measures()
pbs()
contradictions()
ended_node()
captures()
kubectl()
report("figures")
