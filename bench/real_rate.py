#!/usr/bin/env python3
"""What a fleet costs at the rate at which it really sends, beside VictoriaMetrics in one run.

    bench/real_rate.py --pennyweight build/release/pennyweight \\
        --sql-tool build/release/tests/cli/sql_tool [--gpus 4000] [--minutes 5] [--tiny]

The same remote_write bodies go to both at the same moments, so that whatever else the machine does
slows both: 12 metrics of each GPU every 30 s, as dcgm-exporter names them, and what
kube-state-metrics says of the pods that hold four of five GPUs, 5 series of each pod. The processor
time is that of each whole process, user and system, from the first body to the last; the memory is
the most that was resident.
"""
import argparse
import pathlib
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "real"))
import harness  # noqa: E402
import remote_write  # noqa: E402
from harness import expect  # noqa: E402

METRICS = ["DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_POWER_USAGE",
           "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_UTIL",
           "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
           "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
           "DCGM_FI_PROF_DRAM_ACTIVE"]
SERIES_OF_A_BODY = 2000


def value_of(metric, gpu, scrape):
    noise = (gpu * 7919 + scrape * 104729) % 1000
    if "ENERGY" in metric:
        return float(10_000_000 + gpu * 1000 + scrape * 12_000_000 + noise)
    if "PROF" in metric:
        return noise / 1000
    return float(50 + noise % 40)


def node_of(gpu):
    return f"gpu-{gpu // 8:05}"


def pod_of(gpu):
    return f"train-{gpu // 8:05x}-worker-{gpu % 8}"


def series_of(gpus, created_s):
    """[(labels, metric or its fixed value, gpu), …], the nodes first."""
    found = []
    of_state = {"cluster": "bench", "instance": "10.0.0.2:8080", "job": "kube-state-metrics"}

    def add_state(name, value, **labels):
        found.append(({"__name__": name, **of_state, **labels}, value, 0))

    for node in range(0, gpus, 8):
        add_state("kube_node_info", 1.0, node=node_of(node), provider_id=f"x://{node}")
        add_state("kube_node_created", created_s, node=node_of(node))
        add_state("kube_node_labels", 1.0, node=node_of(node),
                  label_nvidia_com_gpu_product="NVIDIA-H100-80GB-HBM3")
        add_state("kube_node_status_capacity", 8.0, node=node_of(node),
                  resource="nvidia_com_gpu", unit="integer")
    for gpu in range(gpus):
        labels = {"cluster": "bench", "DCGM_FI_DRIVER_VERSION": "550.90.07",
                  "Hostname": node_of(gpu), "UUID": f"GPU-{gpu:08x}-0000-4000-8000-000000000000",
                  "device": f"nvidia{gpu % 8}", "gpu": str(gpu % 8),
                  "instance": f"10.1.{gpu // 2048}.{gpu // 8 % 256}:9400", "job": "dcgm-exporter",
                  "modelName": "NVIDIA H100 80GB HBM3"}
        pod = {"namespace": f"team-{gpu // 8 % 40}", "pod": pod_of(gpu)}
        is_held = gpu % 5 < 4
        if is_held:
            labels |= {"container": "main", **pod}
            pod["uid"] = f"u{gpu}"
            add_state("kube_pod_info", 1.0, node=node_of(gpu), **pod)
            add_state("kube_pod_status_scheduled_time", created_s, **pod)
            add_state("kube_pod_start_time", created_s, **pod)
            add_state("kube_pod_status_phase", 1.0, phase="Running", **pod)
            add_state("kube_pod_container_resource_requests", 1.0, node=node_of(gpu),
                      container="main", resource="nvidia_com_gpu", unit="integer", **pod)
        for metric in METRICS:
            found.append(({"__name__": metric, **labels}, metric, gpu))
    return found


class Sender(threading.Thread):
    """Takes bodies to one receiver, each at its moment."""

    def __init__(self, name, url):
        super().__init__(daemon=True)
        self.of, self.url = name, url
        self.bodies, self.ready, self.failed, self.sent = [], threading.Condition(), 0, 0

    def give(self, body):
        with self.ready:
            self.bodies.append(body)
            self.ready.notify()

    def run(self):
        while True:
            with self.ready:
                self.ready.wait_for(lambda: self.bodies)
                body = self.bodies.pop(0)
            if body is None:
                return
            request = urllib.request.Request(self.url, data=body, headers={
                "Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
                "X-Prometheus-Remote-Write-Version": "0.1.0"})
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    self.failed += answer.status not in (200, 204)
            except OSError as error:
                self.failed += 1
                print(self.of, error, flush=True)
            self.sent += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pennyweight", required=True)
    parser.add_argument("--sql-tool", required=True)
    parser.add_argument("--gpus", type=int, default=4000)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--warm-minutes", type=float, default=2, help="not measured")
    parser.add_argument("--flush-s", type=int, default=60, help="serve.flush_every")
    parser.add_argument("--tiny", action="store_true", help="for ctest: answers, not times")
    options = parser.parse_args()
    every_s = 30
    if options.tiny:
        options.gpus, options.minutes, options.warm_minutes, every_s = 16, 0.05, 0, 1
    folder = harness.folder("rate")
    card = folder / "card.csv"
    card.write_text("gpu_model,unit,price,currency\n*,GPU-Hours,2.5,USD\n")
    ours = harness.Pennyweight(options.pennyweight, folder, options.sql_tool, resolution_ms=60_000,
                               flush_ms=options.flush_s * 1000, own_clock=False, serve={"allocate_every": "60s"},
                               more=f"prices:\n  rate_card: {card}\n").start()
    theirs = harness.VictoriaMetrics(folder).start()
    series = series_of(options.gpus, float(int(time.time()) - 7200))
    bodies = [series[at:at + SERIES_OF_A_BODY] for at in range(0, len(series), SERIES_OF_A_BODY)]
    senders = [Sender("pennyweight", ours.write_url), Sender("victoria-metrics",
                                                             theirs.url + "/api/v1/write")]
    for sender in senders:
        sender.start()
    rate = len(series) / every_s
    print(f"{options.gpus:,} GPUs: {len(series):,} series, {rate:,.0f} samples/s", flush=True)
    began = time.monotonic()
    before, used, ends = None, None, began + (options.warm_minutes + options.minutes) * 60
    sent, scrape = 0, 0
    while time.monotonic() < ends:
        for number, some in enumerate(bodies):
            due = began + every_s * (scrape + number / len(bodies))
            time.sleep(max(0, due - time.monotonic()))
            if before is None and time.monotonic() >= began + options.warm_minutes * 60:
                before = [time.monotonic(), ours.cpu_seconds(), theirs.cpu_seconds()]
            if time.monotonic() >= ends:
                break
            now_ms = int(time.time() * 1000)
            body = remote_write.encode(
                [(labels, [(now_ms, value_of(what, gpu, scrape) if isinstance(what, str) else what)])
                 for labels, what, gpu in some])
            sent += len(some)
            for sender in senders:
                sender.give(body)
        scrape += 1
    for sender in senders:
        sender.give(None)
    for sender in senders:
        sender.join(60)
        expect(sender.failed == 0, f"{sender.of} refused {sender.failed} of {sender.sent} bodies")
    seconds = time.monotonic() - before[0]
    used = [ours.cpu_seconds() - before[1], theirs.cpu_seconds() - before[2]]
    taken = harness.wait_until(f"pennyweight has all {sent} samples, not {ours.samples_taken()}",
                               lambda: ours.samples_taken() == sent, patience=30)
    rss = [ours.peak_rss(), theirs.peak_rss()]
    expect(ours.stop(patience=120) == 0, "pennyweight ended well")
    expect(theirs.stop(patience=120) == 0, "victoria-metrics ended well")
    print("| receiver | processor | of one core | peak memory |")
    print("|---|---|---|---|")
    for name, cpu, peak in zip(("pennyweight", "victoria-metrics"), used, rss):
        print(f"| {name} | {cpu:.2f} s | {100 * cpu / seconds:.2f} % | {peak / 2**20:,.0f} MiB |")
    if taken and used[1] > 0:
        print(f"pennyweight: {used[0] / used[1]:.2f} x the processor of victoria-metrics")


if __name__ == "__main__":
    harness.guarded(main, "bench/real_rate")
