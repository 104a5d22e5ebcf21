#!/usr/bin/env python3
"""From what bench/scale.py measured to what larger fleets take: the tables of docs/SCALE.md.

    bench/scale_plan.py FIGURES.json [--store shards] [--rows 2] [--months 13] [--gpus 10000,100000,1000000]

Everything is in proportion to device-minutes, as docs/SCALE.md argues, with the figures of one store.
Prices are those of data/prices/rates.csv, on demand, for 730 hours.
"""
import argparse
import csv
import json
import math
import pathlib

PRICES = pathlib.Path(__file__).resolve().parent.parent / "data" / "prices" / "rates.csv"
HOURS = 730
DAYS = 365.25 / 12  # of a month
REPLICAS = 2
FULL = 0.7          # of a disk
CORES_BUSY = 0.3    # of the cores, in the mean: the rest is for the hour in which all come at once
# A shard's server: the smallest whose disks hold its part. Cores, and bytes of local disk, as AWS
# describes the types.
SERVERS = [("i3en.large", 2, 1.25e12), ("i3en.xlarge", 4, 2.5e12), ("i3en.2xlarge", 8, 5e12),
           ("i3en.3xlarge", 12, 7.5e12), ("i3en.6xlarge", 24, 15e12)]
KEEPERS = (3, "c7i.large")
TAKES_IN = ("c7i.xlarge", 100_000)  # one `serve` for so many GPUs: docs/PERFORMANCE.md
WORKER = ("c7i.4xlarge", 16)
NETWORK = 0.02  # dollars a GB between zones, both directions


def per_month(name):
    with open(PRICES) as prices:
        for row in csv.DictReader(prices):
            if (row["provider"], row["region"], row["instance_type"], row["option"]) == \
                    ("aws", "us-east-1", name, "on_demand"):
                return float(row["per_hour"]) * HOURS
    raise SystemExit(f"no price of {name}")


def measured(measured_store):
    """Of one device-minute: seconds of processor, and bytes."""
    loads = [step for what, step in measured_store["load"].items() if what.startswith("usage")]
    rows = sum(step["rows"] for step in loads)
    divided = measured_store["divide"]["allocate"]
    postings = (measured_store["bytes"].get("postings", 0)) / len(measured_store["divide"])
    return {"load_ours": sum(step["cpu"] for step in loads) / rows,
            "load_servers": sum(step["server_cpu"] for step in loads) / rows,
            "divide_ours": divided["cpu"] / rows, "divide_servers": divided["server_cpu"] / rows,
            "telemetry": measured_store["loaded_bytes"]["usages"] / rows, "postings": postings / rows}


def plan(gpus, figures, options):
    """`rows`: of telemetry, for a device-minute."""
    minutes = gpus * 1440  # a day
    rows = minutes * options.rows
    # Earlier runs are kept: a day's postings are written once a night until its month is over.
    replica = DAYS * options.months * (rows * figures["telemetry"]
                                       + minutes * figures["postings"] * DAYS / 2)
    taking_in = rows / 86_400 * (figures["load_ours"] + REPLICAS * figures["load_servers"])
    # Each night every month is divided anew as far as it is; half of it in the mean.
    dividing = minutes * DAYS / 2 / 86_400 * (figures["divide_ours"] + figures["divide_servers"])
    shards, server = 0, None
    for server in SERVERS:
        shards = math.ceil(replica / (server[2] * FULL))
        cores = shards * REPLICAS * server[1]
        if shards == 1 and taking_in + dividing <= cores * CORES_BUSY:
            break
    month = minutes * DAYS
    workers = max(2, math.ceil(month * figures["divide_ours"] / WORKER[1] / 3600))
    takes_in = math.ceil(gpus / TAKES_IN[1])
    wire = rows * figures["telemetry"] * DAYS * 2  # to a server, and to its replica
    costs = {"servers": shards * REPLICAS * per_month(server[0]),
             "ZooKeeper": KEEPERS[0] * per_month(KEEPERS[1]),
             "serve": takes_in * per_month(TAKES_IN[0]),
             "workers": workers * per_month(WORKER[0]), "network": wire / 1e9 * NETWORK}
    return {"rows a day": f"{rows / 1e6:,.1f} M",
            "rows a second": f"{rows / 86_400:,.0f}",
            f"kept {options.months} months, each replica": f"{replica / 1e12:,.2f} TB",
            "processor, taking in": f"{taking_in:.2f} cores",
            "processor, dividing every night": f"{dividing:.2f} cores",
            "the whole month once more, servers' processor":
                f"{month * figures['divide_servers'] / 3600:,.1f} core-hours",
            "network, servers": f"{2 * rows / 86_400 * figures['telemetry'] * 8 / 1e6:,.1f} Mbit/s",
            "shards × replicas": f"{shards} × {REPLICAS} {server[0]}",
            "serve": f"{takes_in} {TAKES_IN[0]}", "workers": f"{workers} {WORKER[0]}",
            **{f"$ a month, {what}": f"{cost:,.0f}" for what, cost in costs.items()},
            "**$ a month**": f"**{sum(costs.values()):,.0f}**"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=pathlib.Path)
    parser.add_argument("--store", default="shards")
    parser.add_argument("--rows", type=float, default=2, help="of telemetry, a device-minute")
    parser.add_argument("--months", type=int, default=13)
    parser.add_argument("--gpus", default="10000,100000,1000000")
    options = parser.parse_args()
    figures = measured(json.loads(options.figures.read_text())[options.store])
    print("| of a million device-minutes | |\n|---|---|")
    for what, value in figures.items():
        shown = f"{value:.2f} bytes each" if what in ("telemetry", "postings") \
            else f"{value * 1e6:.2f} s of processor"
        print(f"| {what.replace('_', ', ')} | {shown} |")
    plans = {gpus: plan(int(gpus), figures, options) for gpus in options.gpus.split(",")}
    print("\n| GPUs | " + " | ".join(f"{int(gpus):,}" for gpus in plans) + " |\n|---|"
          + "---|" * len(plans))
    for what in next(iter(plans.values())):
        print(f"| {what} | " + " | ".join(measured_store[what] for measured_store in plans.values()) + " |")


if __name__ == "__main__":
    main()
