#!/usr/bin/env python3
"""The demonstration's ledger on ClickHouse says what it says in a file, byte for byte.

usage: test_demo.py one|cluster PENNYWEIGHT REPOSITORY
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import cluster
from harness import expect, folder, guarded, say

WHEN = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?")
CONFIG = """clusters:
  - {name: philly, kind: slurm, time_zone: UTC}
  - {name: openb, kind: kubernetes, origin: 2023-01-01}
"""
BILLS = [
    ["generate", "bill", "--nodes", "philly-nodes.csv", "--from", "2017-10-01", "--to", "2017-11-05",
     "--prices-as-of", "2025-06-01", "--out", "philly-bill.csv"],
    ["generate", "bill", "--nodes", "openb-nodes.csv", "--from", "2023-01-01", "--to", "2023-05-25",
     "--prices-as-of", "2025-06-01", "--seed", "2", "--out", "openb-bill.csv"]]
# Imported twice: the second time nothing is new.
STEPS = [
    ["import", "--cluster", "philly", "philly-nodes.csv", "philly-sacct.txt", "philly-bill.csv"],
    ["import", "--cluster", "openb", "openb-nodes.csv", "openb-pods.csv", "openb-bill.csv"],
    ["allocate"],
    ["import", "--cluster", "philly", "philly-nodes.csv", "philly-sacct.txt", "philly-bill.csv"],
    ["allocate"],
    ["close", "2017-10", "--by", "ana", "--reason", "audited"]]
REPORTS = [
    ["reconcile", "--format", "json"],
    ["report", "--by", "cluster", "--cost", "all", "--format", "csv"],
    ["report", "--by", "cluster,node,kind", "--every", "day", "--format", "json"],
    ["report", "--by", "team,user", "--cost", "all", "--format", "csv"],
    ["report", "--by", "month,service,category,instance_type", "--every", "week", "--format", "csv"],
    ["explain", "--by", "team", "--key", "7f04ca", "--top", "3"],
    ["audit", "utilization", "--format", "json"],
    ["restatements", "--format", "csv"],
    ["doctor", "--format", "json"]]


def outputs(program, cwd, store):
    said = {}

    def run(verb):
        done = subprocess.run([program, *store, *verb], cwd=cwd, capture_output=True)
        # When it was closed, the clock on the wall says.
        text = WHEN.sub(b"(when)", done.stdout) if verb[0] == "close" else done.stdout
        said[" ".join(verb) + f" #{len(said)}"] = (done.returncode, text)
        return done
    for step in STEPS:
        done = run(step)
        expect(done.returncode in (0, 1), f"{step}: {done.returncode} {done.stderr.decode()[-500:]}")
    for report in REPORTS:
        run(report)
    run(["export", "postings", "--out", "postings.csv"])
    said["postings"] = (0, (cwd / "postings.csv").read_bytes())
    return said


def main():
    kind, program, repository = sys.argv[1], os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3])
    servers = (cluster.OneServer() if kind == "one" else cluster.Cluster()).start()
    places = [folder("demo") for _ in range(2)]
    for place in places:
        for name in ("philly-nodes.csv", "philly-sacct.txt", "openb-nodes.csv", "openb-pods.csv"):
            shutil.copy(repository / "data" / "demo" / name, place)
        (place / "pennyweight.yaml").write_text(CONFIG)
        for bill in BILLS:
            subprocess.run([program, *bill], cwd=place, check=True, capture_output=True)
    say("bills are there")
    there = outputs(program, places[0], [])
    say("in a file")
    here = outputs(program, places[1], ["--store", servers.address("demo")])
    say("on ClickHouse")
    for what, want in there.items():
        if what.startswith("doctor"):
            continue  # it names the ledger
        expect(here[what] == want, f"{what}: {len(want[1])} bytes in a file, "
                                   f"{len(here[what][1])} on ClickHouse\n"
                                   f"{want[1][:400]!r}\n{here[what][1][:400]!r}")
    expect(len(there["postings"][1]) > 1_000_000, "there are postings to compare")


if __name__ == "__main__":
    guarded(main, f"real/clickhouse_demo_{sys.argv[1]}")
