"""The same bytes out: with 1, 2 and 8 threads, with rows and files in any order, imported twice."""
import random

from harness import BILL, expect, expect_run, folder, report

REPORTS = [["report", "--by", "team,user", "--cost", "all", "--format", "csv"],
           ["report", "--by", "cluster,node,kind", "--every", "day", "--format", "json"],
           ["reconcile", "--format", "json"]]


def shuffled(path, seed):
    header, *rows = path.read_text().splitlines()
    random.Random(seed).shuffle(rows)
    path.write_text("\n".join([header, *rows]) + "\n")


def outputs(threads, seed=None, twice=False):
    cwd = folder()
    expect_run(BILL, cwd)
    files = ["nodes.csv", "jobs.txt", "bill.csv"]
    if seed is not None:
        for name in files:
            shuffled(cwd / name, seed)
        random.Random(seed).shuffle(files)
    for _ in range(2 if twice else 1):
        expect_run(["import", "--cluster", "lab", *files], cwd)
    for _ in range(2 if twice else 1):
        expect_run(["allocate", "--threads", str(threads)], cwd)
    expect_run(["export", "postings", "--out", "postings.csv"], cwd)
    return [(cwd / "postings.csv").read_bytes(), *(expect_run(verb, cwd)[0] for verb in REPORTS)]


want = outputs(1)
expect(len(want[0]) > 1000, "there are postings to compare")
for threads, seed, twice in [(2, None, False), (8, None, True), (1, 1, False), (2, 2, True),
                             (8, 3, False)]:
    expect(outputs(threads, seed, twice) == want,
           f"threads {threads}, seed {seed}, twice {twice}: other bytes")
report("cli/same_bytes")
