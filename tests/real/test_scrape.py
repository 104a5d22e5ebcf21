#!/usr/bin/env python3
"""`pennyweight serve` scrapes exporters itself: a fleet, one that fails for a while, and the captures
of real exporters, whose figures are known.

    test_scrape.py PENNYWEIGHT SQL_TOOL ROOT
"""
import itertools
import json
import pathlib
import sys
import time

import checks
import fleet_exporter
import fleet_truth
import harness
import ledger
from harness import expect, say

SCRAPE_S = 12
MIB = 1 << 20
# MiB of FB_USED by series in each capture, as the captures' README has it.
CAPTURES = {"a100_mig_active_1g5gb.prom": {("GPU-7099682b-a20d-2bcc-74ab-b9060454d81e", "9"): 4384},
            "t4_two_gpu_one_pod.prom": {("GPU-7a2e92f2-be71-d37e-a744-541600ffc722", ""): 128,
                                        ("GPU-5f587dd4-6505-0873-c6db-8324dbfe5ba9", ""): 5}}


def counters_seen(exporter, gpu):
    """The increase of a card's counter over the pages that were served; the outermost may have come
    too late on a busy machine."""
    readings = [(at, fleet_truth.energy_counter(gpu, at)) for at in exporter.moments]
    return {fleet_truth.counted(readings[first:len(readings) - last])
            for first in range(3) for last in range(3)}


def failures_of(server):
    return harness.metric_sum(server.own(), "pennyweight_scrapes_total", "failed")


def known_between(moments, longest_ms):
    """For how many ms something is known of a GPU that was scraped then."""
    pages = [(round(at * 1000), 1.0) for at in moments]
    return fleet_truth.held_mean(pages, pages[0][0], pages[-1][0] + longest_ms, longest_ms)[1]


def main():
    pennyweight, sql_tool, root = sys.argv[1:4]
    harness.need(pennyweight)
    folder = harness.folder("scrape")
    fleet = fleet_exporter.fleet_now(("plain", "mig", "shared", "renamed", "resets"))
    exporters = fleet_exporter.Exporters(fleet)
    captures = {name: fleet_exporter.replay(pathlib.Path(root) / "tests/data/dcgm" / name)
                for name in CAPTURES}
    page = pathlib.Path(folder) / "bad.prom"
    page.write_text("process_open_fds 7\nnot a line of an exporter{\n")
    bad = fleet_exporter.replay(page)
    targets_file = pathlib.Path(folder) / "captures.json"
    targets_file.write_text(json.dumps([{"targets": [capture.target
                                                     for capture in [*captures.values(), bad]]}]))
    server = harness.Pennyweight(
        pennyweight, folder, sql_tool, more="scrape:\n"
        f"  - job: dcgm-exporter\n    interval: 1s\n    cluster: real\n"
        f"    targets: {json.dumps(exporters.targets)}\n"
        f"  - job: captures\n    interval: 1s\n    cluster: captured\n"
        f"    targets_file: {targets_file}\n").start()
    exporters.wait_scraped()
    broken = exporters.nodes["plain-node-0"]
    time.sleep(SCRAPE_S / 3)
    broken.broken = True
    time.sleep(SCRAPE_S / 3)
    broken.broken = False
    time.sleep(SCRAPE_S / 3)
    exporters.close()
    expect(bad.scrapes >= 3, f"{bad.scrapes} scrapes of a page with a bad line")
    warnings = [line for line in server.log.read_text().splitlines()
                if '"bad_lines"' in line and bad.target in line]
    expect(len(warnings) == 1 and "line 2: " in warnings[0],
           f"a bad line is said once, not at each scrape: {warnings}")
    for capture in [*captures.values(), bad]:
        capture.close()
    # Each scrape failed, and its series have ended.
    failed = failures_of(server)
    harness.wait_until("all are gone", lambda: failures_of(server)
                       >= failed + 2 * (len(exporters.nodes) + len(captures)))
    say(f"{exporters.scrapes} scrapes of the fleet, "
        f"{sum(capture.scrapes for capture in captures.values())} of captures")
    expect(exporters.scrapes >= 5 * SCRAPE_S * 0.4, "the fleet was scraped every second")
    server.settle()
    expect(server.stop() == 0, "pennyweight ended well")
    rows = ledger.usages(sql_tool, server.ledger)
    checks.nothing_twice(rows)

    energies = ledger.energy(rows)
    for name, gpus in fleet.items():
        for gpu in gpus:
            want = counters_seen(exporters.nodes[name], gpu)
            expect(energies.get(gpu.uuid) in want,
                   f"{name}: {energies.get(gpu.uuid)} mJ, the pages served say {want}")
    means = ledger.sums(rows, "engine_active_ppm", server.resolution_ms)
    for node in ("plain-node-0", "renamed-node-3"):
        known = sum(ms for (uuid, _, _), buckets in means.items() for _, ms in buckets.values()
                    if uuid == fleet[node][0].uuid)
        # A value holds until the next scrape, and 2.5 intervals of 1 s where there was none; each
        # end of a wait is a little late on a busy machine.
        moments = exporters.nodes[node].moments
        least, most = (known_between(moments, longest) for longest in (1000, 4000))
        say(f"known of a card of {node}: {known / 1000:.1f} s, between {least / 1000:.1f} and "
            f"{most / 1000:.1f}")
        expect(least - 1000 <= known <= most + 1000, f"{node}: {known} ms are known")
    gap = max(after - before for before, after in itertools.pairwise(
        exporters.nodes["plain-node-0"].moments))
    expect(gap >= SCRAPE_S / 3 - 0.5, f"the exporter was away for {gap} s")

    for name, figures in CAPTURES.items():
        for (gpu, instance), mebibytes in figures.items():
            used = {row["memory_used_bytes"] for row in rows if row["gpu"] == gpu
                    and row["mig_instance"] == instance and row["memory_used_bytes"] is not None}
            expect(used == {mebibytes * MIB}, f"{name}: {gpu}/{instance}: {used} bytes used")
            expect(energies.get(gpu, 0) == 0, f"{name}: a counter that stands still used nothing")
    expect({row["cluster"] for row in rows} == {"real", "captured"}, "both clusters are there")


if __name__ == "__main__":
    harness.guarded(main, "real/scrape")
