"""Nodes that are cut into MIG instances in a part of each day: who waits for whom, worked out by hand."""
import json
from decimal import Decimal

from harness import expect, expect_run, folder, report

HEADER = "JobID|JobName|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|NodeList\n"


def job(number, team, gpus, begin, end, node):
    minutes = [int(time[:2]) * 60 + int(time[3:]) for time in (begin, end)]
    begin, end = (f"2026-03-01T{time}:00" for time in (begin, end))
    return (f"{number}|run|gpu|{team}|ana|COMPLETED|{begin}|{begin}|{end}|{(minutes[1] - minutes[0]) * 60}|1|{gpus}|"
            f"billing={gpus},cpu={gpus},gres/gpu={gpus},mem={gpus}G,node=1|{node}\n")


def ledger(in_order):
    """The same facts, in an order of `in_order`."""
    cwd = folder()
    for name, text in FILES.items():
        header, *rows = text.splitlines(keepends=True)
        (cwd / name).write_text(header + "".join(in_order(rows)))
    expect_run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-02",
                "--prices-as-of", "2026-07-20", "--out", "bill.csv"], cwd)
    header, *rows = (cwd / "bill.csv").read_text().splitlines(keepends=True)
    (cwd / "bill.csv").write_text(header + "".join(in_order(rows)))
    expect_run(["import", "--cluster", "lab", *in_order(["nodes.csv", "jobs.txt", "bill.csv"])], cwd)
    return cwd


# Seven notebooks come at seven; trainings before the morning, at ten, and before the evening.
FILES = {
    "pennyweight.yaml": "clusters:\n  - {name: lab, kind: slurm, time_zone: UTC}\n",
    "nodes.csv": "cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,from,to\n" + "".join(
        f"lab,a-{i},i-{i},p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,2026-03-01T00:00:00Z,2026-03-03T00:00:00Z\n"
        for i in (1, 2)),
    "jobs.txt": HEADER + job(1, "train", 8, "06:00", "06:30", "a-1") + job(2, "train", 4, "06:00", "09:00", "a-2") +
    "".join(job(10 + i, "nb", 1, "07:00", "08:00", "a-1") for i in range(7)) +
    job(3, "train", 8, "10:00", "11:00", "a-1") + job(4, "train", 8, "10:00", "11:00", "a-2") +
    job(5, "train", 8, "19:30", "20:30", "a-1") + job(6, "train", 8, "19:30", "20:30", "a-2"),
}
cwd = ledger(list)


def replay(*options):
    """The rows of jobs and of costs by team, and when each job started."""
    files = f"files-{len(list(cwd.glob('files-*')))}"
    tables = json.loads(expect_run(["replay", *options, "--files", files, "--format", "json"], cwd)[0])
    jobs = {row["figure"]: row["what_if"] for row in tables[1]["rows"]}
    exact = {row["figure"]: Decimal(row["what_if"]) for row in tables[3]["rows"] if row["team"] == "(all)" and row["what_if"]}
    parts = sum(exact[figure] for figure in ("held", "idle", "unavailable", "off", "starting"))
    expect(parts == exact["capacity"] == 2 * 8 * 48 * 3600, f"{parts} of {exact['capacity']}")
    for column in ("as_it_was", "what_if"):
        expect(sum(Decimal(row[column]) for row in tables[4]["rows"]) == Decimal(tables[4]["total"][column]), f"{tables[4]}")
    expect(tables[4]["total"]["as_it_was"] == tables[4]["total"]["what_if"], f"the same bill: {tables[4]['total']}")
    lines = (cwd / files / "workloads.csv").read_text().splitlines()
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","))) for line in lines[1:]]
    return jobs, {row["workload"]: row["started"][11:16] for row in rows}, tables[4]


NOTEBOOKS = [str(10 + i) for i in range(7)]
# By day the second node is cut. At eight a training still has half of it, so the notebooks start at nine, seven on one
# GPU. At ten one training finds a whole node and the other waits for it; in the evening one waits till eight.
jobs, started, costs = replay("--slice", "nb=1g.5gb", "--mig-nodes", "1=1g.5gb/08:00-20:00")
expect({started[name] for name in NOTEBOOKS} == {"09:00"}, f"{started}")
expect([started[name] for name in "123456"] == ["06:00", "06:00", "10:00", "11:00", "19:30", "20:00"], f"{started}")
expect(jobs["changes of layout"] == "2" and jobs["GPU-hours idle before them"] == "4.00", f"{jobs}")
nb = next(row for row in costs["rows"] if row["team"] == "nb")
expect(Decimal(nb["what_if"]) * 7 - Decimal(nb["as_it_was"]) < Decimal("1e-9"), f"a seventh: {nb}")
# Cut all day there is one whole node; the notebooks don't wait.
jobs, started, _ = replay("--slice", "nb=1g.5gb", "--mig-nodes", "1=1g.5gb")
expect({started[name] for name in NOTEBOOKS} == {"07:00"}, f"{started}")
expect([started[name] for name in "123456"] == ["06:00", "06:30", "10:00", "11:00", "19:30", "20:30"], f"{started}")
expect("changes of layout" not in jobs, f"{jobs}")
# Whoever may start only while no node is cut never starts, and is counted.
jobs, started, _ = replay("--slice", "nb=1g.5gb", "--mig-nodes", "1=1g.5gb/08:00-20:00", "--off-peak", "nb=21:00-22:00")
expect(jobs["never start"] == "7" and all(started[name] == "" for name in NOTEBOOKS), f"{jobs}, {started}")
# Threads change nothing, nor does the order in which the ledger got its facts.
BY_DAY = ["replay", "--slice", "nb=1g.5gb", "--mig-nodes", "1=1g.5gb/08:00-20:00", "--format", "json"]
backwards = ledger(lambda rows: rows[::-1])
expect(expect_run(BY_DAY, backwards)[0] == expect_run(BY_DAY, cwd)[0], "order of the input")
runs = [expect_run(["replay", "--slice", "nb=1g.5gb", "--mig-nodes", "1=1g.5gb/08:00-20:00", "--threads", threads], cwd)[0]
        for threads in ("1", "4")]
expect(runs[0] == runs[1], "threads")

SLICE = ["--slice", "nb=1g.5gb"]
for options, text in [(["--mig-nodes", "1=1g.5gb"], "belongs to --slice"),
                      ([*SLICE, "--mig-nodes", "3=1g.5gb"], "3 nodes can't be cut into 1g.5gb: there are 2"),
                      ([*SLICE, "--mig-nodes", "1=1g.5gb", "--mig-nodes", "2=1g.5gb/08:00-20:00"], "2 nodes can't be cut"),
                      ([*SLICE, "--mig-nodes", "1=3g.20gb"], "no job has a slice 3g.20gb"),
                      ([*SLICE, "--mig-nodes", "1=9g.5gb"], "there are 0"),
                      ([*SLICE, "--mig-nodes", "1=1g.5gb/08:00"], "--mig-nodes '1=1g.5gb/08:00'"),
                      ([*SLICE, "--mig-nodes", "0=1g.5gb"], "--mig-nodes '0=1g.5gb'"),
                      ([*SLICE, "--mig-nodes", "1=1g.5gb:model=T4"], "1 node can't be cut into 1g.5gb: there are 0"),
                      ([*SLICE, "--mig-nodes", "1=1g.5gb", "--spot", "2%"], "can't be combined with --spot"),
                      ([*SLICE, "--mig-nodes", "1=1g.5gb", "--fewest-nodes", "60"], "can't be combined with --fewest-nodes")]:
    expect_run(["replay", *options], cwd, code=2, has=[text])
report("what_if_layouts")
