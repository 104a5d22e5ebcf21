#!/usr/bin/env python3
"""How long pages wait for their numbers: a year of a large fleet, asked directly and over HTTP.

    bench/serve.py --programs build/release --folder /var/tmp/serve [--nodes 1250] [--months 12]
                   [--hours 1] [--people 50] [--seconds 120] [--gpus 10000] [--all-rows]
                   [--no-http] [--tiny]

Makes a ledger of hourly postings (bench/serve_ledger.cc; kept in the folder for the next run), and
has bench_serve_direct copy it into a rollup and ask for months and years by every dimension. Then
`pennyweight serve` opens the same ledger; people sign in with tokens and click through the pages
over connections that they keep, each with a pause of some seconds between clicks. They ask for what
the pages of web/src ask for, with the first owners and the others as one row; with --all-rows, as a
program does that wants every row, and then not by workload, of which there are too many. Meanwhile
bench_ingest_load sends what that many GPUs send. Prints tables of the times, with the processor
time of the whole server. Before that, answers are held against the ledger's with ==.
"""
import argparse
import http.client
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "real"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

BUILT_IN = ["cluster", "kind", "service", "region", "instance_type", "sub_account"]
LARGE = ["node", "workload", "team,node", "team,workload"]
LABELS = ["team", "user", "project", "model"]  # of the built-in policy


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def month_names(first, count):
    year, month = map(int, first.split("-"))
    return [f"{year + (month - 1 + i) // 12:04d}-{(month - 1 + i) % 12 + 1:02d}"
            for i in range(count)]


def end_of(month):
    """The first day after a month."""
    return month_names(month, 2)[1] + "-01"


# ------------------------------------------------------------------------------ direct

def made_in(folder, options):
    hours = "" if options.hours == 1 else f"-{options.hours}h"
    ledger = folder / f"ledger-{options.nodes}-{options.months}{hours}.duckdb"
    return ledger, ledger.with_suffix(".rollup")


def direct(options, ledger, rollup):
    made = ledger.with_suffix(".json")
    if not made.exists():
        output = run([options.programs / "bench_serve_ledger", "--ledger", ledger, "--nodes",
                    options.nodes, "--months", options.months, "--first", options.first,
                    "--hours", options.hours])
        made.write_text(output)
    facts = json.loads(made.read_text())
    print(f"{options.nodes * 8:,} GPUs, {options.months} months: {facts['charges']:,} bill lines, "
          f"{facts['postings']:,} postings of {facts['workloads']:,} workloads, "
          f"{facts['bytes'] / 1e9:.2f} GB", flush=True)
    if not options.keep_rollup:
        rollup.unlink(missing_ok=True)
    output = run([options.programs / "bench_serve_direct", "--ledger", ledger, "--rollup", rollup,
                "--months", options.months, "--first", options.first, "--check", options.check,
                "--rounds", options.rounds])
    groups = [json.loads(line) for line in output.splitlines()]
    for group in groups:
        if group["what"] in ("refresh", "nothing new"):
            print(f"{group['what']}: {group['seconds']:.2f} s, {group['cpu']:.2f} s of processor; "
                  f"{group['bytes'] / 1e6:,.0f} MB, peak {group['peak_mib']:,} MiB")
        if group["what"] == "open":
            print(f"opened in {group['seconds']:.3f} s")
    print("| asked directly | by | questions | rows | p50 | p99 | p50 cpu | p99 cpu |")
    print("|---|---|---|---|---|---|---|---|")
    for group in groups:
        if "p50_ms" in group:
            print(f"| {group['what']} | {group['by']} | {group['questions']} | {group['rows']:,} "
                  f"| {group['p50_ms']:.1f} ms | {group['p99_ms']:.1f} ms "
                  f"| {group['cpu_p50_ms']:.1f} ms | {group['cpu_p99_ms']:.1f} ms |")
    sys.stdout.flush()


# ------------------------------------------------------------------------------ over HTTP

class Person(threading.Thread):
    """Somebody who clicks: each click is a page, and the requests that it makes."""

    def __init__(self, number, port, token, options, until):
        super().__init__(daemon=True)
        self.random = random.Random(number)
        self.port, self.token, self.options, self.until = port, token, options, until
        self.times, self.bytes, self.failed = [], 0, []
        self.months = month_names(options.first, options.months)
        self.etags = {}

    def ask(self, connection, kind, path, **query):
        # Several of one name, as ?filter=…&filter=…
        text = urllib.parse.urlencode([(name, value) for name, values in query.items()
                                       for value in (values if isinstance(values, list)
                                                     else [values])])
        target = f"/api/v1{path}?{text}"
        headers = {"Authorization": f"Bearer {self.token}"}
        if target in self.etags:
            headers["If-None-Match"] = self.etags[target]
        begin = time.perf_counter()
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        self.times.append((f"{path.split('/')[1]}, a {kind}", 1000 * (time.perf_counter() - begin)))
        self.bytes += len(body)
        if answer.status not in (200, 304):
            self.failed.append(f"{answer.status} {target} {body[:200]!r}")
        if answer.getheader("ETag"):
            self.etags[target] = answer.getheader("ETag")

    def first(self, count):
        """So many owners, as a page of ours; a program has them all."""
        return {} if self.options.all_rows else {"top": count}

    def click(self, connection):
        month = self.random.choice(self.months)
        label = self.random.choice(LABELS)
        year = {"from": self.months[0] + "-01", "to": end_of(self.months[-1])}
        large = [] if self.options.all_rows else LARGE
        page = self.random.random()
        if page < 0.3:  # Overview
            self.ask(connection, "month", "/summary", month=month)
            self.ask(connection, "month", "/costs", by="team", month=month, step="day",
                     **self.first(30))
            if not self.options.all_rows:
                self.ask(connection, "month", "/costs", by="team,kind", month=month,
                         **self.first(1000))
        elif page < 0.6:  # Explore a month, then look into one of its rows
            self.ask(connection, "month", "/costs", by=label, month=month, **self.first(1000))
            self.ask(connection, "month", "/costs", by=f"{label},kind", month=month,
                     filter=f"team=team-{self.random.randrange(40):02d}", **self.first(1000))
            self.ask(connection, "month", f"/dimensions/{label}/values", month=month, limit=20)
        elif page < 0.75:  # by what no label says, or by node or workload
            by = self.random.choice(BUILT_IN + ["node"] + large)
            step = "none" if by == "node" else self.random.choice(["none", "day"])
            self.ask(connection, "month", "/costs", by=by, month=month, step=step,
                     **self.first(1000 if step == "none" else 40))
        elif page < 0.95:  # a year
            by = self.random.choice(LABELS + BUILT_IN + large)
            step = self.random.choice(["none", "month", "month" if by == "user" else "week"])
            self.ask(connection, "year", "/costs", by=by, **year, step=step,
                     filter=[] if self.random.random() < 0.5 else
                     [f"team=team-{self.random.randrange(40):02d}"],
                     **self.first(1000 if step == "none" else 40))
        else:
            self.ask(connection, "month", "/workloads", month=month, limit=100,
                     filter=f"team=team-{self.random.randrange(40):02d}")

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        time.sleep(self.random.random() * self.options.pause)
        while time.monotonic() < self.until:
            try:
                self.click(connection)
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(repr(error))
                connection.close()
            time.sleep(self.random.expovariate(1 / self.options.pause))


def part(times, percent):
    times = sorted(times)
    return times[min(len(times) * percent // 100, len(times) - 1)]


def over_http(options, folder, ledger, rollup):
    pennyweight = options.pennyweight or options.programs / "pennyweight"
    load = options.programs / "bench_ingest_load"
    sql_tool = options.programs / "tests" / "cli" / "sql_tool"
    where = folder / "http"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    data = where / "data"
    data.mkdir()
    shutil.copy(rollup, data / "rollup.duckdb")
    program = harness.Pennyweight(pennyweight, where, sql_tool, data=data, ledger=ledger,
                                  resolution_ms=60_000, flush_ms=15_000, own_clock=False)
    word = where / "password"
    word.write_text("a long enough sentence for a bench\n")
    base = [pennyweight, "--config", program.config]
    run(base + ["user", "add", "bench", "--role", "admin", "--password-file", word])
    token = re.search(r"pwt_\S+", run(base + ["token", "add", "bench", "--name", "bench"]))[0]
    token = token.strip('",|')

    months = month_names(options.first, options.months)
    said = json.loads(run(base + ["report", "--by", "team", "--month", months[0],
                                  "--format", "json"]))
    program.start(patience=120)
    connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=60)
    connection.request("GET", f"/api/v1/costs?by=team&month={months[0]}",
                       headers={"Authorization": f"Bearer {token}"})
    answer = json.loads(connection.getresponse().read())
    report = said.get("tables", said) if isinstance(said, dict) else said
    expect([table["rows"] for table in answer["tables"]] == [table["rows"] for table in report],
           "the API says what the report says")

    bodies = folder / "bodies.bin"
    minutes = max(1, -(-options.seconds // 60))
    start = (int(time.time()) // 60) * 60_000
    made = json.loads(run([load, "make", "--gpus", options.gpus, "--minutes", minutes, "--start-ms",
                           start - 60_000 * minutes, "--shards", 4, "--out", bodies]))
    rate = max(1, made["samples"] // options.seconds)
    before, began = program.cpu_seconds(), time.monotonic()
    sender = subprocess.Popen([str(load), "send", "--port", str(program.port), "--path",
                               "/api/v1/write", "--in", str(bodies), "--rate", str(rate)],
                              stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + options.seconds
    people = [Person(n, program.port, token, options, until) for n in range(options.people)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    output, _ = sender.communicate()
    seconds, cpu = time.monotonic() - began, program.cpu_seconds() - before
    expect(sender.returncode == 0, "the telemetry was sent")
    sent = json.loads(output)
    expect(sent["taken"] == made["samples"], f"every sample was taken: {sent}")
    failed = [what for person in people for what in person.failed]
    expect(not failed, f"{len(failed)} requests failed, such as {failed[:3]}")
    times = [time_of for person in people for time_of in person.times]
    expect(times, "somebody clicked")
    print(f"{options.people} people, {len(times):,} requests in {seconds:.0f} s, "
          f"{sum(person.bytes for person in people) / 1e6:,.0f} MB; meanwhile "
          f"{sent['taken']:,} samples at {rate:,}/s, answered in {sent['answer_ms']['median']:.1f} / "
          f"{sent['answer_ms']['p99']:.1f} ms (median / p99); processor {cpu:.1f} s, "
          f"{cpu / seconds:.2f} cores; peak memory {program.peak_rss() / 2**20:,.0f} MiB")
    print("| over HTTP | requests | p50 | p95 | p99 | longest |")
    print("|---|---|---|---|---|---|")
    for kind in sorted({kind for kind, _ in times}):
        of_kind = [time_of for other, time_of in times if other == kind]
        print(f"| {kind} | {len(of_kind):,} | {part(of_kind, 50):.1f} ms "
              f"| {part(of_kind, 95):.1f} ms | {part(of_kind, 99):.1f} ms | {max(of_kind):.1f} ms |")
    sys.stdout.flush()
    expect(program.stop(patience=300) == 0, "the server ended well")
    bodies.unlink()
    shutil.rmtree(where)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="where they were built")
    parser.add_argument("--pennyweight", type=pathlib.Path, help="another one than is there")
    parser.add_argument("--folder", help="where ledger and rollup are put, and kept")
    parser.add_argument("--nodes", type=int, default=1250)
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--first", default="2025-01")
    parser.add_argument("--hours", type=int, default=1, help="of a bill line, at most a day")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--check", default="some", choices=["all", "some", "none"])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between clicks, on average")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--gpus", type=int, default=10_000, help="that send telemetry meanwhile")
    parser.add_argument("--keep-rollup", action="store_true", help="of an earlier run")
    parser.add_argument("--all-rows", action="store_true", help="as programs ask, not pages")
    parser.add_argument("--no-http", action="store_true")
    parser.add_argument("--no-direct", action="store_true", help="with what an earlier run made")
    parser.add_argument("--tiny", action="store_true", help="for ctest: answers, not times")
    options = parser.parse_args()
    if options.tiny:
        options.nodes, options.months, options.rounds, options.check = 20, 1, 1, "all"
        options.people, options.seconds, options.gpus, options.pause = 4, 4, 64, 0.2
    options.programs = options.programs.resolve()
    folder = pathlib.Path(options.folder) if options.folder else harness.folder("serve")
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    ledger, rollup = made_in(folder, options)
    if not options.no_direct:
        direct(options, ledger, rollup)
    if not options.no_http:
        over_http(options, folder, ledger, rollup)


if __name__ == "__main__":
    harness.guarded(main, "bench/serve")
