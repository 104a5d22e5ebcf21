#!/usr/bin/env python3
"""A day of a fleet, sped up: memory stays flat, and the ledger has the day.

    soak.py PENNYWEIGHT SQL_TOOL LOAD [--gpus 1000] [--hours 24] [--tiny]

The generator's bodies carry the times of a day that is over, and are sent as fast as they are
taken, hour by hour. Flat means: the most that was resident in the second half of the day is at most
1.1 times the most in its first quarter.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import threading
import time

import harness
import ledger
from harness import expect, say

FLAT = 1.1
SAMPLE_S = 0.2


class Watch:
    """What is resident, over time."""

    def __init__(self, program):
        self.program, self.readings, self.over = program, [], False
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self):
        while not self.over:
            try:
                self.readings.append((time.monotonic(), self.program.rss()))
            except (OSError, KeyError):
                pass
            time.sleep(SAMPLE_S)

    def most(self, begin, end):
        return max((rss for at, rss in self.readings if begin <= at <= end), default=0)

    def stop(self):
        self.over = True
        self.thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pennyweight")
    parser.add_argument("sql_tool")
    parser.add_argument("load")
    parser.add_argument("--gpus", type=int, default=1000)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--tiny", action="store_true", help="for ctest")
    options = parser.parse_args()
    if options.tiny:
        options.gpus, options.hours = 40, 12
    folder = harness.folder("soak")
    # Whole hours; the last one ends before now.
    start = (int(time.time()) // 3600 - options.hours) * 3_600_000
    server = harness.Pennyweight(options.pennyweight, folder, options.sql_tool, resolution_ms=60_000,
                                 flush_ms=15_000, own_clock=False).start()
    watch = Watch(server)
    hours, samples = [time.monotonic()], 0
    for hour in range(options.hours):
        bodies = pathlib.Path(folder) / "bodies.bin"
        made = json.loads(subprocess.run(
            [options.load, "make", "--gpus", str(options.gpus), "--minutes", "60", "--start-ms",
             str(start), "--first-scrape", str(hour * 120), "--shards", "2", "--out",
             str(bodies)], check=True, capture_output=True, text=True).stdout)
        sent = subprocess.run([options.load, "send", "--port", str(server.port), "--in",
                               str(bodies)], capture_output=True, text=True)
        if not expect(sent.returncode == 0, f"hour {hour}: {sent.stderr}"):
            return
        samples += json.loads(sent.stdout)["taken"]
        hours.append(time.monotonic())
        say(f"hour {hour + 1}: {samples:,} samples, {server.rss() / 2**20:,.0f} MiB resident, "
            f"{json.loads(sent.stdout)['seconds']:.1f} s")
        expect(made["samples"] == options.gpus * 12 * 120, f"hour {hour}: {made}")
    watch.stop()
    quarter, half = hours[options.hours // 4], hours[options.hours // 2]
    early, late = watch.most(hours[0], quarter), watch.most(half, hours[-1])
    say(f"{options.hours} hours of {options.gpus:,} GPUs: {samples:,} samples in "
        f"{hours[-1] - hours[0]:.0f} s; most resident: first quarter {early / 2**20:,.0f} MiB, "
        f"second half {late / 2**20:,.0f} MiB, ratio {late / early:.3f}")
    expect(samples == options.gpus * 12 * 120 * options.hours, f"{samples} samples were taken")
    # A small process is mostly what it starts with; its caches are not full in a few seconds.
    if not options.tiny:
        expect(late <= FLAT * early, f"memory is flat: {late} <= {FLAT} x {early}")
    else:
        expect(late <= early + (64 << 20), f"memory of a tiny run stays small: {late}, {early}")
    expect(server.stop() == 0, "the server ended well")
    spans = ledger.table(options.sql_tool, server.ledger,
                         "SELECT count(*) AS n, count(DISTINCT gpu) AS gpus, "
                         "sum(span_ms) FILTER (engine_active_ppm IS NOT NULL) AS ms FROM usages "
                         "WHERE span_ms > 0")[0]
    # All but the ends of the day: what is open when the server ends is in its journal.
    least = options.gpus * (options.hours * 3600 - 300) * 1000
    expect(int(spans["gpus"]) == options.gpus, f"GPUs of the ledger: {spans}")
    expect(least <= int(spans["ms"] or 0) <= options.gpus * options.hours * 3_600_000,
           f"time that the ledger speaks for: {spans}, at least {least}")
    say(f"the ledger: {int(spans['n']):,} spans, {server.ledger.stat().st_size / 2**20:,.0f} MiB")


if __name__ == "__main__":
    harness.guarded(main, "soak")
