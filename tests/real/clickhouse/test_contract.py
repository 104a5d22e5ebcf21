#!/usr/bin/env python3
"""The contract that every store of the ledger is held to, on real ClickHouse servers.

usage: test_contract.py one|cluster|random|random_cluster STORE_CONTRACT_TEST

one, cluster: without the tests of random ledgers, which are many small commits and take minutes;
random, random_cluster: these alone. A ledger on a cluster takes seconds to make, so fewer are made there.
"""
import os
import subprocess
import sys

import cluster
from harness import expect, guarded, say

RANDOM_ON_CLUSTER = 30  # ledgers of each test; rapidcheck's own are 100


def main():
    kind, program = sys.argv[1], sys.argv[2]
    many, random = kind.endswith("cluster"), kind.startswith("random")
    servers = (cluster.Cluster() if many else cluster.OneServer()).start()
    store = "clickhouse_cluster" if many else "clickhouse"
    of_random = f"*Agreement*/{store}:*Deliveries.*/{store}"
    chosen = of_random if random else f"*/{store}:*.{store}*-{of_random}"
    environment = {**os.environ, "TEST_CLICKHOUSE_CLUSTER" if many else "TEST_CLICKHOUSE":
                   servers.address()}
    if many:
        environment.setdefault("RC_PARAMS", f"max_success={RANDOM_ON_CLUSTER}")
    say(f"{len(servers.servers)} servers are there")
    done = subprocess.run([os.path.abspath(program), f"--gtest_filter={chosen}"],
                          env=environment, capture_output=True, text=True)
    print(done.stdout[-6000:])
    print(done.stderr[-2000:])
    ran = [line for line in done.stdout.splitlines() if line.startswith("[  PASSED  ]")]
    expect(done.returncode == 0, f"the contract is not kept: {done.returncode}")
    least = 2 if random else 40
    expect(ran and int(ran[0].split()[3]) >= least, f"too few tests ran: {ran}")
    say("the contract was asked for")


if __name__ == "__main__":
    guarded(main, f"real/clickhouse_contract_{sys.argv[1]}")
