"""Traces of real clusters, every measure by day, queue and user: equal to what is worked out here from
the traces' own rows, in whole units and milliseconds.

Muri's traces (SIGCOMM'22) are of Microsoft's Philly: 1,494 and 992 jobs of up to 16 GPUs. The job's
model stands for its user, and its priority for its queue; CPUs and memory, which they lack, are
given by its GPUs. In `muri_trace1_pr.csv` all are submitted at once. SARC's are of three Slurm
clusters of Mila and the Alliance. Helios' (SenseTime) are of three virtual clusters in May 2020, of
which each minute's GPUs in use are known: what rises is a job that begins, of its class of size, and
what falls ends the youngest. Philly's own 24,134 jobs come as sacct, and openb's pods (Alibaba)
share GPUs; both are those of the demonstration.
"""
import collections
import csv
import datetime
import io
import json
import os
import zoneinfo
from fractions import Fraction

from harness import ROOT, expect, expect_run, folder, report

DATA = os.path.join(ROOT, "tests", "data")
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
UTC = datetime.timezone.utc
MEASURES = {"cpu": "cpu_hours", "gpu": "gpu_hours", "gib": "memory_gib_hours", "wall": "wall_hours",
            "node": "node_hours", "device": "device_hours", "started": "jobs_started",
            "ended": "jobs_ended", "running": "jobs_running", "wait": "wait_hours"}


def instant(ms):
    return datetime.datetime.fromtimestamp(ms // 1000, UTC) + datetime.timedelta(milliseconds=ms % 1000)


def iso(ms):
    return instant(ms).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z"


def days_of(begin, end):
    """(local date, begin, end) of each local day in [begin, end), in milliseconds."""
    while begin < end:
        date = instant(begin).astimezone(BERLIN).date()
        midnight = datetime.datetime.combine(date + datetime.timedelta(days=1), datetime.time(), BERLIN)
        until = min(end, int(midnight.timestamp() * 1000))
        yield str(date), begin, until
        begin = until


def truth(jobs, by):
    """The measures of jobs by day and by `by`, with hours as fractions."""
    rows = collections.defaultdict(lambda: collections.defaultdict(Fraction))
    for job in jobs:
        for day, begin, end in days_of(job["begin"], job["end"]):
            row = rows[(day, *(job[name] for name in by))]
            hours = Fraction(end - begin, 3_600_000)
            for name in ("cpu", "gpu", "gib", "node"):
                row[name] += job[name] * hours
            row["device"] += job.get("device", job["gpu"]) * hours
            row["wall"] += hours
            row["running"] += 1
            if begin == job["begin"]:
                row["started"] += 1
                row["wait"] += Fraction(job["begin"] - job["submit"], 3_600_000)
            if end == job["end"] and job["ended"]:
                row["ended"] += 1
    return rows


def compare(cwd, jobs, by, what, *more):
    arguments = ["report", "--as", "activity", "--every", "day", "--format", "csv", *more]
    out, _ = expect_run([*arguments, *(["--by", ",".join(by)] if by else [])], cwd)
    got = {tuple([row["from"], *(row[name] for name in by)]): row
           for row in csv.DictReader(io.StringIO(out))}
    want = truth(jobs, by)
    expect(set(got) == set(want), f"{what}: rows {sorted(set(got) ^ set(want))[:5]}")
    wrong = []
    for key, measures in want.items():
        for name, column in MEASURES.items():
            text = got.get(key, {}).get(column + "_exact", got.get(key, {}).get(column, "0")) or "0"
            if Fraction(text) != measures[name]:
                wrong.append((key, column, text, str(measures[name])))
    expect(not wrong, f"{what}: {len(wrong)} figures differ, as {wrong[:3]}")
    return len(want) * len(MEASURES)


def muri(name):
    cwd = folder()
    (cwd / "pennyweight.yaml").write_text("policy:\n  time_zone: Europe/Berlin\n")
    first = int(datetime.datetime(2026, 3, 28, 21, 0, 0, tzinfo=UTC).timestamp() * 1000)
    jobs = []
    with open(os.path.join(DATA, "replay", name)) as file:
        for row in csv.DictReader(file):
            gpus = int(row["num_gpu"])
            # In microseconds; a job of less than a millisecond would hold nothing.
            submit = first + int(row["submit_time"]) // 1000
            begin = submit + 1000 * (int(row["job_id"]) % 7)
            jobs.append({"id": row["job_id"], "gpu": gpus, "cpu": 4 * gpus, "gib": 32 * gpus, "node": 1,
                         "submit": submit, "begin": begin, "ended": True,
                         "end": begin + max(1, int(row["duration"]) // 1000),
                         "label:user": row["model_name"], "label:queue": "p" + row["priority"]})
    with open(cwd / "h.csv", "w") as file:
        file.write("workload,begin,end,node,devices,vcpu,memory_gib,user,label:queue,label:submit_time\n")
        for job in jobs:
            file.write(f"{job['id']},{iso(job['begin'])},{iso(job['end'])},n{int(job['id']) % 50},"
                       f"{job['gpu']},{job['cpu']},{job['gib']},{job['label:user']},"
                       f"{job['label:queue']},{iso(job['submit'])}\n")
    expect_run(["import", "--cluster", "muri", "h.csv"], cwd, has=[f"{len(jobs):,} holdings"])
    compared = sum(compare(cwd, jobs, by, f"{name} by {by}")
                   for by in ([], ["label:user"], ["label:queue"], ["label:user", "label:queue"]))
    days = {day for day, in truth(jobs, [])}
    print(f"{name}: {len(jobs):,} jobs over {len(days)} days, {compared:,} figures")


def sarc(name):
    cwd = folder()
    (cwd / "pennyweight.yaml").write_text("policy:\n  time_zone: Europe/Berlin\n")
    path = os.path.join(DATA, "slurm", name)
    jobs = []
    with open(path) as file:
        for job in json.load(file)["jobs"]:
            begin, elapsed = job["time"]["start"], job["time"]["elapsed"]
            if not begin or not elapsed:
                continue
            allocated = collections.Counter()
            for entry in job["tres"]["allocated"]:
                allocated[entry["type"] if entry["type"] != "gres" else entry["name"]] += entry["count"]
            gpus = allocated["gpu"] or sum(count for what, count in allocated.items()
                                           if what.startswith("gpu:"))
            jobs.append({"gpu": gpus, "cpu": allocated["cpu"], "gib": Fraction(allocated["mem"], 1024),
                         "node": allocated["node"], "submit": job["time"]["submission"] * 1000,
                         "begin": begin * 1000, "end": (begin + elapsed) * 1000,
                         "ended": job["time"]["end"] != 0, "slurm_account": job["account"],
                         "label:user": job["user"], "partition": job["partition"]})
    expect_run(["import", "--cluster", "sarc", path], cwd, has=["Slurm accounting"])
    compared = sum(compare(cwd, jobs, by, f"{name} by {by}")
                   for by in (["slurm_account"], ["label:user"], ["partition"]))
    print(f"{name}: {len(jobs)} jobs, {compared} figures")


# GPU-hours there, in use and idle of Helios' virtual clusters, added up minute by minute from its own
# rows, of which the files here have the changes.
HELIOS = {"vcJkd": ("11904", "101.1333", "11802.8667"), "vcgkz": ("5952", "5415.4667", "536.5333"),
          "vcvlY": ("71424", "48130.9667", "23293.0333")}


def helios_jobs(name):
    """The jobs of a virtual cluster, and how many GPUs it has."""
    may, june = (datetime.datetime(2020, month, 1, tzinfo=UTC).timestamp() * 1000 for month in (5, 6))
    jobs, running, gpus = [], {"running_8_or_more": [], "running_fewer": []}, set()

    def stop(size, job, at):
        gpu, begin = job
        jobs.append({"id": f"{name}-{len(jobs)}", "gpu": gpu, "cpu": 6 * gpu, "gib": 48 * gpu, "node": 0,
                     "submit": begin, "begin": begin, "end": at, "ended": True, "pool": name,
                     "label:user": size})

    with open(os.path.join(DATA, "replay", f"helios_{name}.csv")) as file:
        for row in csv.DictReader(file):
            at = int(datetime.datetime.fromisoformat(row["time"]).replace(tzinfo=UTC).timestamp()) * 1000
            gpus.add(int(row["gpus"]))
            for size, stack in running.items():
                change = int(row[size]) - sum(gpu for gpu, _ in stack)
                if change > 0:
                    stack.append((change, at))
                while change < 0:
                    gpu, begin = stack.pop()
                    stop(size, (min(gpu, -change), begin), at)
                    if gpu + change > 0:
                        stack.append((gpu + change, begin))
                    change += gpu
    for size, stack in running.items():
        for job in stack:
            stop(size, job, int(june))
    expect(len(gpus) == 1, f"{name}: its GPUs change: {gpus}")
    return [job for job in jobs if job["begin"] >= may], gpus.pop()


def helios():
    """Jobs anywhere in the pool of their virtual cluster; and what the pools have."""
    cwd = folder()
    (cwd / "pennyweight.yaml").write_text("policy:\n  time_zone: Europe/Berlin\n")
    jobs = []
    with open(cwd / "n.csv", "w") as nodes, open(cwd / "h.csv", "w") as holdings:
        nodes.write("node,pool,gpu_model,gpu_count,vcpu,memory_gib,from,to\n")
        holdings.write("workload,begin,end,pool,devices,vcpu,memory_gib,user,label:submit_time\n")
        for name in HELIOS:
            found, gpus = helios_jobs(name)
            jobs += found
            for i in range(gpus // 8):
                nodes.write(f"{name}-n{i},{name},Tesla V100,8,48,384,2020-05-01,2020-06-01\n")
            for job in found:
                holdings.write(f"{job['id']},{iso(job['begin'])},{iso(job['end'])},{name},{job['gpu']},"
                               f"{job['cpu']},{job['gib']},{job['label:user']},{iso(job['submit'])}\n")
    expect_run(["import", "--cluster", "earth", "n.csv"], cwd)
    expect_run(["import", "--cluster", "earth", "h.csv"], cwd, has=[f"{len(jobs):,} holdings"])
    compared = sum(compare(cwd, jobs, by, f"helios by {by}")
                   for by in (["label:user"], ["pool", "label:user"]))
    out, _ = expect_run(["report", "--as", "activity", "--by", "pool", "--format", "csv"], cwd)
    for row in csv.DictReader(io.StringIO(out)):
        there, used = Fraction(row["gpu_capacity_hours_exact"]), Fraction(row["gpu_hours_exact"])
        got = tuple(f"{float(hours):.4f}".removesuffix(".0000") for hours in (there, used, there - used))
        expect(got == HELIOS.get(row["pool"]), f"{row['pool']}: {got}")
    print(f"helios: {len(jobs):,} jobs, {compared:,} figures")


def philly():
    """sacct without nodes and without memory: jobs of a partition whose node is not known."""
    cwd = folder()
    # The policy's zone is that of the days; the records' times are of the cluster's, UTC.
    (cwd / "pennyweight.yaml").write_text("policy:\n  time_zone: Europe/Berlin\n")
    path = os.path.join(ROOT, "data", "demo", "philly-sacct.txt")
    jobs = []
    with open(path) as file:
        for row in csv.DictReader(file, delimiter="|"):
            begin, end = (int(datetime.datetime.fromisoformat(row[name]).replace(tzinfo=UTC).timestamp())
                          * 1000 for name in ("Start", "End"))
            if begin == end:
                continue
            tres = dict(part.split("=") for part in row["AllocTRES"].split(","))
            jobs.append({"gpu": int(tres["gres/gpu"]), "cpu": int(tres["cpu"]), "gib": 0, "node": 0,
                         "submit": begin, "begin": begin, "end": end, "ended": True,
                         "slurm_account": row["Account"], "label:user": row["User"],
                         "partition": row["Partition"]})
    expect_run(["import", "--cluster", "philly", path], cwd, has=["24,134"])
    compared = sum(compare(cwd, jobs, by, f"philly by {by}")
                   for by in ([], ["slurm_account"], ["label:user"], ["partition"]))
    print(f"philly: {len(jobs):,} jobs, {compared:,} figures")


def openb():
    """Pods with thousandths of GPUs, whose nodes are not known; by QoS, as by queue."""
    cwd = folder()
    (cwd / "pennyweight.yaml").write_text("policy:\n  time_zone: Europe/Berlin\n")
    path = os.path.join(ROOT, "data", "demo", "openb-pods.csv")
    origin = int(datetime.datetime(2023, 1, 1, tzinfo=UTC).timestamp())
    jobs = []
    with open(path) as file:
        for row in csv.DictReader(file):
            if not row["scheduled_time"] or row["scheduled_time"] == row["deletion_time"]:
                continue
            begin, end, submit = (1000 * (origin + int(row[name])) for name in
                                  ("scheduled_time", "deletion_time", "creation_time"))
            gpus = int(row["num_gpu"])
            jobs.append({"gpu": Fraction(gpus * int(row["gpu_milli"] or 0), 1000), "device": gpus,
                         "cpu": Fraction(int(row["cpu_milli"]), 1000), "node": 0,
                         "gib": Fraction(int(row["memory_mib"]), 1024), "submit": submit,
                         "begin": begin, "end": end, "ended": True, "label:qos": row["qos"]})
    expect_run(["import", "--cluster", "openb", "--origin", "2023-01-01", path], cwd,
               has=["1,050 pods were never scheduled"])
    compared = sum(compare(cwd, jobs, by, f"openb by {by}") for by in ([], ["label:qos"]))
    print(f"openb: {len(jobs):,} pods, {compared:,} figures")


for trace in ("muri_trace1.csv", "muri_trace3.csv", "muri_trace1_pr.csv"):
    muri(trace)
helios()
philly()
openb()
for trace in ("sarc_mila_1706227200.json", "sarc_raisin_1716595200.json",
              "sarc_fromage_1708819200.json"):
    sarc(trace)
report("traces")
