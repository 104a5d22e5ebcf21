#!/usr/bin/env python3
"""Nodes of three clouds are priced without a price file: while they run, and once a day is settled.

    test_clouds.py PENNYWEIGHT SQL_TOOL

Beside the stand-in of the Kubernetes API (kube/kube_api.py), and a clock of its own (libfaketime),
which is set past midnight. The nodes say what the clouds' controllers write on them: instance type,
region and provider ID. A fourth one has a type that no list has; it is named, and the others count.
"""
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "top"))

import harness
import top_kube
from harness import expect, folder, guarded, metric_sum, need, say, wait_until

# Name, instance type, region, provider ID; list prices are the built-in catalog's, per hour.
CLOUDS = (
    ("aws-1", "p5.48xlarge", "us-east-1", "aws:///us-east-1a/i-0123456789abcdef0"),
    ("azure-1", "Standard_ND96isr_H100_v5", "eastus",
     "azure:///subscriptions/0f3c/resourceGroups/gpu/providers/Microsoft.Compute/"
     "virtualMachineScaleSets/pool/virtualMachines/0"),
    ("gcp-1", "a3-highgpu-8g", "us-central1", "gce://project/us-central1-a/gcp-1"),
)
UNKNOWN = ("odd-1", "x9.colossal", "us-east-1", "aws:///us-east-1a/i-0fedcba9876543210")


def cloud_node(name, instance_type, region, provider_id):
    one = top_kube.node(name, 8)
    one["metadata"]["labels"].update({
        "node.kubernetes.io/instance-type": instance_type,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": region + "-a",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"})
    one["spec"]["providerID"] = provider_id
    return one


def prices(server):
    return {name: value for name, value in (
        (labels.split('node="')[1].split('"')[0], value)
        for (family, labels), value in server.own().items()
        if family == "pennyweight_node_price_per_hour")}


def report(server, *words):
    done = subprocess.run([server.binary, "--config", server.config, *words, "--format", "json"],
                          capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def main():
    need("setpriv")
    pennyweight, sql_tool = sys.argv[1:3]
    place = folder("clouds")
    month = time.strftime("%Y-%m", time.gmtime())
    job = top_kube.thing("Job", "batch/v1", "train", "ml")
    api = top_kube.Api([*(cloud_node(*one) for one in (*CLOUDS, UNKNOWN)), job,
                        top_kube.thing("Namespace", "v1", "ml"),
                        *(top_kube.pod(f"train-{one[0]}", job, 8, one[0], "Running")
                          for one in CLOUDS)])
    server = harness.Pennyweight(
        pennyweight, place, sql_tool, resolution_ms=60_000,
        more=f"kubernetes: [{{cluster: lab, kubeconfig: {top_kube.kubeconfig(place, api.url)}}}]\n")
    try:
        server.start()
        wait_until("each node has a price", lambda: len(prices(server)) == len(CLOUDS))
        found = prices(server)
        say(f"prices of an hour: {found}")
        expect(sorted(found) == sorted(one[0] for one in CLOUDS), f"prices: {found}")
        expect(all(value > 0 for value in found.values()), f"prices: {found}")
        expect(metric_sum(server.own(), "pennyweight_nodes_unpriced", 'cluster="lab"') == 1,
               "the fourth has none")
        def an_hour(kind):
            harness.get(server.url + "/api/v1/top")  # somebody looks: the view is made now
            return metric_sum(server.own(), "pennyweight_cost_per_hour", f'kind="{kind}"')

        wait_until("what is held has its cost", lambda: an_hour("held") > 0)
        wait_until("an hour costs what its nodes cost", lambda: abs(
            an_hour("held") + an_hour("unallocated") - sum(found.values())) < 1e-6)
        top = harness.get(server.url + "/api/v1/top?format=text")[1]
        expect("odd-1" in top or "x9.colossal" in top, f"the one without a price is named: {top}")

        # The day ends, and is settled at the same prices.
        into_day = int(time.time()) % 86_400
        server.set_clock(86_400 - into_day + 15 * 60)
        wait_until("the day is settled", lambda: metric_sum(
            server.own(), "pennyweight_ledger_total", 'what="estimates"') >= len(CLOUDS))
        wait_until("the day is allocated", lambda: metric_sum(
            server.own(), "pennyweight_ledger_total", 'what="runs"') >= 1)
        expect(server.stop() == 0, "pennyweight ended well")
        rows = report(server, "report", "--month", month, "--by", "node")[0]["rows"]
        text = json.dumps(rows)
        say(text)
        for name, *_ in CLOUDS:
            expect(name in text, f"{name} has a charge in {month}: {text}")
        expect("odd-1" not in text, "what has no price has no charge")
    finally:
        server.kill()
        api.close()


if __name__ == "__main__":
    guarded(main, "real/clouds")
