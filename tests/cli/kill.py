"""kill -9 at random moments of import and allocate, and within chosen writes of a checkpoint, then
again: nothing acknowledged is missing, nothing is there twice, no half run is visible, and the end
is the same bytes as without a kill.

KILL_ROUNDS=200 KILL_SEED=7 for a long run; a failing round prints its seed. KILL_EVERY=1 cuts every
write of an import, not only those that a checkpoint stands and falls with.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from harness import BILL, BINARY, expect, expect_run, folder, report, run

CUTTER = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else None
ROUNDS = int(os.environ.get("KILL_ROUNDS", "6"))
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


def state_of(cwd, said):
    """What lies in the folder, and which block of the store can't be read: for a failure's message."""
    files = ", ".join(f"{path.name} {path.stat().st_size:,} bytes"
                      for path in sorted(cwd.glob("pennyweight.duckdb*")))
    block = re.search(r"block at location (\d+)", said)
    where = f"; block {(int(block[1]) - 12288) // 262144}" if block else ""
    return f"{cwd} is kept: {files}{where}"


def expect_good(arguments, cwd, moment, has=()):
    """Runs what must succeed after a kill at `moment`; on failure the folder is kept as it is now."""
    before = cwd.with_name(cwd.name + "-before")
    shutil.copytree(cwd, before)
    got, out, err = run(arguments, cwd)
    good = got == 0 and all(out.count(text) == count for text, count in has)
    expect(good, f"{moment}: {' '.join(arguments)}: exit code {got}\n{out}{err}"
                 f"{state_of(before, err)}")
    if good:
        shutil.rmtree(before)
    return out


def cut(arguments, cwd, number, size):
    """Runs until it is killed within its write `number`, of which `size` bytes are written."""
    done = subprocess.run(
        [BINARY, *arguments], cwd=cwd, capture_output=True, timeout=300,
        env={**os.environ, "LD_PRELOAD": CUTTER, "CUT_NAME": "pennyweight.duckdb",
             "CUT_AT": str(number), "CUT_BYTES": str(size)})
    expect(done.returncode == -signal.SIGKILL, f"write {number}: not killed: {done}")


def writes_of(arguments, cwd):
    """The writes and removals of a whole run: number, call, file, offset, bytes."""
    log = cwd / "writes"
    done = subprocess.run(
        [BINARY, *arguments], cwd=cwd, capture_output=True, timeout=300,
        env={**os.environ, "LD_PRELOAD": CUTTER, "CUT_NAME": "pennyweight.duckdb",
             "CUT_LOG": str(log)})
    expect(done.returncode == 0, f"with {CUTTER}: {done}")
    writes = []
    for line in log.read_text().splitlines():
        number, call, file, offset, size = line.split()
        writes.append((int(number), call, os.path.basename(file), int(offset), int(size)))
    return writes


def moments_of(writes):
    """The (number, bytes) of the cuts that decide: blocks that the last checkpoint needs are written
    again in place, their copies are made before, the new header and the removals come after."""
    made = max(offset + size for _, _, file, offset, size in writes if ".making-" in file)
    in_place, moments = [], []
    for number, call, file, offset, size in writes:
        if call == "remove" and file in ("pennyweight.duckdb.wal", "pennyweight.duckdb.rescue"):
            moments.append((number, 0))
        elif file == "pennyweight.duckdb.rescue.new" and call == "write":
            moments.append((number, size // 2))
        elif file == "pennyweight.duckdb" and offset < 12288:
            moments.append((number, 0))
        elif file == "pennyweight.duckdb" and offset < made:
            in_place += [(number, 4096), (number, size // 2)]
    expect(in_place, f"no block is written in place: {writes}")
    return in_place, moments


def every_moment_of(writes):
    return [(number, size) for number, _, file, _, whole in writes if "audit" not in file
            for size in sorted({0, whole // 2, max(whole - 4096, 0)})]


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
        expect_good(["import", "--cluster", "lab", name], cwd, f"seed {seed}: acknowledged",
                    [(": 0 new", 1)])
    expect_good(importing, cwd, f"seed {seed}")
    was_killed, _ = killed_after(["allocate"], cwd, chance.uniform(0, 1.1 * allocate_seconds))
    kills += was_killed
    if was_killed:
        # All of a run is there or nothing: lines are exact or were never allocated.
        child = subprocess.run([BINARY, "reconcile", "--format", "json"], cwd=cwd,
                               capture_output=True, timeout=300)
        expect(b"off by" not in child.stdout, f"seed {seed}: half a run is visible")
    expect_good(["allocate"], cwd, f"seed {seed}")
    got, _ = expect_run(REPORT, cwd)
    expect(got == want, f"seed {seed}: another report after a kill")
    expect_run(["reconcile"], cwd, 0, ["0 off"])
    shutil.rmtree(cwd)
cuts = 0
if CUTTER:
    cwd = folder()
    shutil.copy(whole / "bill.csv", cwd / "bill.csv")
    writes = writes_of(importing, cwd)
    in_place, moments = moments_of(writes)
    # Every file was acknowledged before the checkpoint began.
    all_there = [(": 0 new", len(FILES))]
    if os.environ.get("KILL_EVERY"):
        in_place, moments, all_there = [], every_moment_of(writes), []
    for number, size in in_place + moments:
        shutil.rmtree(cwd)
        cwd = folder()
        shutil.copy(whole / "bill.csv", cwd / "bill.csv")
        cut(importing, cwd, number, size)
        cuts += 1
        moment = f"write {writes[number]} cut at {size}"
        if (number, size) in in_place[-1:]:
            cut(importing, cwd, 0, 4096)  # in what is put back
            cuts += 1
            moment += ", then the first of the next program"
        expect_good(importing, cwd, moment, all_there)
    expect_good(["allocate"], cwd, "after a cut")
    got, _ = expect_run(REPORT, cwd)
    expect(got == want, "another report after a cut")
    shutil.rmtree(cwd)
print(f"{ROUNDS} rounds, {kills} kills, {cuts} writes cut")
report("cli/kill")
