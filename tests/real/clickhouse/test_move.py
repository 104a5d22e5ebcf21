#!/usr/bin/env python3
"""A ledger that was moved to ClickHouse and back says the same, and `kill -9` in the midst of it does no
harm: the same command goes on, and until it is done nobody can open what is there.

usage: test_move.py one|cluster|rounds PENNYWEIGHT REPOSITORY

rounds: one server, and ten times as many kills, each at a random moment.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import cluster
from harness import expect, folder, guarded, say
from test_demo import BILLS, CONFIG, REPORTS, STEPS

WATCHED_S = 8  # for how long one who goes on looks whether the other is dead
MORE_STEPS = [  # a month that is delivered again, and a further run
    ["import", "--delivery", "replacement", "philly-bill-2.csv"], ["allocate"]]


class Mover:
    def __init__(self, program, cwd, chance):
        self.program, self.cwd, self.chance = program, cwd, chance
        self.kills = 0

    def run(self, *verb, store=None):
        argv = [self.program, *(["--store", store] if store else []), *verb]
        return subprocess.run(argv, cwd=self.cwd, capture_output=True)

    def begin(self, source, target):
        return subprocess.Popen([self.program, "move", "--from", source, "--to", target],
                                cwd=self.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def whole(self, source, target):
        """Without a fault; how long it took."""
        begun = time.monotonic()
        out, err = (moving := self.begin(source, target)).communicate(timeout=600)
        expect(moving.returncode == 0, f"{source} to {target}: {err.decode()[-800:]}")
        expect(b"postings" in out and b"digest" in out, "the table of what was compared is shown")
        return time.monotonic() - begun

    def with_kills(self, source, target, kills, took, pause):
        """Killed at so many random moments, then left alone."""
        for i in range(kills):
            moving = self.begin(source, target)
            try:
                moving.communicate(timeout=self.chance.uniform(0, took) + (pause if i else 0))
            except subprocess.TimeoutExpired:
                moving.send_signal(signal.SIGKILL)
                moving.communicate()
                self.kills += 1
                continue
            break  # it was done before
        self.whole(source, target)


def answers(mover, store, postings=True):
    """`postings`: also every one of them, which a server under load takes minutes for."""
    said = {}
    for report in REPORTS:
        if report[0] == "doctor":
            continue  # it names the ledger
        done = mover.run(*report, store=store)
        said[" ".join(report)] = (done.returncode, done.stdout)
    for as_of in ("2026-01-01T00:00:00Z", "2100-01-01T00:00:00Z"):
        done = mover.run("report", "--by", "cluster,month", "--as-of", as_of, "--format", "csv",
                         store=store)
        said["as of " + as_of] = (done.returncode, done.stdout)
    if not postings:
        return said
    mover.run("export", "postings", "--out", "postings.csv", store=store)
    said["postings"] = (0, (mover.cwd / "postings.csv").read_bytes())
    return said


def same(name, want, got):
    for what, (code, text) in want.items():
        if what not in got:
            continue
        expect(got[what] == (code, text), f"{name}: {what}: {len(text)} bytes, then "
                                          f"{len(got[what][1])}\n{text[:300]!r}\n"
                                          f"{got[what][1][:300]!r}")
    expect(len(want["postings"][1]) > 1_000_000, "there are postings to compare")


def make_ledger(mover, repository):
    for name in ("philly-nodes.csv", "philly-sacct.txt", "openb-nodes.csv", "openb-pods.csv"):
        shutil.copy(repository / "data" / "demo" / name, mover.cwd)
    (mover.cwd / "pennyweight.yaml").write_text(CONFIG)
    for bill in BILLS:
        subprocess.run([mover.program, *bill], cwd=mover.cwd, check=True, capture_output=True)
    lines = (mover.cwd / "philly-bill.csv").read_text().splitlines(keepends=True)
    (mover.cwd / "philly-bill-2.csv").write_text("".join(lines[:-20]))
    for step in STEPS + MORE_STEPS:
        done = mover.run(*step)
        expect(done.returncode in (0, 1), f"{step}: {done.stderr.decode()[-500:]}")


def main():
    kind, program, repository = sys.argv[1], os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3])
    seed = int(os.environ.get("SEED", "1"))
    kills = 20 if kind == "rounds" else 2
    servers = (cluster.Cluster() if kind == "cluster" else cluster.OneServer()).start()
    mover = Mover(program, folder("move"), random.Random(seed))
    make_ledger(mover, repository)
    want = answers(mover, "pennyweight.duckdb")
    say("there is a ledger")

    took = mover.whole("pennyweight.duckdb", servers.address("whole"))
    same("on ClickHouse", want, answers(mover, servers.address("whole")))
    say(f"moved in {took:.1f} s")
    again = mover.run("move", "--from", "pennyweight.duckdb", "--to", servers.address("whole"))
    expect(again.returncode == 0 and b"exactly the same content" in again.stderr,
           f"moved again it is compared: {again.stderr.decode()[-300:]}")

    moving = mover.begin("pennyweight.duckdb", servers.address("broken"))
    time.sleep(took / 2)
    moving.kill()
    moving.communicate()
    opened = mover.run("report", store=servers.address("broken"))
    if moving.returncode != 0:
        expect(opened.returncode != 0, "nobody opens what is not whole")
    mover.with_kills("pennyweight.duckdb", servers.address("broken"), kills, took, WATCHED_S)
    same("after kills", want, answers(mover, servers.address("broken"), postings=False))
    say(f"{mover.kills} kills on the way there")

    back = mover.whole(servers.address("broken"), "whole.duckdb")
    same("back", want, answers(mover, "whole.duckdb"))
    mover.with_kills(servers.address("whole"), "back.duckdb", kills, back, 0)
    same("back after kills", want, answers(mover, "back.duckdb"))
    expect(not (mover.cwd / "back.duckdb.moving").exists(), "nothing is left beside it")
    say(f"{mover.kills} kills in all")

    mover.run("import", "--cluster", "philly", "philly-nodes.csv", store="back.duckdb")
    other = mover.run("move", "--from", "back.duckdb", "--to", servers.address("whole"))
    expect(other.returncode == 1 and b"is a ledger already" in other.stderr,
           f"another ledger is refused: {other.stderr.decode()[-300:]}")


if __name__ == "__main__":
    guarded(main, f"real/clickhouse_move_{sys.argv[1]}")
