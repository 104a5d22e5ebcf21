#!/usr/bin/env python3
"""Who takes in the same samples with how much processor and memory: one run, one table.

    bench/ingest.py build/release/bench_ingest_load --pennyweight build/release/pennyweight \\
        --sql-tool build/release/sql_tool [--gpus 10000] [--minutes 10] [--only NAME] [--tiny]

Makes remote_write bodies of a fleet (bench/ingest_fleet.h: 12 metrics of each GPU every 30 s,
labels as dcgm-exporter writes them) and sends these same bytes over loopback to pennyweight,
VictoriaMetrics and Prometheus, one after the other, each with a fresh store: as fast as they are
acknowledged, or at --rate. Processor time is that of the whole process, user and system, without
its start: while bodies were sent, and until it had ended by itself, with everything on its disk.
Before a time is printed, each is asked how many samples it took and what one series said.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "real"))
import harness  # noqa: E402
from harness import expect  # noqa: E402


class Target:
    """What is asked of a receiver beside being one."""

    def __init__(self, program, write_path, taken, probe):
        self.program, self.write_path, self.taken, self.probe = program, write_path, taken, probe


def selector(probe):
    return f'{probe["metric"]}{{UUID="{probe["UUID"]}",cluster="bench"}}'


def of_victoria_metrics(folder):
    program = harness.VictoriaMetrics(folder)

    def taken():
        program.flush()
        return harness.metric_sum(program.own(), "vm_rows_inserted_total", "promremotewrite")

    def probe(wanted):
        found = program.query(selector(wanted), at=wanted["last_ms"] / 1000)
        return float(found[0]["value"][1]) == wanted["last_value"] if found else False

    return Target(program, "/api/v1/write", taken, probe)


def of_prometheus(folder):
    program = harness.Prometheus(folder, receive=True)

    def taken():
        # The receiver counts samples of its head, among them none of its own: it scrapes nothing.
        return harness.metric_sum(program.own(), "prometheus_tsdb_head_samples_appended_total")

    def probe(wanted):
        found = program.query(selector(wanted), at=wanted["last_ms"] / 1000)
        return float(found[0]["value"][1]) == wanted["last_value"] if found else False

    return Target(program, "/api/v1/write", taken, probe)


def of_pennyweight(folder, binary, sql_tool):
    program = harness.Pennyweight(binary, folder, sql_tool, resolution_ms=60_000, flush_ms=15_000,
                                  own_clock=False)

    def taken():
        return program.samples_taken()

    return Target(program, "/api/v1/write", taken, None)


def is_written(program, series):
    """Whether all rows are in the ledger, but for the open minute of each series."""
    # /metrics needs a live view, which costs what is measured here: so not before the log says that
    # rows were written.
    log = program.log.read_text(errors="replace").splitlines()
    if not any(json.loads(line).get("usages") for line in log if '"event": "flush"' in line):
        return False
    own = program.own()
    return (harness.metric_sum(own, "pennyweight_waiting_samples") == 0
            and harness.metric_sum(own, "pennyweight_pending_rows") == 0
            and harness.metric_sum(own, "pennyweight_pieces") <= series)


def measure(name, target, load, bodies, made, rate):
    program = target.program.start(patience=60)
    before = program.cpu_seconds()
    command = [load, "send", "--port", program.port, "--path", target.write_path, "--in", bodies]
    if rate:
        command += ["--rate", rate]
    sent = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if not expect(sent.returncode == 0, f"{name}: {sent.stderr}"):
        program.kill()
        return None
    load_result = json.loads(sent.stdout)
    sending = program.cpu_seconds() - before
    expect(load_result["taken"] == made["samples"], f"{name}: {load_result} of {made['samples']}")
    taken = harness.wait_until(f"{name} has all {made['samples']} samples, not {target.taken()}",
                               lambda: target.taken() == made["samples"], patience=30)
    if target.probe:
        expect(target.probe(made["probe"]), f"{name} says what was sent of {made['probe']}")
    if not target.probe:
        # Its last minutes become rows with the stop. Whatever the stop had no time for would be read
        # and written again by the next start, which would be counted too.
        harness.wait_until(f"{name} has written all but what is new",
                           lambda: is_written(program, made["series"]), patience=600,
                           pause=5)
    expect(program.stop(patience=300) == 0, f"{name} ended well")
    cpu_all = program.usage.ru_utime + program.usage.ru_stime - before
    if not target.probe:
        # What a stop has no time for stays in the journal, and the next start writes it.
        starts = 0
        while not program.energy_is(made["probe"]) and starts < 3:
            starts += 1
            written = program.start(patience=120).flushes()
            harness.wait_until("the journal's rows are written",
                               lambda: program.flushes() > written, patience=120)
            program.stop(patience=300)
            cpu_all += program.usage.ru_utime + program.usage.ru_stime
        expect(program.energy_is(made["probe"]), f"{name}'s ledger says {made['probe']}")
    return {"name": name, "seconds": load_result["seconds"], "samples": made["samples"],
            "cpu_sending": sending, "cpu_all": cpu_all,
            "peak_mib": program.peak / 2**20, "again": load_result["again"],
            "answer_ms": load_result["answer_ms"], "taken": bool(taken)}


def table(rows):
    print("| receiver | samples/s | processor, sending | processor, to the end |"
          " samples per processor-second | peak memory | median / p99 answer |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['name']} | {row['samples'] / row['seconds']:,.0f} "
              f"| {row['cpu_sending']:.2f} s | {row['cpu_all']:.2f} s "
              f"| {row['samples'] / row['cpu_all']:,.0f} | {row['peak_mib']:,.0f} MiB "
              f"| {row['answer_ms']['median']:.1f} / {row['answer_ms']['p99']:.1f} ms |")
    ours = next((row for row in rows if row["name"] == "pennyweight"), None)
    for row in rows:
        if ours and row is not ours:
            print(f"pennyweight takes {row['cpu_all'] / ours['cpu_all']:.2f} times the samples of "
                  f"{row['name']} in a second of processor time")
    for row in rows:
        share = 100_000 * 12 / 30 * row["cpu_all"] / row["samples"]
        print(f"{row['name']}: 100,000 GPUs at 30 s (40,000 samples/s) take {share:.2f} cores")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("load")
    parser.add_argument("--pennyweight")
    parser.add_argument("--sql-tool")
    parser.add_argument("--gpus", type=int, default=10_000)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--per-body", type=int, default=2000)
    parser.add_argument("--rate", type=int, default=0, help="samples a second; else all it takes")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--folder", help="where bodies and stores are put; else a temporary one")
    parser.add_argument("--tiny", action="store_true", help="for ctest: answers, not times")
    options = parser.parse_args()
    if options.tiny:
        options.gpus, options.minutes = 64, 3
    if options.folder:
        folder = pathlib.Path(options.folder)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    else:
        folder = harness.folder("bench")
    bodies = folder / "bodies.bin"
    # The stream ends now: no receiver is sent samples of the future, or of a month ago.
    start = (int(time.time()) // 60 - options.minutes - 1) * 60_000
    done = subprocess.run([options.load, "make", "--gpus", str(options.gpus), "--minutes",
                           str(options.minutes), "--start-ms", str(start), "--shards",
                           str(options.connections), "--per-body", str(options.per_body),
                           "--out", str(bodies)], check=True, capture_output=True, text=True)
    made = json.loads(done.stdout)
    print(f"{options.gpus:,} GPUs, {options.minutes} min: {made['samples']:,} samples of "
          f"{made['series']:,} series in {made['bodies']:,} bodies, {made['bytes'] / 1e6:,.0f} MB "
          f"({made['plain_bytes'] / 1e6:,.0f} MB before snappy), {options.connections} connections",
          flush=True)
    receivers = {}
    if options.pennyweight:
        receivers["pennyweight"] = lambda where: of_pennyweight(where, options.pennyweight,
                                                                options.sql_tool)
    if shutil.which("victoria-metrics"):
        receivers["victoria-metrics"] = of_victoria_metrics
    if shutil.which("prometheus"):
        receivers["prometheus"] = of_prometheus
    rows = []
    for name, make in receivers.items():
        if options.only and name not in options.only:
            continue
        where = folder / name
        where.mkdir()
        row = measure(name, make(where), options.load, bodies, made, options.rate)
        if row:
            rows.append(row)
            print(json.dumps(row), flush=True)
    if not harness.failures:
        table(rows)


if __name__ == "__main__":
    harness.guarded(main, "bench/ingest")
