#!/usr/bin/env python3
"""A fleet's month, loaded, divided and asked for: in a file, on one ClickHouse, on two shards.

    bench/scale.py build/release/pennyweight --folder /var/tmp/scale [--clusters 10] [--gpus 1000]
                   [--days 30] [--stores file,one,shards] [--loaders 1,2] [--workers 1,2] [--tiny]

Makes clusters of so many whole cards each, with jobs that follow one another on one to eight cards,
a bill line a node and day at list prices, and one row of telemetry a card and minute. Each store
takes in the same files with `pennyweight import`, a file a cluster and day: the days are shared out
among the numbers of loaders that run at once (a file on disk has one). Then the month is divided,
by `pennyweight allocate` and, on ClickHouse, by so many `pennyweight work` at once, each time by
another policy, so that all of it is due; and what a dashboard shows is asked for with `pennyweight
report`. Making files is not timed. Reports and reconciliations of all stores are held against each
other byte for byte before a table is printed; --out keeps the figures as JSON.

Times are by the clock, of everything, with the processor time of ours and of the servers beside
them: servers, loaders and workers share this machine.
"""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "real"
sys.path[:0] = [str(TESTS), str(TESTS / "clickhouse")]
import cluster as clickhouse  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

CARDS = 8  # of a node
MINUTES = 1440
FIRST_DAY = "2026-04-{:02d}"  # a month of thirty days
MONTH = "2026-04"
MEMORY = 85_899_345_920

# Each makes every run due again.
POLICIES = {"max": "basis: max", "request": "basis: request", "usage": "basis: usage",
            "blend": "basis: {blend: 0.5}"}
QUESTIONS = {
    "the month by cluster": ["--by", "cluster"],
    "the month by team": ["--by", "team"],
    "by team and day": ["--by", "team", "--every", "day"],
    "by project and kind": ["--by", "project,kind"],
    "by node, first ten": ["--by", "node", "--top", "10"],
    "a team's workloads, first ten": ["--by", "workload", "--filter", "team=team-07", "--top", "10"],
    "by workload, first ten": ["--by", "workload", "--top", "10"],
}
COMPARED = [
    ["report", "--by", "cluster", "--cost", "all", "--format", "csv"],
    ["report", "--by", "cluster,kind,team", "--every", "day", "--cost", "all", "--format", "json"],
    ["report", "--by", "node,kind", "--format", "csv"],
    ["reconcile", "--format", "json"],
]


# ------------------------------------------------------------------------------ a fleet

class Fleet:
    """One cluster: its tables, and a day of its telemetry at a time."""

    def __init__(self, number, gpus, days):
        self.name, self.gpus, self.days = f"c-{number:02d}", gpus, days
        self.cards = [f"GPU-{number:02d}{card:06d}-5a0c-4c1e-9d2b-0123456789ab"
                      for card in range(gpus)]
        self.nodes = [f"gpu-{number:02d}-{node:05d}" for node in range(gpus // CARDS)]
        chance = random.Random(number)
        self.jobs = []  # begin and end in minutes, the cards, the workload
        for node in range(len(self.nodes)):
            together = chance.choice([8, 8, 8, 4, 4, 2, 1, 1])
            for first in range(node * CARDS, (node + 1) * CARDS, together):
                at = chance.randrange(-720, 60)
                while at < days * MINUTES:
                    end = at + chance.randrange(60, 960)
                    self.jobs.append((at, end, range(first, first + together),
                                      f"research/run-{number:02d}-{len(self.jobs):07d}"))
                    at = end + chance.randrange(1, 30)

    def write_tables(self, folder):
        chance = random.Random(self.name)
        with open(folder / "nodes.csv", "w") as out:
            out.write("cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,"
                      "vcpu,memory_gib,from\n")
            for node in self.nodes:
                out.write(f"{self.name},{node},i-{node},p5.48xlarge,us-east-1,h100,NVIDIA H100 80GB HBM3,"
                          f"{CARDS},192,2048,2026-03-01\n")
        with open(folder / "gpus.csv", "w") as out:
            out.write("node,uuid,index,model,from\n")
            for card, uuid in enumerate(self.cards):
                out.write(f"{self.nodes[card // CARDS]},{uuid},{card % CARDS},"
                          "NVIDIA H100 80GB HBM3,2026-03-01\n")
        with open(folder / "holdings.csv", "w") as out:
            out.write("workload,begin,end,gpu,vcpu,memory_gib,team,project,user\n")
            for begin, end, cards, workload in self.jobs:
                team = chance.randrange(40)
                out.write(f"{workload},{moment(begin)},{moment(end)},"
                          f"{';'.join(self.cards[card] for card in cards)},{20 * len(cards)},"
                          f"{200 * len(cards)},team-{team:02d},project-{chance.randrange(200):03d},"
                          f"user-{team:02d}-{chance.randrange(25):02d}\n")
        return [folder / name for name in ("nodes.csv", "gpus.csv", "holdings.csv")]

    def write_usage(self, path, day, minutes=range(MINUTES), second=0):
        """What each card did, minute after minute as exporters say it."""
        begin = day * MINUTES
        idle = f",0,0,{MEMORY},"
        who = [[idle] * MINUTES for _ in self.cards]
        chance = random.Random(f"{self.name} {day}")
        busy = [f",0.{chance.randrange(1000):03d},{chance.randrange(MEMORY)},{MEMORY},"
                for _ in range(4096)]
        for number, (start, end, cards, workload) in enumerate(self.jobs):
            low, high = max(start - begin, 0), min(end - begin, MINUTES)
            for card in cards if low < high else ():
                shift = number * 7919 + card * 104_729
                who[card][low:high] = [busy[(shift + minute) & 4095] + workload
                                       for minute in range(low, high)]
        named = [f"{self.nodes[card // CARDS]},{uuid}," for card, uuid in enumerate(self.cards)]
        with open(path, "w") as out:
            out.write("node,gpu,at,engine_active,memory_used_bytes,memory_total_bytes,workload\n")
            for minute in minutes:
                at = moment(begin + minute, second)
                out.write("\n".join([name + at + did[minute] for name, did in zip(named, who)]))
                out.write("\n")


def write_bill(fleets, made, options):
    """One for all of them, as an account has it."""
    bill = options.folder / "bill.csv"
    subprocess.run([options.pennyweight, "generate", "bill",
                    *(part for fleet in fleets for part in ("--nodes", made[fleet.name][0])),
                    "--from", FIRST_DAY.format(1), "--to", FIRST_DAY.format(options.days),
                    "--prices-as-of", "2026-07-20", "--out", bill],
                   check=True, capture_output=True)
    return bill


def moment(minute, second=0):
    """A minute since the month began, as text."""
    day, of_day = divmod(minute, MINUTES)
    date = (f"2026-04-{day + 1:02d}" if 0 <= day < 30
            else f"2026-03-{32 + day:02d}" if day < 0 else f"2026-05-{day - 29:02d}")
    return f"{date}T{of_day // 60:02d}:{of_day % 60:02d}:{second:02d}Z"


# ------------------------------------------------------------------------------ programs

class Run:
    """A pennyweight that runs; what it used is known when it has ended."""

    alive = []

    def __init__(self, store, verb):
        self.verb, self.peak = verb, 0
        self.log = store.folder / f"{next(store.numbers):05d}-{verb[0]}.log"
        self.out = self.log.with_suffix(".out")
        with open(self.log, "wb") as log, open(self.out, "wb") as out:
            self.process = subprocess.Popen(
                [str(part) for part in [store.pennyweight, "--quiet", *store.flags, *verb]],
                cwd=store.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=log)
        Run.alive.append(self)

    def look(self):
        """What wait4() says of memory can be this script's, from before it became the program."""
        with contextlib.suppress(OSError):
            for line in open(f"/proc/{self.process.pid}/status"):
                if line.startswith("VmHWM:"):
                    self.peak = max(self.peak, int(line.split()[1]) * 1024)

    def wait(self):
        pid = 0
        while not pid:
            for run in Run.alive:
                run.look()
            time.sleep(0.01)
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        Run.alive.remove(self)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        # 1: the data says no, which is never so here.
        if self.process.returncode != 0:
            raise RuntimeError(f"{self.verb} ended with {self.process.returncode}: "
                               f"{self.log.read_text()[-2000:]}")
        return self

    def said(self):
        return self.out.read_text()


class Figures:
    """What a step took: by the clock, and of processors ours and the servers'."""

    def __init__(self, store):
        self.store, self.runs = store, []
        self.servers = store.server_cpu()
        self.wire = loopback_bytes()
        self.begin = time.monotonic()

    def ended(self, **more):
        return {"seconds": time.monotonic() - self.begin, "cpu": sum(run.cpu for run in self.runs),
                "server_cpu": self.store.server_cpu() - self.servers,
                "wire_bytes": loopback_bytes() - self.wire,
                "peak_bytes": max((run.peak for run in self.runs), default=0), **more}


def loopback_bytes():
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split()[1])
    return 0


class Store:
    """Where a ledger is: a file here; ClickHouse below."""

    def __init__(self, name, folder, pennyweight):
        self.name, self.folder, self.pennyweight = name, folder, pennyweight
        self.numbers, self.flags = itertools.count(), []
        folder.mkdir()
        self.use("max")

    def use(self, policy):
        (self.folder / "pennyweight.yaml").write_text(
            f"policy:\n  name: {policy}\n  {POLICIES[policy]}\n")

    def run(self, *verb):
        return Run(self, list(verb))

    def timed(self, *verb):
        figures = Figures(self)
        figures.runs.append(self.run(*verb).wait())
        return figures.ended()

    shared = False  # whether several programs may write it at once

    def server_cpu(self):
        return 0.0

    def settle(self):
        pass

    def bytes_on_disk(self):
        return {"all": sum(path.stat().st_size for path in self.folder.glob("pennyweight.duckdb*"))}

    def peaks(self):
        return []

    def stop(self):
        pass


class OnServers(Store):
    shared = True

    def __init__(self, name, folder, pennyweight, servers):
        super().__init__(name, folder, pennyweight)
        self.servers = servers.start()
        self.flags = ["--store", servers.address("scale")]

    def programs(self):
        keeper = getattr(self.servers, "keeper", None)
        return self.servers.servers + ([keeper] if keeper else [])

    def server_cpu(self):
        return sum(program.cpu_seconds() for program in self.programs())

    def settle(self):
        """Until the servers have put together what was written in pieces."""
        quiet = 0
        while quiet < 3:
            time.sleep(1)
            merging = sum(int(server.ask("SELECT count() FROM system.merges")[0][0])
                          for server in self.servers.servers)
            quiet = 0 if merging else quiet + 1

    def bytes_on_disk(self):
        tables = {}
        for server in self.servers.servers:
            for table, size in server.ask(
                    "SELECT table, sum(bytes_on_disk) FROM system.parts WHERE active AND "
                    "database = 'scale' GROUP BY table"):
                table = table.removesuffix("_local")
                tables[table] = tables.get(table, 0) + int(size)
        return {"all": sum(tables.values()), **tables}

    def peaks(self):
        return [program.peak_rss() for program in self.programs()]

    def stop(self):
        self.servers.stop()


def make_store(name, folder, pennyweight):
    if name == "file":
        return Store(name, folder / name, pennyweight)
    servers = clickhouse.OneServer() if name == "one" else clickhouse.Cluster(2, 1)
    return OnServers(name, folder / name, pennyweight, servers)


# ------------------------------------------------------------------------------ steps

def load(store, fleets, options, made):
    """Tables, then telemetry day by day; figures of both."""
    figures = Figures(store)
    for fleet in fleets:
        figures.runs.append(store.run("import", "--cluster", fleet.name, *made[fleet.name]).wait())
    figures.runs.append(store.run("import", options.folder / "bill.csv").wait())
    summary = {"tables": figures.ended()}
    numbers = options.loaders if store.shared else [1]
    parts = {number: [] for number in numbers}
    for day in range(options.days):
        number = numbers[day * len(numbers) // options.days]
        waiting = []
        for fleet in fleets:
            path = options.folder / f"usage-{fleet.name}.csv"
            fleet.write_usage(path, day)
            waiting.append(("import", "--cluster", fleet.name, path))
        figures = Figures(store)
        running = []
        while waiting or running:
            while waiting and len(running) < number:
                running.append(store.run(*waiting.pop(0)))
            # The first of them; the others go on meanwhile.
            figures.runs.append(running.pop(0).wait())
        parts[number].append(figures.ended(rows=sum(fleet.gpus for fleet in fleets) * MINUTES))
        print(f"{store.name}: day {day + 1} of {options.days} by {number}, "
              f"{parts[number][-1]['seconds']:.1f} s", flush=True)
    for number, days in parts.items():
        summary[f"usage by {number}"] = {
            key: (max if key == "peak_bytes" else sum)(day[key] for day in days)
            for key in (days[0] if days else ())}
    return summary


def load_a_minute(store, fleets, options):
    """What `serve` writes of a cluster every minute, where the rows of its day are there already."""
    took = []
    for fleet in fleets:
        path = options.folder / f"usage-{fleet.name}.csv"
        fleet.write_usage(path, options.days - 1, [MINUTES - 1], 30)
        took.append(store.timed("import", "--cluster", fleet.name, path))
    return {key: statistics.median(one[key] for one in took)
            for key in ("seconds", "cpu", "server_cpu")}


def divide(store, options):
    """By `allocate`, and by workers; each time another policy is due. Ends with the last one."""
    policies = iter(POLICIES)
    store.use(next(policies))
    summary = {"allocate": store.timed("allocate")}
    for number in options.workers:
        store.use(next(policies))
        if not store.shared:
            store.run("allocate").wait()
            continue
        figures = Figures(store)
        running = [store.run("work", "--worker", f"worker-{i}", "--once", "--poll", "0.5")
                   for i in range(number)]
        figures.runs = [run.wait() for run in running]
        summary[f"work by {number}"] = figures.ended()
    return summary


def ask(store, options):
    summary = {}
    for what, question in QUESTIONS.items():
        runs = [store.timed("report", *question, "--format", "csv")
                for _ in range(options.rounds)]
        summary[what] = {"seconds": statistics.median(run["seconds"] for run in runs)}
    return summary


def measure(name, fleets, options, made):
    store = make_store(name, options.folder, options.pennyweight)
    busy = [os.getloadavg()[0]]
    summary = {"load": load(store, fleets, options, made)}
    store.settle()
    summary["loaded_bytes"] = store.bytes_on_disk()
    summary["minute"] = load_a_minute(store, fleets, options)
    summary["divide"] = divide(store, options)
    store.settle()
    summary["bytes"] = store.bytes_on_disk()
    summary["ask"] = ask(store, options)
    summary["answers"] = [store.run(*verb).wait().said() for verb in COMPARED]
    summary["server_peaks"] = store.peaks()
    summary["busy"] = [*busy, os.getloadavg()[0]]
    store.stop()
    if not options.keep:
        shutil.rmtree(store.folder)
    return summary


# ------------------------------------------------------------------------------ tables

def megabytes(count):
    return f"{count / 2**20:,.0f} MiB"


def table(results, options):
    minutes = options.clusters * options.gpus * options.days * MINUTES
    print(f"\n{options.clusters} clusters of {options.gpus:,} GPUs, {options.days} days: "
          f"{minutes:,} device-minutes; {os.cpu_count()} cores, whose load was, before and after "
          "each: " + ", ".join(f"{name} {summary['busy'][0]:.1f} and {summary['busy'][1]:.1f}"
                               for name, summary in results.items()) + "\n")
    print("| store | step | by the clock | a second | processor, ours | servers' | "
          "most memory, ours | over loopback |\n|---|---|---|---|---|---|---|---|")
    for name, summary in results.items():
        for what, step in [*summary["load"].items(), *summary["divide"].items()]:
            per_second = (step["rows"] if "rows" in step else minutes) / step["seconds"]
            rate = "" if what == "tables" else f"{per_second:,.0f} device-minutes"
            print(f"| {name} | {what} | {step['seconds']:,.1f} s | {rate} | {step['cpu']:,.1f} s | "
                  f"{step['server_cpu']:,.1f} s | {megabytes(step['peak_bytes'])} | "
                  f"{megabytes(step['wire_bytes'])} |")
    print("\n| store | on disk, facts | of it telemetry | a device-minute | with postings |"
          " servers' most memory |\n|---|---|---|---|---|---|")
    for name, summary in results.items():
        loaded, usages = summary["loaded_bytes"]["all"], summary["loaded_bytes"].get("usages")
        peaks = ", ".join(megabytes(peak) for peak in summary["server_peaks"])
        print(f"| {name} | {megabytes(loaded)} | {megabytes(usages) if usages else ''} | "
              f"{(usages or loaded) / minutes:.2f} bytes | {megabytes(summary['bytes']['all'])} | "
              f"{peaks} |")
    print("\n| store | a minute of one cluster more | processor, ours | servers' |\n"
          "|---|---|---|---|")
    for name, summary in results.items():
        minute = summary["minute"]
        print(f"| {name} | {minute['seconds']:.2f} s | {minute['cpu']:.2f} s | "
              f"{minute['server_cpu']:.2f} s |")
    print("\n| asked with `report`, the program's start included | " +
          " | ".join(results) + " |\n|---|" + "---|" * len(results))
    for what in QUESTIONS:
        print(f"| {what} | " + " | ".join(f"{summary['ask'][what]['seconds']:.2f} s"
                                          for summary in results.values()) + " |")


def compare(results):
    first, *others = results
    for name in others:
        for verb, here, there in zip(COMPARED, results[name]["answers"], results[first]["answers"]):
            expect(here == there, f"{name} and {first} differ in {' '.join(verb)}:\n{here[:500]}\n"
                                  f"{there[:500]}")
    expect(len(results[first]["answers"][0].splitlines()) > 1, "there is something to compare")


def numbers(text):
    return [int(part) for part in text.split(",") if part]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pennyweight", type=os.path.abspath)
    parser.add_argument("--folder", type=pathlib.Path, help="else a temporary one")
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--gpus", type=int, default=1000, help="of a cluster; eight to a node")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--stores", default="file,one,shards")
    parser.add_argument("--loaders", type=numbers, default=[1, 2])
    parser.add_argument("--workers", type=numbers, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3, help="of each question")
    parser.add_argument("--keep", action="store_true", help="the folder of each store")
    parser.add_argument("--out", type=pathlib.Path, help="where the figures go, as JSON")
    parser.add_argument("--tiny", action="store_true", help="for ctest: answers, not times")
    options = parser.parse_args()
    if options.tiny:
        options.clusters, options.gpus, options.days, options.rounds = 2, 16, 2, 1
    stores = [name for name in options.stores.split(",") if name]
    if "one" in stores or "shards" in stores:
        harness.need("clickhouse-server")
    if options.folder:
        options.folder = options.folder.resolve()
        shutil.rmtree(options.folder, ignore_errors=True)
        options.folder.mkdir(parents=True)
    else:
        options.folder = harness.folder("scale")
    fleets = [Fleet(number, options.gpus, options.days) for number in range(options.clusters)]
    made = {}
    for fleet in fleets:
        where = options.folder / fleet.name
        where.mkdir()
        made[fleet.name] = fleet.write_tables(where)
    write_bill(fleets, made, options)
    print(f"{sum(len(fleet.jobs) for fleet in fleets):,} jobs", flush=True)
    results = {}
    try:
        for name in stores:
            results[name] = measure(name, fleets, options, made)
            if options.out:
                options.out.write_text(json.dumps(results, indent=1))
    finally:
        for run in Run.alive:
            run.process.kill()
    compare(results)
    if not harness.failures:
        table(results, options)


if __name__ == "__main__":
    harness.guarded(main, "bench/scale")
