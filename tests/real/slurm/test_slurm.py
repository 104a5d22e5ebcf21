#!/usr/bin/env python3
"""Real jobs of two users on a real Slurm, polled while they run, compared with sacct's own figures.

usage: test_slurm.py SLURM_POLL [PENNYWEIGHT]

GPU-seconds and shard-seconds per account and user, worked out here from sacct's raw fields, must
equal those of our holdings, exactly. Exits 77 where there is no Slurm or no root.
"""
import collections
import json
import os
import re
import subprocess
import sys
import time

import cluster

failures = []
BEGUN = time.monotonic()


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)
    return condition


def say(text):
    print(f"[{time.monotonic() - BEGUN:5.1f} s] {text}", flush=True)


class Poller:
    """slurm_poll as a process, and every fact that it printed."""

    def __init__(self, slurm, state, since):
        self.facts = []
        self.process = subprocess.Popen([os.path.abspath(sys.argv[1]), "lab", str(since), state],
                                        env=slurm.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def poll(self, failures_expected=0):
        """Polls once; the facts of that poll."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        reported = []
        for line in self.process.stdout:
            fact = json.loads(line)
            reported.append(fact)
            if "poll" in fact:
                break
        else:
            raise RuntimeError("slurm_poll ended")
        self.facts += reported
        failed = [fact["failure"] for fact in reported if "failure" in fact]
        expect(len(failed) == failures_expected, f"programs that gave no answer: {failed}")
        return reported

    def end(self):
        self.process.stdin.close()
        expect(self.process.wait(timeout=30) == 0, "slurm_poll exits with 0")
        return self.facts


def is_running(facts, job, seconds=0):
    """The readings of a job that has run for so long."""
    return [f for f in facts if f.get("holding") == str(job) and not f["ended"]
            and f["end"] - f["begin"] >= seconds * 1000]


def counts_of(facts):
    """(account, user) -> device-seconds of GPUs (whole and MIG) and of shards, of ended jobs."""
    gpus, shards = collections.Counter(), collections.Counter()
    for fact in facts:
        who = (fact["labels"]["account"], fact["labels"]["user"])
        milliseconds = fact["devices"] * (fact["end"] - fact["begin"])
        kind = shards if fact["device"] == "shard" else gpus
        if milliseconds:
            kind[who] += milliseconds
    return ({who: ms / 1000 for who, ms in gpus.items()},
            {who: ms / 1000 for who, ms in shards.items()})


def counts_of_sacct(slurm):
    """The same from sacct's raw fields, each run of each job."""
    gpus, shards = collections.Counter(), collections.Counter()
    rows = slurm.run("sacct", "-a", "-D", "-X", "-P", "-n", "-S", "now-2hours", "-o",
                     "JobID,Account,User,State,ElapsedRaw,AllocTRES").splitlines()
    states = collections.Counter()
    for row in rows:
        _, account, user, state, elapsed, tres = row.split("|")
        states[state.split()[0]] += 1
        amounts = dict(entry.split("=") for entry in tres.split(",") if entry)
        for name, kind in (("gres/gpu", gpus), ("gres/shard", shards)):
            seconds = int(elapsed) * int(amounts.get(name, 0))
            if seconds:
                kind[(account, user)] += seconds
    return dict(gpus), dict(shards), states, len(rows)


def submit_all(slurm):
    """Names of jobs, to their ids."""
    def fails(seconds):
        return f"sleep {seconds}; exit 3"
    return {
        "two": slurm.submit("games", "proj-llm", "sleep 14", "--gres=gpu:a100:2",
                            "--job-name=two|odd, name", "--comment=project=chat;team=nlp"),
        "shards": slurm.submit("news", "proj-vision", "sleep 12", "--gres=shard:4"),
        "array": slurm.submit("news", "proj-llm", "sleep 5", "--gres=gpu:a100:1",
                              "--array=1-3%2"),
        "fails": slurm.submit("news", "proj-llm", fails(3), "--gres=gpu:h100:1"),
        "mig": slurm.submit("games", "proj-llm", "sleep 7", "--gres=gpu:a100_3g.20gb:1"),
        "cancelled": slurm.submit("games", "proj-llm", "sleep 300", "--gres=gpu:h100:1"),
        "suspended": slurm.submit("news", "proj-vision", "sleep 9", "--job-name=cpu alone"),
        "waits": slurm.submit("news", "proj-vision", "sleep 1", "--begin=now+1hour"),
        "both": slurm.submit("news", "proj-vision", "sleep 3", "--nodes=2", "--gres=gpu:1",
                             "--ntasks-per-node=1"),
    }


def check_running(facts, jobs):
    """What was seen while it ran, and where."""
    two = is_running(facts, jobs["two"])
    expect(two, "the job on two GPUs was seen while it ran")
    expect({fact["placement"] for fact in two} == {"gpus GPU-n1-0,GPU-n1-1"},
           f"by the indices of its GPUs: {[fact['placement'] for fact in two]}")
    expect({fact["attempt"] for fact in two} == {two[0]["attempt"]}, "as one run")
    expect(two[-1]["end"] > two[0]["end"], "for longer and longer")
    expect(two[0]["labels"]["project"] == "chat" and two[0]["labels"]["account"] == "proj-llm"
           and two[0]["labels"]["user"] == "games"
           and two[0]["labels"]["job_name"] == "two|odd, name", f"with its labels: {two[0]}")
    shards = is_running(facts, jobs["shards"])
    expect(shards and {fact["placement"] for fact in shards} == {"nodes n1=4"}
           and {fact["device"] for fact in shards} == {"shard"}, f"four shards of n1: {shards[:1]}")
    array = is_running(facts, f"{jobs['array']}_1")
    expect(array and array[0]["placement"].startswith("gpus GPU-n1-"), "a task of the array")
    mig = is_running(facts, jobs["mig"])
    expect(mig and {fact["device"] for fact in mig} == {"mig 3g.20gb"}
           and {fact["model"] for fact in mig} == {"a100"}, f"a MIG instance: {mig[:1]}")
    expect(not is_running(facts, jobs["waits"]), "a job that waits holds nothing")


def main():
    reason = cluster.why_not()
    if reason:
        print(f"skipped: {reason}")
        return cluster.SKIP
    with cluster.Cluster() as slurm:
        say("Slurm runs")
        check(slurm)
    print(f"slurm: {'ok' if not failures else str(len(failures)) + ' failed'}")
    return bool(failures)


def check(slurm):
    since = int(time.time()) - 40 * 86_400  # more than one poll's windows
    state = str(slurm.folder / "poller.state")
    facts = []
    poller = Poller(slurm, state, since)
    jobs = submit_all(slurm)
    done = set()
    restarted = drained = False
    while slurm.run("squeue", "--noheader", "--states=R,S,CG").strip() or \
            time.monotonic() - BEGUN < 20 or \
            slurm.run("squeue", "--noheader", "--states=PD", "--format=%i %R").count("\n") > 1:
        reported = poller.poll()
        once = done.isdisjoint
        if is_running(reported, jobs["mig"], 2) and once({"mig"}):
            done.add("mig")
            slurm.run("scontrol", "requeue", jobs["mig"])
            say("requeued")
        if is_running(reported, jobs["suspended"], 2) and once({"suspended"}):
            done.add("suspended")
            slurm.run("scontrol", "suspend", jobs["suspended"])
            time.sleep(2)
            slurm.run("scontrol", "resume", jobs["suspended"])
        elif is_running(reported, jobs["cancelled"], 2) and once({"cancelled"}):
            done.add("cancelled")
            slurm.run("scancel", jobs["cancelled"])
            slurm.run("scontrol", "update", "nodename=n2", "state=drain", "reason=replace fan")
            drained = True
            say("cancelled, n2 drained")
        elif drained and not restarted:
            facts += poller.end()
            poller = Poller(slurm, state, since)
            restarted = True
            say("the poller restarted")
        elif drained and restarted and "back" not in done and any("outage" not in f for f in reported):
            done.add("back")
            time.sleep(1)
            slurm.run("scontrol", "update", "nodename=n2", "state=resume")
            say("n2 is back")
        if time.monotonic() - BEGUN > 120:
            raise TimeoutError("the jobs do not end")
        time.sleep(0.7)
    # slurmctld tells slurmdbd within a moment; the overlap of polls is there for it.
    slurm.until("sacct knows every end", lambda: "RUNNING" not in slurm.run(
        "sacct", "-a", "-D", "-X", "-P", "-n", "-o", "State"))
    poller.poll()
    last = poller.poll()
    facts += poller.end()
    say("all jobs have ended")

    check_running(facts, jobs)
    ended = [fact for fact in facts if "holding" in fact and fact["ended"]]
    names = [(fact["holding"], fact["attempt"]) for fact in ended]
    expect(len(names) == len(set(names)), "each run is reported once as ended, over a restart too")
    gpus, shards = counts_of(ended)
    want_gpus, want_shards, states, rows = counts_of_sacct(slurm)
    say(f"{rows} records of sacct {dict(states)}; {len(ended)} holdings; GPU-seconds {gpus}; "
        f"shard-seconds {shards}")
    expect(gpus == want_gpus, f"GPU-seconds per account and user: {gpus}, sacct says {want_gpus}")
    expect(shards == want_shards, f"shard-seconds: {shards}, sacct says {want_shards}")
    for one in ("COMPLETED", "FAILED", "CANCELLED", "REQUEUED"):
        expect(states[one] > 0, f"there was a job in state {one}: {dict(states)}")
    expect({("proj-llm", "games"), ("proj-llm", "news"), ("proj-vision", "news")} == set(gpus),
           "of both accounts and users")
    runs = [fact for fact in ended if fact["holding"] == str(jobs["mig"])]
    expect(len(runs) == 2 and len({fact["attempt"] for fact in runs}) == 2,
           f"the requeued job ran twice: {runs}")
    two = [fact for fact in ended if fact["holding"] == str(jobs["two"])]
    expect(len(two) == 1 and two[0]["placement"] == "gpus GPU-n1-0,GPU-n1-1",
           "the ended job has the GPUs that it was seen on")
    was = [fact for fact in ended if fact["holding"] == str(jobs["suspended"])]
    expect(len(was) == 1 and was[0]["suspended_ms"] >= 1000, f"suspended time is known: {was}")
    expect(not [fact for fact in facts if "rejected" in fact],
           f"no row was set aside: {[fact for fact in facts if 'rejected' in fact]}")

    nodes = {fact["node"]: fact for fact in facts if "node" in fact}
    expect(len([fact for fact in facts if "node" in fact]) == 2, "each node is reported once")
    expect((nodes["n1"]["gpus"], nodes["n1"]["shards"], nodes["n1"]["model"]) == (4, 16, "a100"),
           f"n1: {nodes['n1']}")
    expect((nodes["n2"]["gpus"], nodes["n2"]["model"]) == (3, "h100"), f"n2: {nodes['n2']}")
    expect(len([fact for fact in facts if "note" in fact]) >= 2, "n2's models and MIG are noted")
    outages = sorted((fact for fact in facts if "outage" in fact), key=lambda o: o["begin"])
    expect(outages and {(o["outage"], o["reason"]) for o in outages} == {("n2", "replace fan")},
           f"n2 was out of use: {outages}")
    expect(all(a["end"] == b["begin"] for a, b in zip(outages, outages[1:])), "without a gap")
    expect(not outages or 0 < outages[-1]["end"] - outages[0]["begin"] < 60_000, f"{outages}")
    expect(last[-1]["caught_up"], "forty days back are read")

    # With the state: nothing again. Without: the same runs, none else.
    again = Poller(slurm, state, since)
    reported = again.poll()
    again.end()
    expect(not [f for f in reported if f.get("ended") and f["placement"].startswith("gpus")],
           "a run reported with its placement is not reported again after a restart")
    fresh = Poller(slurm, state + ".none", since)
    reported, anew = [], []
    # It has not seen them run, and so waits until slurmdbd must have all that is about a job.
    until = time.monotonic() + 90
    while not reported or not reported[-1]["caught_up"] or (
            len(anew) < len(ended) and time.monotonic() < until):
        reported += fresh.poll()
        anew = [fact for fact in reported if fact.get("ended")]
        time.sleep(0.5)
    fresh.end()
    expect({fact["key"] for fact in anew} == {fact["key"] for fact in ended},
           "a poller without memory tells the same keys, so that nothing counts twice")
    pieces = {(o["outage"], o["begin"], o["end"], o["reason"]) for o in outages}
    expect({(o["outage"], o["begin"], o["end"], o["reason"]) for o in reported if "outage" in o} == pieces,
           f"what slurmdbd recorded is what was seen: {reported}, {outages}")
    expect(counts_of(anew) == (gpus, shards), "and the same amounts")
    if len(sys.argv) > 2 and os.path.exists(sys.argv[2]):
        check_import(slurm, len(ended))
    check_database_away(slurm, state, since)


def check_database_away(slurm, state, since):
    """A job that runs and ends while slurmdbd is away: seen while it runs, and reported when it is back."""
    poller = Poller(slurm, state, since)
    slurm.end_daemon("slurmdbd")
    job = slurm.submit("games", "proj-llm", "sleep 4", "--gres=gpu:a100:1")
    slurm.until("the job runs", lambda: slurm.run("squeue", "-h", "-t", "R").strip())
    time.sleep(1.1)
    reported = poller.poll(failures_expected=1)
    expect(is_running(reported, job), "without slurmdbd the running job is seen")
    expect(not reported[-1]["caught_up"], "and nothing is taken for read")
    slurm.until("the job has ended", lambda: not slurm.run("squeue", "-h").strip()
                or "R" not in slurm.run("squeue", "-h", "-o", "%t").split())
    slurm.spawn("slurmdbd", "slurmdbd", "-D")
    # At first the record that comes late is COMPLETED and has no End.
    slurm.until("slurmdbd has the job's end", lambda: slurm.run(
        "sacct", "-X", "-n", "-P", "-j", job, "-o", "State,End", check=False).strip().split("|")[-1]
        not in ("", "Unknown"))
    reported = poller.poll()
    poller.end()
    ended = [f for f in reported if f.get("holding") == str(job) and f["ended"]]
    expect(len(ended) == 1 and ended[0]["placement"].startswith("gpus GPU-n1-")
           and ended[0]["end"] - ended[0]["begin"] >= 4000, f"it is reported when it is back: {reported}, sacct: " +
           slurm.run("sacct", "-X", "-P", "-j", job, "-o", "JobID,State,Eligible,Start,End,Elapsed"))
    say("slurmdbd was away and came back")


def check_import(slurm, holdings):
    """sacct's output as a file, by the program itself; twice is once."""
    program = os.path.abspath(sys.argv[2])
    file = slurm.folder / "sacct.psv"
    file.write_text(slurm.run(
        "sacct", "-a", "-D", "-X", "-P", "-S", "now-2hours", "-o",
        "JobID,Partition,Account,User,State,Start,End,ElapsedRaw,Suspended,AllocTRES,NodeList,"
        "QOS,Cluster"), encoding="utf-8")
    (slurm.folder / "pennyweight.yaml").write_text(
        "clusters:\n  - {name: lab, kind: slurm, time_zone: UTC}\n", encoding="utf-8")
    outputs = []
    for _ in range(2):
        done = subprocess.run([program, "import", "--cluster", "lab", str(file)],
                              cwd=slurm.folder, env=dict(slurm.env, TZ="UTC"),
                              capture_output=True, text=True, timeout=60, check=False)
        outputs.append(done.stdout + done.stderr)
        expect(done.returncode == 0, f"pennyweight import: {outputs[-1]}")
    expect(re.search(rf"\b{holdings}\b", outputs[0]), f"{holdings} holdings in: {outputs[0]}")
    say(f"imported by the program: {outputs[0].strip()} | again: {outputs[1].strip()}")


if __name__ == "__main__":
    sys.exit(main())
