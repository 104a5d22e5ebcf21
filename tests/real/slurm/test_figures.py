#!/usr/bin/env python3
"""What a real Slurm's own `sreport` and `sacct` say of its jobs, and what we say: equal to the second.

usage: test_figures.py PENNYWEIGHT [--jobs 100] [--keep FOLDER]

Jobs of two users run, that many or up to fifteen more: arrays, requeued ones, heterogeneous jobs,
suspended ones, shards, types of MIG, two kinds of device in one job, two nodes, failed, cancelled
while they ran and while they waited. `sreport` knows whole hours that are over, so when all have
ended, slurmdbd is stopped, every time in its database is moved back by the same number of seconds,
so that local midnight falls into the run, and slurmdbd makes its hours and days from them. Then,
for each account and user: seconds of CPU, GPU, each type of GPU, shards, MiB of memory and nodes,
in all and by day; and from `sacct` jobs by state, wall time and waits. Exits 77 where there is no
Slurm or no root.
"""
import collections
import csv
import datetime
import io
import os
import pathlib
import subprocess
import sys
import time
from fractions import Fraction

import cluster

CONF = """
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=50
"""
ACCOUNT_OF = {"games": ["proj-llm"], "news": ["proj-llm", "proj-vision"]}
failures = []
BEGUN = time.monotonic()


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)
    return condition


def say(text):
    print(f"[{time.monotonic() - BEGUN:5.1f} s] {text}", flush=True)


def submit_first(slurm, rounds):
    """Those that run over midnight, or before it."""
    jobs = collections.defaultdict(list)
    for i in range(rounds):
        user = "games" if i % 2 else "news"
        account = ACCOUNT_OF[user][i // 2 % len(ACCOUNT_OF[user])]

        def submit(kind, script, *options, who=user, pays=account):
            jobs[kind].append(slurm.submit(who, pays, script, *options))

        submit("array", "sleep 2", "--gres=gpu:a100:1", "--array=1-3%2", "--cpus-per-task=2")
        submit("whole", "sleep 5", "--gres=gpu:a100:2", "--cpus-per-task=3", "--mem=300")
        submit("shards", "sleep 4", "--gres=shard:3", "--mem=100")
        submit("mig", "sleep 6", "--gres=gpu:a100_3g.20gb:1")
        submit("kinds", "sleep 3", "--gres=gpu:h100:1,gpu:a100_3g.20gb:1", "--cpus-per-task=2")
        submit("nodes", "sleep 3", "--nodes=2", "--ntasks-per-node=2", "--gres=gpu:1")
        submit("fails", "sleep 1; exit 3", "--gres=gpu:h100:1")
        submit("cpu", "sleep 4", "--cpus-per-task=5")
        jobs["het"].append(int(slurm.run(
            "sbatch", "--parsable", "--output=/dev/null", f"--account={account}", "--chdir=/tmp",
            "--gres=gpu:a100:1", "--cpus-per-task=2", ":", "--gres=gpu:h100:1", "--mem=200",
            "--wrap=sleep 3", user=user).split(";")[0]))
        submit("waits", "sleep 1", "--begin=now+1hour", "--gres=gpu:h100:1")
    return jobs


def states(slurm):
    rows = slurm.run("squeue", "--noheader", "--array", "--format=%i %t").split("\n")
    return dict(row.split() for row in rows if row)


def drain(slurm, seconds):
    """Until no job runs or can run."""
    slurm.until("the jobs end", lambda: all(
        state == "PD" and "_" not in job for job, state in states(slurm).items()) and
        slurm.run("squeue", "--noheader", "--states=PD", "--format=%r").split("\n").count("BeginTime")
        == len(states(slurm)), seconds=seconds, every=0.5)


JOBS_PER_ROUND = 16  # an array's tasks and a heterogeneous job's components count as jobs


def names_of(jobs):
    """The JobIDs that sacct has for what submit_first() returned."""
    names = set()
    for kind, ids in jobs.items():
        parts = {"array": ("_1", "_2", "_3"), "het": ("+0", "+1")}.get(kind, ("",))
        names |= {f"{job}{part}" for job in ids for part in parts}
    return names


def run_jobs(slurm, count):
    """Runs `count` jobs or a few more; the instant that is to be midnight, and their JobIDs."""
    rounds = -(-count // JOBS_PER_ROUND)
    jobs = submit_first(slurm, rounds)
    slurm.until("jobs run", lambda: "R" in states(slurm).values(), every=0.2)
    time.sleep(2)
    midnight = int(time.time())
    requeued = 0
    for job in jobs["mig"]:
        if states(slurm).get(str(job)) == "R":
            requeued += slurm.ok("scontrol", "requeue", str(job))
    drain(slurm, 60 + 12 * count)
    say(f"the first {len(jobs)} kinds have ended, {requeued} were requeued")
    # Suspended, requeued and cancelled ones after midnight, since nothing that sacct prints says when
    # a job was suspended.
    later = [slurm.submit("news", "proj-vision", "sleep 7", "--gres=gpu:a100:1", "--cpus-per-task=2")
             for _ in range(rounds)]
    cancelled = [slurm.submit("games", "proj-llm", "sleep 300", "--gres=gpu:h100:1")
                 for _ in range(rounds)]
    again = [slurm.submit("games", "proj-llm", "sleep 4", "--gres=gpu:a100_3g.20gb:1")
             for _ in range(rounds)]
    todo = {*later, *cancelled, *again}
    while todo:
        running = {job for job, state in states(slurm).items() if state == "R"}
        ready = [job for job in todo if str(job) in running]
        if ready:
            time.sleep(2)
        for job in ready:
            if job in later:
                slurm.run("scontrol", "suspend", job, check=False)
                time.sleep(2)
                slurm.run("scontrol", "resume", job, check=False)
            elif job in cancelled:
                slurm.run("scancel", job)
            else:
                slurm.run("scontrol", "requeue", job, check=False)
            todo.discard(job)
        todo -= {job for job in todo if str(job) not in states(slurm)}
        time.sleep(0.2)
    for job in jobs["waits"]:
        slurm.run("scancel", job)
    drain(slurm, 60 + 6 * count)
    # slurmctld tells slurmdbd within a moment.
    slurm.until("sacct knows every end", lambda: not {"RUNNING", "PENDING", "SUSPENDED"} & set(
        slurm.run("sacct", "-a", "-D", "-X", "-P", "-n", "-S", "now-1day", "-E", "now+1day", "-o",
                  "State").split()), every=0.5)
    return midnight, names_of({**jobs, "later": [*later, *cancelled, *again]})


def sql(slurm, text):
    return slurm.run("mariadb", "--no-defaults", f"--socket={slurm.folder}/sql/sock", "--user=root",
                     "--batch", "--skip-column-names", "slurm_acct_db", f"--execute={text}")


def move_back(slurm, seconds):
    """Every job as if it had run `seconds` earlier; slurmdbd makes hours and days from that anew."""
    slurm.end_daemon("slurmctld")
    slurm.end_daemon("slurmdbd")
    times = {"job": ["time_submit", "time_eligible", "time_start", "time_end", "time_suspended"],
             "step": ["time_start", "time_end", "time_suspended"],
             "suspend": ["time_start", "time_end"], "event": ["time_start", "time_end"]}
    for table, columns in times.items():
        for column in columns:
            sql(slurm, f"update lab_{table}_table set {column} = {column} - {seconds} "
                       f"where {column} > {seconds}")
    # The cluster and its accounts were there before its first job.
    for table in ("cluster_table", "lab_assoc_table", "tres_table", "acct_table", "user_table"):
        sql(slurm, f"update {table} set creation_time = creation_time - {seconds}")
    for span in ("hour", "day", "month"):
        for table in ("lab_usage", "lab_assoc_usage", "lab_wckey_usage"):
            sql(slurm, f"truncate table {table}_{span}_table")
    sql(slurm, "truncate table lab_last_ran_table")
    slurm.spawn("slurmdbd", "slurmdbd", "-D")
    slurm.until("slurmdbd has made its days",
                lambda: sql(slurm, "select count(*) from lab_assoc_usage_day_table").strip() != "0"
                and slurm.ok("sacctmgr", "-n", "show", "cluster"), every=0.5)


def sreport_users(slurm, begin, end):
    """(account, user, TRES) -> seconds; MiB times seconds for mem."""
    out = slurm.run("sreport", "-n", "-P", "-t", "Seconds", "-T", "ALL", "cluster",
                    "AccountUtilizationByUser", f"start={begin}", f"end={end}",
                    "format=Account,Login,TresName,Used")
    rows = [row.split("|") for row in out.split("\n") if row]
    return {(account, user, tres): int(used) for account, user, tres, used in rows
            if user and int(used)}


class Ours:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *words, code=0):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "TZ": "UTC"}, timeout=300, check=False)
        expect(done.returncode == code, f"{' '.join(words)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self.run("report", *words, "--format", "csv"))))


MEASURES = {"cpu": ("cpu_hours_exact", 3600), "mem": ("memory_gib_hours_exact", 3600 * 1024),
            "node": ("node_hours_exact", 3600)}
GRES = {"whole": "gres/gpu", "mig": "gres/gpu", "shard": "gres/shard"}


def our_users(ours, *dates):
    """The same as sreport_users()."""
    found = collections.Counter()
    for row in ours.rows("--as", "activity", "--by", "slurm_account,label:user", *dates):
        for tres, (column, factor) in MEASURES.items():
            found[(row["slurm_account"], row["label:user"], tres)] += Fraction(row[column]) * factor
    for row in ours.rows("--as", "activity", "--by", "slurm_account,label:user,sharing", *dates):
        if row["sharing"] in GRES:
            found[(row["slurm_account"], row["label:user"], GRES[row["sharing"]])] += \
                Fraction(row["device_hours_exact"]) * 3600
    return found


def compare(what, ours, theirs):
    wrong = {key: (str(ours.get(key)), theirs.get(key)) for key in {*ours, *theirs}
             if ours.get(key, 0) != theirs.get(key, 0)}
    expect(not wrong, f"{what}: ours and Slurm's differ: {wrong}")
    return len(theirs)


def milliseconds(clock):
    """Of sacct's TotalCPU: "00:00.003", "01:02:03", "1-02:03:04"."""
    days, _, rest = clock.rpartition("-")
    seconds = Fraction(0)
    for part in rest.split(":"):
        seconds = seconds * 60 + Fraction(part)
    return int((seconds + 86_400 * int(days or 0)) * 1000)


def check_records(records, ours, submitted):
    """No job that was submitted lacks a record of sacct, and no record lacks a job of ours."""
    runs = collections.Counter(job for job, *_ in records)
    expect(set(runs) == submitted,
           f"sacct lacks {submitted - set(runs)} and has besides {set(runs) - submitted}")
    mine = {row["workload"]: int(row["jobs_ended"])
            for row in ours.rows("--as", "activity", "--by", "workload")}
    compare("runs of each job", mine, dict(runs))
    say(f"{len(submitted)} jobs were submitted; sacct has {len(records)} records of them, and so "
        f"have we: {len(records) - len(submitted)} are of requeued runs")


def check(slurm, ours, midnight, submitted):
    day = datetime.datetime.fromtimestamp(midnight, datetime.timezone.utc).date()
    days = [str(day - datetime.timedelta(days=1)), str(day), str(day + datetime.timedelta(days=1))]
    columns = ("JobID,JobName,Partition,Account,User,State,Submit,Start,End,ElapsedRaw,Suspended,"
               "AllocTRES,NodeList,QOS,Cluster,ExitCode,TotalCPU,NTasks,MaxRSS,TRESUsageInTot")
    with_steps = ["sacct", "-a", "-D", "-P", "-S", days[0], "-E", days[2]]
    asked = [*with_steps, "-X"]
    (ours.folder / "sacct.psv").write_text(slurm.run(*with_steps, "-o", columns))
    (ours.folder / "nodes.txt").write_text(slurm.run("scontrol", "show", "node", check=False))
    (ours.folder / "pennyweight.yaml").write_text(
        "clusters:\n  - {name: lab, kind: slurm, time_zone: UTC}\n")
    said = ours.run("import", "--cluster", "lab", "sacct.psv")
    say("import: " + said.strip().replace("\n", " | "))

    # sreport, in all and by day.
    compared = 0
    for begin, end, *dates in ((days[0], days[2], []), (days[0], days[1], ["--to", days[0]]),
                               (days[1], days[2], ["--from", days[1]])):
        theirs = {key: used for key, used in sreport_users(slurm, begin, end).items()
                  if key[2] in {*MEASURES, *GRES.values()}}
        expect(theirs, f"sreport has figures of {begin} to {end}")
        compared += compare(f"{begin} to {end}", our_users(ours, *dates[0]), theirs)
    say(f"{compared} figures of sreport are ours")

    # Types of GPU, as AccountingStorageTRES lists them.
    theirs = collections.Counter()
    for (account, user, tres), used in sreport_users(slurm, days[0], days[2]).items():
        if tres.startswith("gres/gpu:"):
            theirs[tres.removeprefix("gres/gpu:")] += used
    of_types = collections.Counter()
    for row in ours.rows("--as", "activity", "--by", "gpu_model,profile", "--filter",
                         "sharing=whole,mig"):
        is_mig = row["profile"] != "(none)"
        name = row["gpu_model"].lower() + (f"_{row['profile']}" if is_mig else "")
        of_types[name] += Fraction(row["device_hours_exact"]) * 3600
    of_types = {name: seconds for name, seconds in of_types.items() if name in theirs}
    compare("types of GPU", of_types, dict(theirs))
    say(f"types of GPU: {dict(theirs)}")

    # The named reports, in sreport's own minutes.
    out = slurm.run("sreport", "-n", "-P", "-T", "cpu,mem,gres/gpu,gres/shard,node", "cluster",
                    "AccountUtilizationByUser", f"start={days[0]}", f"end={days[2]}",
                    "format=Account,Login,TresName,Used")
    theirs = {tuple(row.split("|")[:3]): int(row.split("|")[3]) for row in out.split("\n")
              if row and row.split("|")[1]}
    named = {}
    for row in ours.rows("--as", "sreport:AccountUtilizationByUser"):
        for tres in ("cpu", "mem", "gres/gpu", "gres/shard", "node"):
            named[(row["slurm_account"], row["label:user"], tres)] = int(row[tres])
    compare("sreport's minutes", named, theirs)
    out = slurm.run("sreport", "-n", "-P", "job", "SizesByAccount", "grouping=50,250,500,1000",
                    f"start={days[0]}", f"end={days[2]}", "flatview")
    say("SizesByAccount: " + out.strip().replace("\n", " / "))
    sizes = {}
    for row in out.split("\n"):
        words = row.split("|")
        if len(words) >= 7 and words[1] != "root":
            sizes[words[1]] = [int(word) for word in words[2:7]]
    mine = {row["slurm_account"]: [int(row[name]) for name in row if name.startswith("cpus_")]
            for row in ours.rows("--as", "sreport:SizesByAccount")}
    expect(sizes and mine == sizes, f"SizesByAccount: ours {mine}, sreport {sizes}")

    # sacct: jobs by state, wall time, waits.
    out = slurm.run(*asked, "-n", "-o", "JobID,Account,User,State,Submit,Start,ElapsedRaw,CPUTimeRAW")
    counts, wall, cpu, waits = (collections.Counter() for _ in range(4))
    records = [row.split("|") for row in out.split("\n") if row]
    for _, account, user, state, submit, start, elapsed, cpu_time in records:
        key = (account, user, state.split()[0])
        counts[key] += 1
        wall[key] += int(elapsed)
        cpu[key] += int(cpu_time)
        if start not in ("Unknown", "None"):  # also one that ended in the second in which it began
            waits[key] += int((datetime.datetime.fromisoformat(start) -
                               datetime.datetime.fromisoformat(submit)).total_seconds())
    check_records(records, ours, submitted)
    mine = {name: {} for name in ("jobs", "wall", "cpu", "wait")}
    for row in ours.rows("--as", "activity", "--by", "slurm_account,label:user,state"):
        key = (row["slurm_account"], row["label:user"], row["state"])
        mine["jobs"][key] = int(row["jobs_ended"])
        mine["wall"][key] = Fraction(row["wall_hours_exact"]) * 3600
        mine["cpu"][key] = Fraction(row["cpu_hours_exact"]) * 3600
        mine["wait"][key] = Fraction(row["wait_hours_exact"] or 0) * 3600
    compare("jobs by state", mine["jobs"], dict(counts))
    compare("wall time by state", mine["wall"], dict(wall))
    compare("CPU time by state", mine["cpu"], dict(cpu))
    compare("waits by state", mine["wait"], dict(waits))
    # What jobs used: Slurm's TotalCPU, and the highest of each job's steps.
    used, mine = collections.Counter(), {}
    for row in slurm.run(*with_steps, "-n", "-o", "JobID,Account,User,TotalCPU,ElapsedRaw").split("\n"):
        job, account, user, total, elapsed = (row or "0.|||0|0").split("|")
        if "." not in job and int(elapsed):
            used[(account, user)] += milliseconds(total)
    for row in ours.rows("--as", "efficiency", "--by", "slurm_account,label:user"):
        mine[(row["slurm_account"], row["label:user"])] = \
            Fraction(row["cpu_hours_used_exact"]) * 3_600_000
    expect(sum(used.values()), "jobs used processors")
    compare("processor time used", mine, dict(used))
    by_day = ours.rows("--as", "efficiency", "--every", "day")
    expect(sum(Fraction(row["cpu_hours_used_exact"]) for row in by_day) * 3_600_000 ==
           sum(used.values()), f"days of what was used: {by_day}")
    say(f"processor time used: {sum(used.values())} ms, by {len(used)} users")

    by_state = collections.Counter()
    for (_, _, state), count in counts.items():
        by_state[state] += count
    say(f"{len(records)} records of sacct: {dict(by_state)}")
    for state in ("COMPLETED", "FAILED", "CANCELLED", "REQUEUED"):
        expect(by_state[state], f"there were jobs in state {state}")


def main():
    reason = cluster.why_not()
    if reason:
        print(f"skipped: {reason}")
        return cluster.SKIP
    words = sys.argv[2:]
    count = int(words[words.index("--jobs") + 1]) if "--jobs" in words else JOBS_PER_ROUND
    os.environ["TZ"] = "UTC"
    with cluster.Cluster(extra_conf=CONF) as slurm:
        say("Slurm runs")
        midnight, submitted = run_jobs(slurm, count)
        say("all jobs have ended")
        # Two days back, at 00:00 UTC.
        target = (int(time.time()) // 86_400 - 1) * 86_400
        move_back(slurm, midnight - target)
        say("slurmdbd has made its days")
        folder = pathlib.Path(words[words.index("--keep") + 1]) if "--keep" in words else \
            pathlib.Path(slurm.folder) / "ours"
        folder.mkdir(exist_ok=True)
        check(slurm, Ours(os.path.abspath(sys.argv[1]), folder), target, submitted)
    print(f"figures of Slurm: {'ok' if not failures else str(len(failures)) + ' failed'}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
