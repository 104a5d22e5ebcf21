"""Jobs and hours of report --as, captures without a time, objects of kubectl, sacct without a header,
and a node that is ended."""
import csv
import io
import json
import os
from fractions import Fraction

from harness import ROOT, expect, expect_run, folder, report

JOBS = ["1|alice|ml|COMPLETED|2026-03-28T20:00:00|2026-03-29T04:00:00|cpu=8,mem=64G,gres/gpu=2|n1",
        "2|bob|ml|FAILED|2026-03-29T01:00:00|2026-03-29T01:30:00|cpu=4,mem=8G,gres/gpu=1|n2",
        "3_1|alice|vision|COMPLETED|2026-03-30T00:00:00|2026-03-30T02:00:00|cpu=60,gres/gpu=4|n1,n2"]
COLUMNS = "JobID%20,User,Account,State,Start,End,AllocTRES,NodeList"
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
contradictions()
ended_node()
captures()
kubectl()
report("figures")
