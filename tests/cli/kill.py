"""kill -9 at random moments of import and allocate, then again: nothing acknowledged is missing,
nothing is there twice, no half run is visible, and the end is the same bytes as without a kill.

KILL_ROUNDS=200 KILL_SEED=7 for a long run; a failing round prints its seed.
"""
import os
import random
import shutil
import signal
import subprocess
import time

from harness import BILL, BINARY, expect, expect_run, folder, report

ROUNDS = int(os.environ.get("KILL_ROUNDS", "12"))
SEED = int(os.environ.get("KILL_SEED", "1"))
FILES = ["nodes.csv", "jobs.txt", "bill.csv"]
REPORT = ["report", "--by", "team,kind", "--cost", "all", "--format", "csv"]


def killed_after(arguments, cwd, seconds):
    """Whether the program was killed before it ended, and what it had said by then."""
    child = subprocess.Popen([BINARY, *arguments], cwd=cwd, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    try:
        out, _ = child.communicate(timeout=seconds)
        return False, out.decode()
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        out, _ = child.communicate()
        return True, out.decode()


def duration(arguments, cwd):
    begun = time.monotonic()
    expect_run(arguments, cwd)
    return time.monotonic() - begun


whole = folder()
expect_run(BILL, whole)
importing = ["import", "--cluster", "lab", *FILES]
import_seconds = duration(importing, whole)
allocate_seconds = duration(["allocate"], whole)
want, _ = expect_run(REPORT, whole)
kills = 0

for number in range(ROUNDS):
    seed = SEED * 1_000_003 + number
    chance = random.Random(seed)
    cwd = folder()
    shutil.copy(whole / "bill.csv", cwd / "bill.csv")
    # A file whose summary was printed has been acknowledged: it must be there after the kill.
    was_killed, said = killed_after(importing, cwd, chance.uniform(0, 1.1 * import_seconds))
    kills += was_killed
    acknowledged = [name for name in FILES if name in said and "new" in said.split(name, 1)[1]]
    for name in acknowledged[:-1] if was_killed else acknowledged:
        out, _ = expect_run(["import", "--cluster", "lab", name], cwd)
        expect(": 0 new" in out, f"seed {seed}: {name} was acknowledged and is not there: {out}")
    expect_run(importing, cwd)
    was_killed, _ = killed_after(["allocate"], cwd, chance.uniform(0, 1.1 * allocate_seconds))
    kills += was_killed
    if was_killed:
        # All of a run is there or nothing: lines are exact or were never allocated.
        child = subprocess.run([BINARY, "reconcile", "--format", "json"], cwd=cwd,
                               capture_output=True, timeout=300)
        expect(b"off by" not in child.stdout, f"seed {seed}: half a run is visible")
    expect_run(["allocate"], cwd)
    got, _ = expect_run(REPORT, cwd)
    expect(got == want, f"seed {seed}: another report after a kill")
    expect_run(["reconcile"], cwd, 0, ["0 off"])
    shutil.rmtree(cwd)
print(f"{ROUNDS} rounds, {kills} kills")
report("cli/kill")
