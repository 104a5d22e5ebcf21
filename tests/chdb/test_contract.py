#!/usr/bin/env python3
"""The contract that every store of the ledger is held to, on ClickHouse's engine of this year.

usage: test_contract.py STORE_CONTRACT_TEST

That the statements of store/clickhouse are not tied to the server of 2018 that Debian ships. It is
one engine behind server.py, so of one server; without the tests of random ledgers, which are many
small commits and take minutes.
"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "real"))
from harness import Program, expect, folder, free_port, guarded, need, post, say  # noqa: E402

LIBRARY = HERE / "node_modules" / "@chdb" / "lib-linux-x64-gnu" / "libchdb.so"
LEAST = 50  # of the tests there are


def refuses_as_a_server(url):
    """What the client goes by: status and code of what is refused, and that settings are settings."""
    for statement, settings, code in (("SELECT nothing", "", 47), ("SELECT 1", "no_setting=1", 115)):
        status, words = post(f"{url}?{settings}", statement.encode())
        expect(status == 500 and words.startswith(f"Code: {code}. DB::Exception: "),
               f"{statement}: {status} {words[:200]}")
    asked = b"SELECT value FROM system.settings WHERE name = 'max_block_size'"
    given = post(f"{url}?max_block_size=4711", asked)
    expect(given == (200, "4711\n"), f"a setting of one statement: {given}")
    expect(post(url, asked)[1] not in ("", "4711\n"), "and of no other")


def main():
    program = os.path.abspath(sys.argv[1])
    need(str(LIBRARY))
    place, port = folder("chdb"), free_port()
    url = f"http://127.0.0.1:{port}/"
    Program("chdb", [sys.executable, HERE / "server.py", LIBRARY, place / "data", port], place,
            ready=url + "ping").start()
    say(f"ClickHouse {post(url, b'SELECT version()')[1].strip()} is there")
    refuses_as_a_server(url)
    done = subprocess.run(
        [program, "--gtest_filter=*/clickhouse:*.clickhouse-*Agreement*:*Deliveries.*"],
        env={**os.environ, "TEST_CLICKHOUSE": f"clickhouse://127.0.0.1:{port}/"},
        capture_output=True, text=True)
    ran = re.search(r"^\[  PASSED  \] (\d+) tests", done.stdout, re.M)
    if not expect(done.returncode == 0 and ran and int(ran[1]) >= LEAST,
                  f"the contract is not kept, or not asked for: {done.returncode}"):
        print(done.stdout[-6000:], done.stderr[-2000:], sep="\n")
    else:
        say(f"the contract is kept, by {ran[1]} tests")


if __name__ == "__main__":
    guarded(main, "real/clickhouse_chdb")
