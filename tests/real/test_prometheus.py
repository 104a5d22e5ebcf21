#!/usr/bin/env python3
"""A real Prometheus scrapes a fleet of dcgm-exporters and writes to `pennyweight serve`.

    test_prometheus.py PENNYWEIGHT SQL_TOOL

Every way of sharing and every trap that the exporter can show is a node of the fleet. Prometheus'
own count of what it sent must be ours of what we took, and the ledger must say what the samples say.
"""
import sys
import time

import checks
import fleet_exporter
import fleet_truth
import harness
import ledger
import remote_write
from harness import expect, say

SCRAPE_S = 12


def main():
    pennyweight, sql_tool = sys.argv[1:3]
    harness.need("prometheus", pennyweight)
    folder = harness.folder("prometheus")
    server = harness.Pennyweight(pennyweight, folder, sql_tool).start()
    recorder = remote_write.Recorder(server.port)
    fleet = fleet_exporter.fleet_now(fleet_truth.MODES)
    exporters = fleet_exporter.Exporters(fleet)
    honoured = fleet_exporter.Exporters({"honoured-node": [
        fleet_truth.Gpu("honoured-node", k, "plain", int(time.time())) for k in range(2)]})
    # As a Kubernetes scrape adds them: pod, namespace and container of the exporter itself.
    own = {"pod": "dcgm-exporter-x7k2p", "namespace": "gpu-operator", "container": "exporter"}
    prometheus = harness.Prometheus(
        folder, write_to=recorder.url,
        jobs=[{"job": "dcgm-exporter", "targets": exporters.targets, "labels": own},
              {"job": "dcgm-honoured", "targets": honoured.targets, "honor_labels": True,
               "labels": own}]).start()
    exporters.wait_scraped()
    time.sleep(SCRAPE_S)
    prometheus.stop_scraping()
    prometheus.drain()
    sent, lost, _ = prometheus.sent()
    acknowledged, count = recorder.samples()
    taken = server.samples_taken()
    say(f"{exporters.scrapes + honoured.scrapes} scrapes; Prometheus sent {sent:,} samples, "
        f"{lost} of them lost; {count:,} were acknowledged, {taken:,} taken")
    expect(sent > 1000 and lost == 0, "data flowed and none was dropped")
    expect(sent == count == taken, f"sent {sent}, acknowledged {count}, taken {taken}")
    server.settle()
    expect(prometheus.stop() == 0, "Prometheus ended well")
    expect(server.stop() == 0, "pennyweight ended well")

    rows, _ = checks.whole_ledger(server, acknowledged)
    energies(exporters, rows)
    shares(fleet, rows)
    workloads(rows)
    exporters.close()
    honoured.close()


def energies(exporters, rows):
    """Near the truth between the pages that were served: nothing before the first
    one is known, and the outermost may have come too late for Prometheus."""
    found = ledger.energy(rows)
    for name, gpus in exporters.fleet.items():
        moments = exporters.nodes[name].moments
        for gpu in gpus:
            most = fleet_truth.used_millijoules(gpu, moments[0], moments[-1])
            least = fleet_truth.used_millijoules(gpu, moments[2], moments[-3])
            # A reset hides what was used since the reading before it, blanks hide their ends.
            least = least // 2 if gpu.mode in ("resets", "sentinels") else least
            expect(least - 10 <= found.get(gpu.uuid, 0) <= most + 10,
                   f"{gpu.node}: {found.get(gpu.uuid)} mJ, in truth {least} to {most}")


def shares(fleet, rows):
    """The mean over all that is known lies near the true one: a sample a second of values that
    change every five misses a tenth of a step at each change, on a busy machine some more. A value
    taken for its neighbour's would be a third off."""
    means = ledger.sums(rows, "engine_active_ppm", 5000)
    off = []
    for gpu in (gpu for gpus in fleet.values() for gpu in gpus):
        for instance in [i for i, _, _ in fleet_truth.MIG_INSTANCES] if gpu.mode == "mig" else [0]:
            whole = [(begin, total / ms) for (uuid, mig, _), buckets in means.items()
                     if uuid == gpu.uuid and mig == (str(instance) if instance else "")
                     for begin, (total, ms) in buckets.items() if ms == 5000]
            off += [abs(mean - fleet_truth.mean_ppm(gpu, "engine", begin / 1000,
                                                    begin / 1000 + 5, instance))
                    for begin, mean in whole]
    expect(len(off) >= 10, f"{len(off)} whole buckets are known")
    mean_off = sum(off) / max(len(off), 1)
    say(f"means of {len(off)} buckets are {mean_off / 10_000:.1f} % off the truth on average")
    expect(mean_off <= 200_000, f"means are {mean_off} ppm off")


def workloads(rows):
    """`pod` is the exporter's own unless labels are honoured; who held the GPU is known either
    way, and power and energy are of the GPU."""
    named = {(row["node"], row["workload"] or "") for row in rows
             if row["engine_active_ppm"] is not None}
    for node in ("plain-node-0", "renamed-node-3", "honoured-node"):
        for k in range(2):
            pod = f"team-{'ab'[k]}/train-{node}-{k}"
            expect((node, pod) in named, f"{pod} is named: {sorted(named)}")
    expect(not any("exporter" in workload for _, workload in named),
           f"no exporter is a workload: {sorted(named)}")
    shared = {workload for node, workload in named if node == "shared-node-2"}
    expect(len(shared) == 7, f"three pods of each shared card, and the card itself: {shared}")
    of_cards = [row for row in rows if row["energy_used_millijoules"] is not None]
    expect(of_cards and not any(row["mig_instance"] for row in of_cards),
           "energy is reported for GPUs, not for instances")


if __name__ == "__main__":
    harness.guarded(main, "real/prometheus")
