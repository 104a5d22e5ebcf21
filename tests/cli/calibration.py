"""The replay of what really ran comes near what was: queues and utilisation of three clusters.

  helios  virtual cluster 6YE of SenseTime's Helios, cluster Earth, May 2020 (208 GPUs): its record by the
          minute says how many GPUs ran and waited, so arrivals, begins and ends follow from it, without
          saying whose they are
  slurm   a month of a simulated Slurm cluster: another scheduler, written here, with its main and backfill
          cycles and time limits, on jobs of the Philly trace
  philly  two weeks of Microsoft's Philly cluster: it does not say when jobs were submitted

"""
import csv
import datetime
import json
import math
import pathlib
import random
from decimal import Decimal

from harness import ROOT, expect, expect_run, folder, report

data = pathlib.Path(ROOT) / "data/demo"
CYCLE_S = 30  # of Slurm's backfill
EPOCH = datetime.datetime(2020, 5, 1)


def at(second):
    return (EPOCH + datetime.timedelta(seconds=second)).isoformat()


def ledger(name, jobs, nodes, gpus, until):
    """A cluster with these jobs: (id, user, gpus, node list, submit, begin, end, limit in minutes)."""
    cwd = folder()
    (cwd / "pennyweight.yaml").write_text(f"clusters:\n  - {{name: {name}, kind: slurm, time_zone: UTC}}\n")
    (cwd / "nodes.csv").write_text(
        "cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,from,to\n" +
        "".join(f"{name},node{i},i-{i},p4d.24xlarge,us-east-1,A100-SXM4-40GB,{gpus},2020-05-01T00:00:00Z,"
                "2020-06-05T00:00:00Z\n" for i in range(nodes)))
    with open(cwd / "jobs.txt", "w") as file:
        file.write("JobIDRaw|Partition|Account|User|State|Submit|Eligible|Start|End|TimelimitRaw|AllocTRES\n")
        for number, user, held, submit, begin, end, limit in jobs:
            # One in ten was submitted half a day earlier, with --begin: it waits for GPUs from then on only.
            submitted = max(0, submit - 43_200) if number % 10 == 0 else submit
            file.write(f"{number}|gpu|{user}|{user}|COMPLETED|{at(submitted)}|{at(submit)}|{at(begin)}|{at(end)}|{limit}|"
                       f"billing={held},cpu={held},gres/gpu={held},node=1\n")
    expect_run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2020-05-01", "--to", until,
                "--prices-as-of", "2025-06-01", "--out", "bill.csv"], cwd)
    expect_run(["import", "--cluster", name, "nodes.csv", "jobs.txt", "bill.csv"], cwd)
    return cwd


def seconds(text):
    total, words = 0, text.split()
    for number, unit in zip(words[::2], words[1::2]):
        total += int(number) * {"h": 3600, "min": 60, "s": 1}[unit]
    return total


def calibration(cwd, name, *options, month="2020-05"):
    """(was, replayed) of GPU-hours, and of the waits in seconds."""
    out, _ = expect_run(["replay", "--month", month, "--cluster", name, *options, "--format", "json"], cwd)
    rows = {row["figure"]: row for row in json.loads(out)[0]["rows"]}
    print(f"{name}: " + "; ".join(
        f"{figure} {row['as_it_was']} -> {row['replayed_as_it_was']} (off by {row['off_by']})"
        for figure, row in rows.items()))

    def pair(figure, of):
        return of(rows[figure]["as_it_was"]), of(rows[figure]["replayed_as_it_was"])
    return {"held": pair("GPU-hours held", lambda text: Decimal(text.replace(",", ""))),
            "p50": pair("wait, p50", seconds), "p95": pair("wait, p95", seconds)}


def helios_jobs():
    """Jobs that give exactly the record: of each size class, more demand is an arrival, less is an end,
    and what runs more without having come is a begin. Whoever waits longest begins, whoever runs
    longest ends; a job is cut in two where the record needs it."""
    with open(pathlib.Path(ROOT) / "tests/data/replay/helios_vc6YE.csv") as file:
        record = list(csv.DictReader(file))
    jobs, end_of_month = [], 31 * 86_400
    for size in ("8_or_more", "fewer"):
        largest = 64 if size == "8_or_more" else 7
        waiting, running = [], []  # [gpus, submit] and [gpus, submit, begin], the oldest first

        def end(amount, now):
            while amount > 0:
                held, submit, begin = running[0]
                part = min(held, amount)
                jobs.append((part, submit, begin, now))
                running[0][0] -= part
                amount -= part
                if running[0][0] == 0:
                    running.pop(0)

        was_running = was_demand = 0
        for row in record:
            now = int((datetime.datetime.fromisoformat(row["time"]) - EPOCH).total_seconds())
            is_running, demand = int(row["running_" + size]), int(row["running_" + size]) + int(row["pending_" + size])
            arrived, ended = max(0, demand - was_demand), max(0, was_demand - demand)
            began = is_running - was_running + ended
            if began < 0:
                arrived, ended, began = arrived - began, ended - began, 0
            end(min(ended, was_running), now)
            gone = ended - min(ended, was_running)  # cancelled while they waited
            while gone > 0:
                part = min(waiting[-1][0], gone)
                waiting[-1][0] -= part
                gone -= part
                began -= part
                if waiting[-1][0] == 0:
                    waiting.pop()
            while arrived > 0:
                waiting.append([min(arrived, largest), now])
                arrived -= waiting[-1][0]
            while began > 0:
                part = min(waiting[0][0], began)
                running.append([part, waiting[0][1], now])
                waiting[0][0] -= part
                began -= part
                if waiting[0][0] == 0:
                    waiting.pop(0)
            was_running, was_demand = is_running, demand
        end(sum(held for held, _, _ in running), end_of_month)
    jobs.sort(key=lambda job: (job[1], job[2], job[3], job[0]))
    return [(number, f"user{number % 7}", held, submit, begin, finish, math.ceil((finish - begin) / 60))
            for number, (held, submit, begin, finish) in enumerate(jobs, 1)]


def slurm_jobs(nodes, gpus, count):
    """Slurm's builtin order with backfill, on jobs of Philly: jobs begin at once when they arrive or
    another ends, in their order; behind one that is blocked, every CYCLE_S whoever fits elsewhere, or ends
    by its limit before that one is expected to begin."""
    lines = (data / "philly-sacct.txt").read_text().splitlines()
    names = lines[0].split("|")
    rows = [dict(zip(names, line.split("|"))) for line in lines[1:]]
    draw = random.Random(11)
    wanted = []
    for row in draw.sample(rows, count):
        length = int((datetime.datetime.fromisoformat(row["End"]) - datetime.datetime.fromisoformat(row["Start"])).total_seconds())
        size = int(row["AllocTRES"].split("gres/gpu=")[1].split(",")[0])
        if size > gpus or length < 60:
            continue
        length = min(length, 86_400)
        limit = math.ceil(length * draw.choice((1, 1.5, 2, 4)) / 60)
        wanted.append([draw.randrange(28 * 86_400), size, length, limit, row["Account"]])
    wanted.sort()
    free, queue, running, jobs = [gpus] * nodes, [], [], []
    coming = list(enumerate(wanted, 1))
    now = next_cycle = 0

    def fit(size, but=None):
        room = [(left, node) for node, left in enumerate(free) if left >= size and node != but]
        return min(room)[1] if room else None

    def start(number, job, node):
        free[node] -= job[1]
        running.append((now + job[2], now + job[3] * 60, node, job[1]))
        jobs.append((number, job[4], job[1], job[0], now, now + job[2], job[3]))

    def expected(size):
        """When and where the first of the queue begins, by the limits."""
        left = list(free)
        for _, by_limit, node, held in sorted(running, key=lambda run: run[1]):
            left[node] += held
            if left[node] >= size:
                return by_limit, node
        raise AssertionError("it fits an empty node")

    while coming or queue:
        times = [coming[0][1][0]] if coming else []
        times += [min(run[0] for run in running)] if running else []
        if queue:
            times.append(next_cycle)
        now = max(now, min(times))
        for run in [run for run in running if run[0] <= now]:
            running.remove(run)
            free[run[2]] += run[3]
        while coming and coming[0][1][0] <= now:
            queue.append(coming.pop(0))
        while queue and (node := fit(queue[0][1][1])) is not None:
            start(*queue.pop(0), node)
        if now >= next_cycle:
            next_cycle = now + CYCLE_S
            if queue:
                shadow, reserved = expected(queue[0][1][1])
                for entry in queue[1:501]:
                    ends_before = now + entry[1][3] * 60 <= shadow
                    node = fit(entry[1][1], None if ends_before else reserved)
                    if node is not None:
                        queue.remove(entry)
                        start(*entry, node)
        elif not queue:
            next_cycle = now
    return jobs


def near(what, figures, held_percent, share, floor_s):
    was, replayed = figures["held"]
    expect(abs(was - replayed) * 100 <= was * held_percent, f"{what}: GPU-hours {was}, replayed {replayed}")
    for wait in ("p50", "p95"):
        was, replayed = figures[wait]
        expect(abs(was - replayed) <= max(floor_s, was * share), f"{what}: {wait} {was} s, replayed {replayed} s")


# Helios: 26 nodes of 8 GPUs. What the record says it held comes out to the minute.
jobs = helios_jobs()
held = sum(Decimal(job[2]) * (job[5] - job[4]) / 3600 for job in jobs)
expect(abs(held - Decimal("139726.1833")) < Decimal("0.01"), f"the record holds 139,726.18 GPU-hours, the jobs {held}")
helios = ledger("earth", jobs, 26, 8, "2020-06-01")
figures = calibration(helios, "earth", "--calibrate-blocked", "skip")
near("helios", figures, 2, Decimal("0.25"), 120)

# Slurm: 3 nodes of 8 GPUs.
slurm = ledger("lab", slurm_jobs(3, 8, 4400), 3, 8, "2020-06-01")
figures = calibration(slurm, "lab", "--calibrate-blocked", "backfill", "--calibrate-lengths", "limit")
near("slurm", figures, 1, Decimal("0.25"), 120)
expect(figures["p95"][0] > 600, f"jobs do wait in the simulated month: {figures}")
# Another scheduling than that which ran is further off.
expect_run(["replay", "--month", "2020-05", "--calibrate-blocked", "wait", "--error-max", "100"], slurm, code=1,
           has=["jobs wait at most", "--wait-error-max"])
wrong = calibration(slurm, "lab", "--calibrate-blocked", "wait", "--error-max", "100", "--wait-error-max", "1000000")
expect(abs(wrong["p95"][0] - wrong["p95"][1]) > abs(figures["p95"][0] - figures["p95"][1]), f"wait: {wrong}, backfill: {figures}")

# Philly: nothing says when its jobs were submitted, so all that can be shown is that the replay needs no
# waiting for them, and holds the same.
philly = folder()
(philly / "pennyweight.yaml").write_text("clusters:\n  - {name: philly, kind: slurm, time_zone: UTC}\n")
expect_run(["generate", "bill", "--nodes", data / "philly-nodes.csv", "--from", "2017-10-01", "--to", "2017-11-01",
            "--prices-as-of", "2025-06-01", "--out", "bill.csv"], philly)
expect_run(["import", "--cluster", "philly", data / "philly-nodes.csv", data / "philly-sacct.txt", "bill.csv"], philly)
near("philly", calibration(philly, "philly", month="2017-10"), 1, Decimal("0"), 60)

report("calibration")
