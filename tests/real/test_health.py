#!/usr/bin/env python3
"""How a running `serve` says how it is: /readyz, /metrics, `doctor`, and prices that change.

    test_health.py PENNYWEIGHT SQL_TOOL

Beside the stand-in of the Kubernetes API (kube/kube_api.py), whose token is taken away, and a
clock of its own (libfaketime), which is set two minutes on. Two of its three nodes have a price.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "top"))

import harness
import top_kube
from harness import expect, folder, guarded, metric_sum, need, wait_until

PRICE = "gpu_model,unit,price,currency\nNVIDIA-A100-SXM4-80GB,GPU-Hours,{},EUR\n"
NODES = (("n1", 4), ("n2", 1))


def doctor(server):
    done = subprocess.run([server.binary, "--config", server.config, "doctor", "--format", "json"],
                          capture_output=True, text=True, timeout=120, cwd=server.config.parent)
    table = json.loads(done.stdout)[0]
    return done.returncode, [" ".join(str(cell) for cell in row.values()) for row in table["rows"]]


def start(pennyweight, sql_tool, place, api):
    (place / "card.csv").write_text(PRICE.format("1.1"))
    server = harness.Pennyweight(
        pennyweight, place, sql_tool, resolution_ms=60_000,
        more=f"prices: {{rate_card: {place / 'card.csv'}}}\n"
             f"kubernetes: [{{cluster: lab, kubeconfig: {top_kube.kubeconfig(place, api.url)}}}]\n")
    notify = place / "notify.socket"
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(notify))
    manager.settimeout(60)
    server.env["NOTIFY_SOCKET"] = str(notify)
    server.start()
    said = [manager.recv(100).decode() for _ in range(2)]
    expect(said == ["READY=1", "WATCHDOG=1"] or said == ["WATCHDOG=1", "READY=1"],
           f"the service manager is told: {said}")
    return server


def cost_per_hour(server):
    return metric_sum(server.own(), "pennyweight_cost_per_hour", 'kind="')


def check_metrics(server):
    wait_until("the pod has a cost", lambda: metric_sum(
        server.own(), "pennyweight_cost_per_hour", 'kind="held"') > 0)
    own = server.own()
    prices = {labels: value for (name, labels), value in own.items()
              if name == "pennyweight_node_price_per_hour"}
    expect(prices == {'cluster="lab",node="n1",currency="EUR"': 4.4,
                      'cluster="lab",node="n2",currency="EUR"': 1.1}, f"prices of nodes: {prices}")
    expect(metric_sum(own, "pennyweight_nodes_unpriced", 'cluster="lab"') == 1, "n3 has no price")
    ages = [value for (name, labels), value in own.items()
            if name == "pennyweight_source_age_seconds" and 'cluster="lab"' in labels]
    expect(len(ages) == 1 and 0 <= ages[0] < 30, f"the API was heard just now: {ages}")
    check_workloads(server, own)
    _, text = harness.get(server.url + "/metrics")
    helps = [line for line in text.splitlines() if line.startswith("# HELP")]
    expect(len(helps) == len({line.split()[2] for line in helps}), "each family has one help")
    expect(not [line for line in helps if "Samples received" in line], f"help that helps: {helps}")


def check_workloads(server, own):
    """Workloads are there for those who ask, as many as they ask for, and the rest in one sum."""
    name = "pennyweight_workload_cost_per_hour"
    expect(not [key for key in own if key[0] == name], "nobody asked for workloads")
    of_all = {}
    for wanted, workload in ((1, "ml/train"), (5000, "ml/train")):
        found = harness.metrics(f"{server.url}/metrics?workloads={wanted}")
        of_all = {labels: value for (family, labels), value in found.items() if family == name}
        expect(len(of_all) == 1 and sum(of_all.values()) == 2.2
               and all(f'workload="{workload}' in labels for labels in of_all),
               f"2 GPUs at 1.10: {of_all}")
    found = harness.metrics(f"{server.url}/metrics?nodes=1000&gpus=10")
    prices = sum(value for (family, _), value in own.items()
                 if family == "pennyweight_node_price_per_hour")
    nodes = {labels: value for (family, labels), value in found.items()
             if family == "pennyweight_node_cost_per_hour" and 'kind="held_idle"' not in labels}
    held = sum(value for labels, value in nodes.items() if 'kind="held"' in labels)
    # The pod has only begun, and these are averages of minutes.
    expect(abs(sum(nodes.values()) - prices) < 1e-6 and 0 < held < 2.2 + 1e-6
           and not [labels for labels in nodes if "n3" in labels],
           f"nodes cost {prices} an hour, some of it held: {nodes}")
    others = {labels: value for (family, labels), value in
              harness.metrics(f"{server.url}/metrics?nodes=1").items()
              if family == "pennyweight_node_cost_per_hour" and 'kind="held_idle"' not in labels}
    expect(any('node="(others)"' in labels for labels in others)
           and abs(sum(others.values()) - prices) < 1e-6, f"the others are one sum: {others}")
    for query in ("nodes=1001", "gpus=20001", "nodes=x"):
        status, text = harness.get(f"{server.url}/metrics?{query}")
        expect(status == 400 and query.split("=")[0] in text, f"{query}: {status} {text}")
    for bad in ("5001", "-1", "all", "1e3", "1;2"):
        status, text = harness.get(f"{server.url}/metrics?workloads={bad}")
        expect(status == 400 and "0 to 5000" in text, f"{bad}: {status} {text}")


def check_prices(server, place):
    """Files that change are read again; one that can't be read changes nothing."""
    before = cost_per_hour(server)
    card = place / "card.csv"

    def replace(text):
        fresh = card.with_suffix(".new")
        fresh.write_text(text)
        os.utime(fresh, (time.time() + 5, time.time() + 5))
        fresh.rename(card)

    replace(PRICE.format("2.2"))
    wait_until("the new price counts",
               lambda: server_top(server) and abs(cost_per_hour(server) - 2 * before) < 1e-9)
    replace("gpu_model,unit\n")
    wait_until("the bad file is logged", lambda: '"doing": "prices"' in server.log.read_text())
    expect(abs(cost_per_hour(server) - 2 * before) < 1e-9, "a bad file keeps the prices of before")


def server_top(server):
    """Somebody looks, so that the view is made now."""
    return harness.get(server.url + "/api/v1/top")[0] == 200


def main():
    need("setpriv")
    pennyweight, sql_tool = sys.argv[1:3]
    place = folder("health")
    three = [top_kube.node(name, cards) for name, cards in NODES]
    other = top_kube.node("n3", 2)
    other["metadata"]["labels"]["nvidia.com/gpu.product"] = "NVIDIA-of-another-model"
    job = top_kube.thing("Job", "batch/v1", "train", "ml")
    api = top_kube.Api([*three, other, job, top_kube.thing("Namespace", "v1", "ml"),
                        top_kube.pod("train-1", job, 2, "n1", "Running")])
    try:
        server = start(pennyweight, sql_tool, place, api)
        check_metrics(server)
        code, said = doctor(server)
        expect(any("is ready" in line and server.url in line for line in said), f"doctor: {said}")
        expect(any("kubernetes lab was heard" in line for line in said), f"the source: {said}")
        expect(any("1 node has no price" in line for line in said), f"the node: {said}")
        expect(any("1 cluster" in line for line in said), f"clusters that serve reads: {said}")
        check_prices(server, place)

        api._control("token", {"token": "another"})
        api._control("drop", {})
        wait_until("the refusal is counted", lambda: metric_sum(
            server.own(), "pennyweight_source_last_error_timestamp_seconds", 'cluster="lab"') > 0)
        expect(harness.get(server.url + "/readyz")[0] == 200, "a short silence is none")
        server.set_clock(130)
        status, text = wait_until("the API's silence is told", lambda: (
            lambda answer: answer[0] == 503 and answer)(harness.get(server.url + "/readyz")))
        expect("kubernetes lab was last heard from at" in text and "401" in text, f"why: {text}")
        expect(harness.get(server.url + "/healthz")[0] == 200, "it lives")
        code, said = doctor(server)
        expect(code != 0 and any("kubernetes lab was last heard" in line for line in said),
               f"doctor says so, too: {code} {said}")
        api._control("token", {"token": "secret"})
        wait_until("the API is heard again",
                   lambda: harness.get(server.url + "/readyz")[0] == 200)
        expect(server.stop() == 0, "pennyweight ended well")
        code, said = doctor(server)
        expect(any("nothing answers at" in line for line in said), f"nobody runs: {said}")
    finally:
        api.close()


if __name__ == "__main__":
    guarded(main, "real/health")
