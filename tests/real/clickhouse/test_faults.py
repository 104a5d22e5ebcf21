#!/usr/bin/env python3
"""Faults while a ledger on ClickHouse is loaded and allocated: nothing that was acknowledged is lost,
nothing counts twice, nobody sees a half run, and it recovers by itself.

usage: test_faults.py one|cluster PENNYWEIGHT [SLOW_DISK] [--seed N] [--rounds N] [--first N]

one: a server on loopback; a few rounds, and then the planted mistakes, each of which the auditor must
find. cluster: two shards of two replicas and ZooKeeper, each a host of its own where that can be had
(wires.py). SLOW_DISK: the library of slow_disk.cc.

A round, made from the seed: programs import and allocate, several at once, while servers, cables,
disks and the programs themselves fail (faults.py, watch.py); a reader asks all the time, and an
auditor compares the answers with the log (auditor.py). Then all is healed: those that were
killed are started again, and nothing else is done by hand. What was refused is done again, and the
ledger must say what a file says, byte for byte, that was given the same in the order of the log.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import threading
import time

import cluster  # the first: it knows where the harness is
import auditor
import deliveries
import faults
import planted
import watch
import wires
from harness import expect, folder, guarded, need, say, wait_until

LEASE_MS = 3_000
OPTIONS = f"connect_timeout_ms=1000&timeout_ms=6000&retry_ms=4000&lease_ms={LEASE_MS}"
IN_DOUBT = "it is not known whether this was committed"
LANES = 3
HANGS_S = 150  # a program that takes longer than that hangs
ROUNDS_OF_A_LEDGER = 25
COMMITTING = ("log claim", "log open", "log entry", "log sealed", "log release")
IMPORT_PHASES = ("read schema_version", "read log", "write {table}", "read {table}",
                 "write import_touches", "read import_touches", "write imports", "read imports",
                 *COMMITTING)
RUN_PHASES = ("read charges", "read holdings", "read usages", "write postings", "read postings",
              "read runs", "write runs", *COMMITTING)
WORK_PHASES = ("read charges", "write work_plans", "read work_claims", "write work_claims",
               "write postings", "write work_done", "read work_done", "write runs", *COMMITTING)
SWEEP_PHASES = ("read strays", "write strays", "alter", *COMMITTING)
# After each round the first two, and one of the others; all of them once a ledger is full.
COMPARED = (
    ("export", "postings", "--out", "{out}"),
    ("reconcile", "--format", "json"),
    ("report", "--by", "month,cluster,node,kind", "--cost", "all", "--format", "csv"),
    ("report", "--by", "team,user", "--every", "week", "--cost", "all", "--format", "json"),
    ("restatements", "--format", "csv"),
    ("export", "charges", "--out", "{out}"))


class Job:
    """What a lane does next: an import of a delivery, or another verb."""

    def __init__(self, chance, verb, delivery=None):
        self.verb, self.delivery = verb, delivery
        self.strike, self.timed, self.watched = None, None, chance.random() < 0.65
        self.stop_s = LEASE_MS / 1000 + chance.uniform(0.5, 2)
        if self.watched and chance.random() < 0.7:
            phases = IMPORT_PHASES if delivery else {
                "work": WORK_PHASES, "sweep": SWEEP_PHASES}.get(verb[0], RUN_PHASES)
            phase = chance.choice(phases).format(table=delivery.table if delivery else "")
            action = chance.choices(("kill", "stop", "lose", "late"), (6, 2, 2, 1))[0]
            # A worker commits twice for an item: that it has it, and its run.
            nth = 1 if delivery or phase not in COMMITTING else chance.randint(1, 4)
            self.strike = watch.Strike(phase, chance.choice(("before", "after")), action, nth)
        elif not self.watched and chance.random() < 0.4:
            self.timed = (chance.choice(("kill", "kill", "stop")), chance.uniform(0.05, 2.5))


class Ledger:
    """A ledger on ClickHouse, and beside it a file that is given the same in the same order."""

    def __init__(self, test, number):
        self.test = test
        self.database = f"faults{number}"
        self.place = folder("faults")
        (self.place / "pennyweight.yaml").write_text(deliveries.CONFIG)
        self.auditor = auditor.Auditor(self.database, test.on_cluster, test.wrong)
        self.sent = []       # deliveries that some program was to import
        self.accounts = []   # of bills that are sent again
        self._serial = 0
        self._replayed = 0
        self._lock = threading.Lock()

    def program(self, argv, store, inside=None):
        wrapped = ["setpriv", "--pdeathsig", "KILL", "--", self.test.program, "--store", store,
                   *argv]
        return subprocess.Popen(inside(wrapped) if inside else wrapped, cwd=self.place,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL)

    def address(self, servers=None, options=OPTIONS):
        return self.test.servers.address(self.database, options, servers)

    def fresh_name(self, delivery):
        """A file of a name that no other attempt has."""
        with self._lock:
            self._serial += 1
            name = f"{delivery.name}.{self._serial}.csv"
        (self.place / name).write_text(delivery.text)
        return name

    def done(self, process):
        try:
            out, err = process.communicate(timeout=HANGS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.test.wrong(f"{process.args} did not end within {HANGS_S} s")
        return process.returncode, out.decode(), err.decode(errors="replace")

    def attempt(self, job, subject=None):
        """Runs a program, and tells the auditor what it said. True: it was done."""
        test, name = self.test, None
        argv = job.verb
        if job.delivery:
            name = self.fresh_name(job.delivery)
            argv = ["import", *job.delivery.options, name]
            self.auditor.begins(name, job.delivery)
        store = self.address()
        if subject:
            store = test.watch.address(subject, self.database, test.options)
        process = self.program(argv, store, None if subject else test.client)
        if subject:
            subject.process = process
        struck = []
        if job.timed:
            def strike():
                if process.poll() is None:
                    struck.append(job.timed[0])
                    process.kill() if job.timed[0] == "kill" else _pause(process, job.stop_s)
            timer = threading.Timer(job.timed[1], strike)
            timer.start()
        code, out, err = self.done(process)
        if job.timed:
            timer.cancel()
            timer.join()
            test.count(*(f"{what} a program at random" for what in struck))
        outcome = ("acknowledged" if code == 0 else
                   "doubtful" if code < 0 or IN_DOUBT in err else "refused")
        if name:
            self.auditor.record_answer(name, outcome)
        kind = "killed" if code < 0 else outcome
        test.became(kind, argv[0], err)
        if code not in (0, 1) and code != -9:
            test.wrong(f"{argv} ended with {code}: {err[-1000:]}")
        return outcome == "acknowledged"

    def do_surely(self, job, what, patience=60):
        """Again and again, as a person or a timer would; nothing strikes any more."""
        job.strike, job.timed = None, None
        until = time.monotonic() + patience
        while not self.attempt(job):
            if time.monotonic() > until:
                self.test.wrong(f"{what} can't be done within {patience} s after all was healed")
                return False
            time.sleep(0.2)
        return True

    def say_the_same(self, number):
        """Replays the log into the file, and compares."""
        log = self.auditor.log
        store = str(self.place / "ledger.duckdb")
        for _, _, session, what in log.entries[self._replayed:]:
            if what != "import":
                continue
            name = self.auditor._imports[session]["name"]
            options = self.auditor.attempts[name].delivery.options
            code, _, err = self.done(self.program(["import", *options, name], store))
            if code != 0:
                self.test.wrong(f"a file does not take {name}: {err[-300:]}")
        self._replayed = len(log)
        self.done(self.program(["allocate"], store))
        is_full = number % ROUNDS_OF_A_LEDGER == ROUNDS_OF_A_LEDGER - 1
        others = COMPARED[2:] if is_full else [COMPARED[2 + number % len(COMPARED[2:])]]
        for verb in (*COMPARED[:2], *others):
            said = []
            for which, where in (("file", store), ("clickhouse", self.address())):
                out = self.place / f"{which}.csv"
                out.unlink(missing_ok=True)
                argv = [part.format(out=out) for part in verb]
                code, text, err = self.done(self.program(argv, where))
                said.append((code, out.read_text() if out.exists() else text))
                if code != 0:
                    self.test.wrong(f"{verb} of {which}: {code} {err[-300:]}")
            if said[0] != said[1]:
                self.test.wrong(f"{' '.join(verb)} differs: {len(said[0][1])} bytes of a file, "
                                f"{len(said[1][1])} of ClickHouse: {_difference(*said)}")


def _pause(process, seconds):
    os.kill(process.pid, 19)
    time.sleep(seconds)
    if process.poll() is None:
        os.kill(process.pid, 18)


def _gist(text):
    """The words of a refusal without what is of this one alone."""
    line = next((line for line in text.splitlines() if line.startswith("pennyweight: ")),
                "(nothing)")
    line = re.sub(r"[0-9a-f]{8,}|\d+(\.\d+)+(:\d+)?|\d+", "#", line)
    return re.sub(r"[\w-]+\.#\.csv", "FILE", line)[:220]


def _difference(one, other):
    for a, b in zip(one[1].splitlines(), other[1].splitlines()):
        if a != b:
            return f"{a[:300]!r} and {b[:300]!r}"
    return "one is longer"


class FaultTest:
    def __init__(self, options):
        self.program = os.path.abspath(options.pennyweight)
        self.options_given = options
        self.on_cluster = options.servers == "cluster"
        self.struck = collections.Counter()    # faults by kind
        self.phases = collections.Counter()    # of programs, when servers failed
        self.outcomes = collections.Counter()  # (outcome, verb)
        self.words = collections.Counter()     # of refusals
        self.recoveries, self.wrongs = [], []
        self.expected = False                  # that something is wrong: it was planted
        self.last_done = 0.0
        self._lock = threading.Lock()
        self._delays(options.slow_disk)
        if self.on_cluster:
            can = wires.Wires.can_be()
            say("each server is a host of its own" if can else
                "all is on loopback: no cables can be cut here")
            self.servers = cluster.Cluster(
                wires=(lambda hosts: wires.Wires([*hosts, "client"])) if can else None,
                env=self._disk).start()
        else:
            self.servers = cluster.OneServer(env=self._disk).start()
        there = getattr(self.servers, "wires", None)
        self.client = (lambda argv: there.inside("client", argv)) if there else None
        self.faults = faults.Faults(self.servers, self.delays)
        self.watch = watch.Watch(self.servers.servers)
        self.options = (f"cluster={cluster.CLUSTER}&" if self.on_cluster else "") + OPTIONS
        verbs = subprocess.run([self.program, "--help"], capture_output=True, text=True).stdout
        self.has_workers = re.search(r"^  work ", verbs, re.M) is not None
        self.ledger = None

    def _delays(self, library):
        self.delays, self._library = {}, os.path.abspath(library) if library else None
        self._delay_place = folder("delays")

    def _disk(self, name):
        if not self._library:
            return None
        file = self._delay_place / name
        file.write_bytes(b"\0" * 4)
        self.delays[name] = file
        return {"LD_PRELOAD": self._library, "PENNYWEIGHT_DISK_DELAY": str(file)}

    def wrong(self, text):
        with self._lock:
            if text not in self.wrongs:
                self.wrongs.append(text)
                if not self.expected:
                    print("WRONG:", text, flush=True)

    def count(self, *what):
        with self._lock:
            self.struck.update(what)

    def became(self, kind, verb, words):
        with self._lock:
            self.outcomes[kind, verb] += 1
            if kind == "acknowledged":
                self.last_done = time.monotonic()
            elif kind != "killed":
                self.words[_gist(words)] += 1

    # -- a round --------------------------------------------------------------------------------

    def plan(self, number):
        """The jobs of each lane, and the faults: (begin, end, what), in seconds."""
        chance = random.Random(f"{self.options_given.seed}:{number}")
        maker, ledger = deliveries.Maker(chance), self.ledger
        maker._serial = number * 100
        lanes = []
        for _ in range(LANES):
            lanes.append([])
            for _ in range(chance.randint(1, 2)):
                lanes[-1].append(self._job(chance, maker, number))
        kinds = self.faults.kinds()
        if self.client:
            kinds.append("cut client")
        struck = []
        for _ in range(chance.choice((1, 1, 1, 2))):
            begin = chance.uniform(0.1, 3)
            kind = chance.choice(kinds)
            what, strike, heal = (self._cut_client() if kind == "cut client" else
                                  self.faults.plan(kind, chance))
            struck.append((begin, begin + chance.uniform(0.5, 4), kind, what, strike, heal))
        return lanes, struck

    def _cut_client(self):
        there = self.servers.wires
        return "cut client", lambda: there.cut("client"), lambda: there.mend("client")

    def _job(self, chance, maker, number):
        ledger = self.ledger
        kind = chance.choices(
            ("bill", "jobs", "usage", "again", "replacement", "allocate", "sweep"),
            (30, 10, 10, 16, 12, 40, 8))[0]
        if kind == "sweep":
            # Whatever an earlier one noted: also what others are just writing.
            return Job(chance, ["sweep", "--days", "0"])
        if kind == "allocate":
            if self.has_workers and chance.random() < 0.7:
                verb = ["work", "--worker", f"worker-{chance.randrange(1000)}", "--once",
                        "--lease", str(LEASE_MS // 1000)]
                return Job(chance, verb)
            return Job(chance, ["allocate", "--month", chance.choice(sorted(deliveries.MONTHS))])
        if kind == "again":
            return Job(chance, None, chance.choice(ledger.sent[-12:]))
        if kind == "replacement":
            account = chance.choice(ledger.accounts[-3:] or [""])
            delivery = maker.bill(account=account, lines=chance.randint(3, 12), replaces=True)
            ledger.accounts.append(delivery.account)
        else:
            delivery = {"bill": maker.bill, "jobs": maker.jobs, "usage": maker.usage}[kind]()
        ledger.sent.append(delivery)
        return Job(chance, None, delivery)

    def _lane(self, jobs, open_jobs, running):
        for job in jobs:
            subject = watch.Subject(str(job.verb or job.delivery.name), job.strike,
                                    job.stop_s) if job.watched else None
            if subject:
                running.append(subject)
            if not self.ledger.attempt(job, subject) and job.delivery:
                open_jobs.append(job)
            if subject:
                running.remove(subject)

    def _read(self, stop, seed):
        """Readings of the tables, and between each two of them a report."""
        chance, ledger = random.Random(seed), self.ledger
        before = None
        while not stop.is_set():
            server = chance.choice(self.servers.servers)
            try:
                log = ledger.auditor.read(server)
                if before:
                    verb, code, text, first, where = before
                    if verb == "report" and code == 0:
                        ledger.auditor.check_report(text, first, len(log), where)
                    if verb == "reconcile" and code in (0, 1) and text:
                        ledger.auditor.check_reconciliation(text, first, len(log), where)
                before = None
                if len(log) > 0:
                    server = chance.choice(self.servers.servers)
                    has_run = any(entry[3] == "run" for entry in log.entries)
                    verb = chance.choice(("report", "reconcile")) if has_run else "reconcile"
                    argv = (["report", "--by", "month", "--cost", "all", "--format", "csv"]
                            if verb == "report" else ["reconcile", "--format", "json"])
                    store = ledger.address([server], OPTIONS.replace("retry_ms=4000",
                                                                     "retry_ms=500"))
                    code, text, err = ledger.done(ledger.program(argv, store))
                    before = (verb, code, text, len(log), f"{verb} at {server.name}")
                    if code != 0 and "not posted" not in err:
                        ledger.auditor.readings["refused"] += 1
                        before = None if verb == "report" or not text else before
            except auditor.Refused:
                ledger.auditor.readings["refused"] += 1
            time.sleep(0.2)

    def round(self, number):
        given, begun = self.options_given, time.monotonic()
        if self.ledger is None or number % ROUNDS_OF_A_LEDGER == 0:
            self._end_ledger()
            self.ledger = Ledger(self, number)
            maker = deliveries.Maker(random.Random(number))
            maker._serial = number * 100 + 90
            self.ledger.sent += [maker.nodes(), maker.bill()]
            for first in self.ledger.sent:
                self.ledger.do_surely(Job(random.Random(1), None, first), "the first import")
        ledger, wrongs, before = self.ledger, len(self.wrongs), self.outcomes.copy()
        readings = ledger.auditor.readings.copy()
        lanes, struck = self.plan(number)
        stop, open_jobs, running = threading.Event(), [], []
        reader = threading.Thread(target=self._read, args=(stop, f"{given.seed}:{number}"),
                                  daemon=True)
        threads = [threading.Thread(target=self._lane, args=(jobs, open_jobs, running),
                                    daemon=True) for jobs in lanes]
        for thread in [reader, *threads]:
            thread.start()
        events = sorted([(begin, False, what) for begin, _, *what in struck]
                        + [(end, True, what) for _, end, *what in struck], key=lambda e: e[:2])
        start = time.monotonic()
        for at, is_end, (kind, _, strike, heal) in events:
            while time.monotonic() - start < at:
                time.sleep(0.02)
                self.faults.watch_over()
            if is_end:
                heal()
                continue
            self.count(kind)
            with self._lock:
                self.phases.update(subject.phase for subject in list(running))
            strike()
        healed = time.monotonic()
        parts = [healed - begun]
        if self.faults.wait_for_all() is None:
            self.wrong("not all servers came back within 60 s")
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
                self.faults.watch_over()
        if self.last_done < healed:
            probe = deliveries.Maker(random.Random(number))
            probe._serial = number * 100 + 99
            ledger.do_surely(Job(random.Random(1), None, probe.usage()), "a probe")
        recovery = max(0.0, self.last_done - healed) if self.last_done else 0.0
        self.recoveries.append(recovery)
        parts.append(time.monotonic() - begun)
        for job in open_jobs:
            ledger.do_surely(job, job.delivery.name)
        stop.set()
        reader.join()
        parts.append(time.monotonic() - begun)
        self._at_rest(number)
        if os.environ.get("FAULTS_TIMES"):
            print("   parts", [round(part, 1) for part in parts])
        became = self.outcomes - before
        total = {kind: sum(times for (what, _), times in became.items() if what == kind)
                 for kind in ("acknowledged", "refused", "doubtful", "killed")}
        now = ledger.auditor.readings - readings
        say(f"round {number} (--seed {given.seed} --first {number} --rounds 1), "
            f"{time.monotonic() - begun:.1f} s: "
            + ", ".join(f"{what} {begin:.1f}-{end:.1f} s" for begin, end, _, what, *_ in struck)
            + "; " + ", ".join(f"{times} {kind}" for kind, times in total.items())
            + f"; {len(ledger.auditor.log)} commits; readings "
            + ", ".join(f"{times} {kind}" for kind, times in sorted(now.items()))
            + f"; recovered in {recovery:.1f} s; wrong: {len(self.wrongs) - wrongs}")

    def _at_rest(self, number):
        """After the faults: every server says all, replicas are alike, and a file says the same."""
        ledger = self.ledger
        ledger.do_surely(Job(random.Random(1), ["allocate"]), "allocate")
        for server in self.servers.servers:
            until = time.monotonic() + 60
            while True:
                try:
                    log = ledger.auditor.read(server)
                    if len(log) == len(ledger.auditor.log):
                        break
                except auditor.Refused as refused:
                    if time.monotonic() > until:
                        self.wrong(f"no reading at {server.name} a minute after all was healed: "
                                   f"{refused}")
                        break
                time.sleep(0.2)
        if self.on_cluster:
            until = time.monotonic() + 60
            while not self._alike():
                if time.monotonic() > until:
                    self.wrong("the replicas of a shard don't hold the same rows")
                    break
                time.sleep(0.2)
        ledger.say_the_same(number)

    def _alike(self):
        try:
            return self.ledger.auditor.read_replicas(self.faults.shards())
        except auditor.Refused:
            return False

    def _end_ledger(self):
        if self.ledger is None:
            return
        self.readings = getattr(self, "readings", collections.Counter())
        self.readings += self.ledger.auditor.readings
        self.ledger = None

    def plant(self):
        """Each planted mistake in a small ledger of its own, which was right before."""
        for number, what in enumerate(planted.Planted(Ledger(self, 0), None).kinds()):
            self._end_ledger()
            self.ledger = Ledger(self, 1000 + number)
            server, maker = self.servers.servers[0], deliveries.Maker(random.Random(number))
            self.ledger.sent = [maker.nodes(), maker.bill(), maker.jobs(), maker.bill()]
            for delivery in self.ledger.sent:
                self.ledger.do_surely(Job(random.Random(1), None, delivery), "a small ledger")
            self.ledger.do_surely(Job(random.Random(1), ["allocate"]), "a small ledger")
            self.ledger.auditor.read(server)
            before, self.wrongs = self.wrongs, []
            planted.Planted(self.ledger, server).kinds()[what]()
            self.expected = True
            self.ledger.auditor.read(server)
            self.expected = False
            found, self.wrongs = self.wrongs, before
            if expect(found, f"planted: {what}: not found"):
                say(f"planted: {what}: found: {found[0][:150]}")

    def sweep(self):
        """What a program that died left goes; one that only slept is refused when it wakes up."""
        self.ledger = Ledger(self, 2000)
        ledger, server = self.ledger, self.servers.servers[0]
        maker = deliveries.Maker(random.Random(1))
        for delivery in (maker.nodes(), maker.bill()):
            ledger.do_surely(Job(random.Random(1), None, delivery), "a small ledger")
        bill = maker.bill()
        dead, asleep = Job(random.Random(1), None, bill), Job(random.Random(1), None, bill)
        dead.timed = asleep.timed = None
        ledger.attempt(dead, watch.Subject(
            "dead", watch.Strike("log claim", "before", "kill")))
        sleeper = watch.Subject("asleep", watch.Strike("log claim", "before", "stop"), stop_s=8)
        thread = threading.Thread(target=ledger.attempt, args=(asleep, sleeper), daemon=True)
        thread.start()
        wait_until("one sleeps", lambda: sleeper.strike.struck)

        def sessions():
            return len(ledger.auditor.ask(
                server, f"SELECT DISTINCT session FROM {ledger.database}.charges"))
        expect(sessions() == 3, "one that counts, one of a dead and one of a sleeper")
        for _ in range(2):
            ledger.attempt(Job(random.Random(1), ["sweep", "--days", "0"]))
        wait_until("their rows go", lambda: sessions() == 1)
        thread.join()
        expect(any("swept away" in words for words in self.words),
               f"a program that slept reports it: {list(self.words)}")
        # It went on writing as if nothing had been; that goes too.
        ledger.attempt(Job(random.Random(1), ["sweep", "--days", "0"]))
        wait_until("what it still wrote goes", lambda: sessions() == 1)
        ledger.do_surely(Job(random.Random(1), None, bill), "what was swept away")
        ledger.auditor.read(server)
        say("swept: what a dead and a sleeping import left; the sleeper was refused")

    # -- the end --------------------------------------------------------------------------------

    def table(self):
        self._end_ledger()
        of = collections.Counter()
        for (what, _), times in self.outcomes.items():
            of[what] += times
        say(f"rounds: {len(self.recoveries)}")
        say("faults: " + ", ".join(f"{times} {what}" for what, times in
                                   sorted(self.struck.items())))
        say("programs struck in a phase (statement): ")
        rows = collections.defaultdict(collections.Counter)
        for (action, when, phase), times in self.watch.struck.items():
            rows[phase][f"{action} {when}"] += times
        for phase in sorted(rows):
            print(f"    {phase:24} " + ", ".join(f"{times} {what}" for what, times in
                                                 sorted(rows[phase].items())))
        say("statements that passed the watch: " + ", ".join(
            f"{times} {phase}" for phase, times in self.watch.seen.most_common()))
        say("phases of watched programs when a server failed: " + ", ".join(
            f"{times} {phase}" for phase, times in self.phases.most_common()))
        say("programs: " + ", ".join(f"{times} {what} {verb}" for (what, verb), times in
                                     sorted(self.outcomes.items())))
        say("refusals: ")
        for words, times in self.words.most_common(25):
            print(f"    {times:4}  {words}")
        say("readings: " + ", ".join(f"{times} {what}" for what, times in
                                     sorted(self.readings.items())))
        ended = sorted(self.recoveries)
        say(f"seconds until the first commit after all was healed: median "
            f"{statistics.median(ended):.1f}, at most {ended[-1]:.1f}; servers that ended by "
            f"themselves and were started again: {self.faults.ended_alone}")
        say(f"losses, doubles, half runs and all else that may not be: {len(self.wrongs)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", choices=("one", "cluster"))
    parser.add_argument("pennyweight")
    parser.add_argument("slow_disk", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    need(os.path.abspath(options.pennyweight))
    test = FaultTest(options)
    say(f"{len(test.servers.servers)} servers are there; seed {options.seed}"
        + ("; with workers" if test.has_workers else ""))
    for number in range(options.first, options.first + options.rounds):
        test.round(number)
    test.table()
    if not test.on_cluster:
        test.plant()
        test.sweep()
    expect(not test.wrongs, f"{len(test.wrongs)} things were wrong")


if __name__ == "__main__":
    guarded(main, f"real/clickhouse_faults_{sys.argv[1]}")
