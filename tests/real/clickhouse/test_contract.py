#!/usr/bin/env python3
"""The contract that every keeper of the ledger is held to, on real ClickHouse servers.

usage: test_contract.py one|cluster STORE_CONTRACT_TEST [CLICKHOUSE_TEST]
"""
import os
import subprocess
import sys

import cluster
from harness import expect, guarded, say

ENVIRONMENT = {"one": "TEST_CLICKHOUSE", "cluster": "TEST_CLICKHOUSE_CLUSTER"}
KEEPER = {"one": "clickhouse", "cluster": "clickhouse_cluster"}


def main():
    kind, program = sys.argv[1], sys.argv[2]
    servers = (cluster.OneServer() if kind == "one" else cluster.Cluster()).start()
    say(f"{len(servers.servers)} servers are there")
    done = subprocess.run(
        [os.path.abspath(program), f"--gtest_filter=*/{KEEPER[kind]}:*.{KEEPER[kind]}*"],
        env={**os.environ, ENVIRONMENT[kind]: servers.address()}, capture_output=True, text=True)
    print(done.stdout[-6000:])
    print(done.stderr[-2000:])
    ran = [line for line in done.stdout.splitlines() if line.startswith("[  PASSED  ]")]
    expect(done.returncode == 0, f"the contract is not kept: {done.returncode}")
    expect(ran and int(ran[0].split()[3]) >= 40, f"too few tests ran: {ran}")
    say("the contract was asked for")


if __name__ == "__main__":
    guarded(main, f"real/clickhouse_contract_{sys.argv[1]}")
