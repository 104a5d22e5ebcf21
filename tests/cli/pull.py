"""Bills fetched from a folder, an S3 server (s3rver) and Azure's emulator (azurite): by manifest and by folder, once and
whole although the program is killed again and again, checked by size and checksum, and without a secret in sight. The
servers come from npm (tests/pull); without them only the folder is tried. PENNYWEIGHT_PULL_KILLS sets how often the
program is killed at each server (default 8)."""
import base64
import csv
import gzip
import io
import json
import os
import random
import subprocess
import time
from decimal import Decimal

from harness import BILL, BINARY, expect, expect_run, folder, report, run
from object_servers import AZURE_KEY, Server, servers

KILLS = int(os.environ.get("PENNYWEIGHT_PULL_KILLS", "8"))


def totals(cwd):
    out, _ = expect_run(["report", "--by", "service", "--cost", "all", "--format", "csv"], cwd)
    rows = list(csv.DictReader(io.StringIO(out)))
    return [sum(Decimal(row[f"{cost}_cost"]) for row in rows) for cost in ("billed", "effective", "list", "contracted")]


def parts_of(text, count):
    """A bill as gzip files with a header each."""
    header, *lines = text.splitlines(keepends=True)
    cut = [lines[i::count] for i in range(count)]
    return [gzip.compress("".join([header, *part]).encode(), mtime=0) for part in cut]


truth = folder()
expect_run(BILL, truth)
BILL_TEXT = (truth / "bill.csv").read_text()
expect_run(["import", "bill.csv"], truth)
expect_run(["allocate"], truth)
TRUTH = totals(truth)

# A folder: all of its files are one delivery; again is nothing; a changed file is the delivery again.
cwd = folder()
(cwd / "pennyweight.yaml").write_text("pull: [{name: drop, from: exports}]\n")
expect_run(["pull"], cwd, 1, ["exports is not a folder"])
(cwd / "exports" / "2026-03").mkdir(parents=True)
for i, part in enumerate(parts_of(BILL_TEXT, 3)):
    (cwd / "exports" / "2026-03" / f"part-{i}.csv.gz").write_bytes(part)
expect_run(["pull"], cwd, 0, ["drop: 1 delivery imported, 0 as before", "3 files"])
expect_run(["allocate"], cwd)
expect(totals(cwd) == TRUTH, f"the folder: {totals(cwd)}, want {TRUTH}")
expect_run(["pull", "drop"], cwd, 0, ["0 deliveries imported, 1 as before"])
expect_run(["pull", "other"], cwd, 2, ["no source is named 'other'; there are: drop"])
expect(not list((cwd / "pennyweight.duckdb.pulled" / "drop" / "files").rglob("*.gz")), "what is imported is not kept")
# A row that is set aside is said in money, and in the exit code, as import does.
rows = list(csv.DictReader(io.StringIO(BILL_TEXT)))
rows[-1]["ChargePeriodStart"] = "never"
aside = folder()
(aside / "exports").mkdir()
(aside / "pennyweight.yaml").write_text("pull: [{name: drop, from: exports}]\n")
with open(aside / "exports" / "bill.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
expect_run(["pull"], aside, 1, ["1 row of bills set aside, ", " billed: 'pennyweight import aside' lists them"])
# What a person must say of a delivery, as `import` has it: here a month that lost a third.
(cwd / "exports" / "2026-03" / "part-2.csv.gz").unlink()
expect_run(["pull"], cwd, 1, ["away from 2026-03", "nothing was imported"])
expect_run(["pull", "--preview"], cwd, 0, ["would want --confirm", "a preview: the ledger is as it was", "1 delivery previewed"])
expect_run(["reconcile"], cwd)
expect_run(["pull", "--confirm"], cwd, 0, ["1 delivery imported", "taken away"])
expect_run(["pull"], cwd, 0, ["0 deliveries imported, 1 as before"])
# A month that was delivered, and of whose next delivery a part is missing, is not closed; the pull says so each time.
broken = folder()
(broken / "bill.csv").write_text(BILL_TEXT)
expect_run(["import", "bill.csv"], broken)
expect_run(["allocate"], broken)
(broken / "pennyweight.yaml").write_text("pull: [{name: drop, from: exports}]\n")
(broken / "exports").mkdir()
halves = parts_of(BILL_TEXT, 2)
(broken / "exports" / "p-0.csv.gz").write_bytes(halves[0])
(broken / "exports" / "report-Manifest.json").write_text(json.dumps({"bucket": "bills", "reportKeys": ["p-0.csv.gz", "p-1.csv.gz"]}))
for _ in range(3):
    expect_run(["pull"], broken, 1, ["p-1.csv.gz is missing", "the 1 part here holds ", "earlier deliveries of 2026-03"])
expect_run(["close", "2026-03", "--by", "ann"], broken, 1, ["p-1.csv.gz is missing", "the parts that came hold "])
expect(totals(broken) == TRUTH, f"a part is missing: {totals(broken)}, want {TRUTH}")
(broken / "exports" / "p-1.csv.gz").write_bytes(halves[1])
expect_run(["pull"], broken, 0, ["1 delivery imported"])
expect_run(["allocate"], broken)
# The bucket's lifecycle deletes what was imported, and that is no news.
for gone in ("p-0.csv.gz", "p-1.csv.gz"):
    (broken / "exports" / gone).unlink()
    expect_run(["pull"], broken, 0, ["0 deliveries imported, 1 as before"])
expect_run(["close", "2026-03", "--by", "ann"], broken)
(cwd / "pennyweight.yaml").write_text("pull: [{name: ../up, from: exports}]\n")
expect_run(["pull"], cwd, 2, ["pennyweight.yaml:1"])
expect_run(["pull"], folder(), 2, ["under 'pull' in the configuration"])

for kind in servers():
    cwd = folder()
    server = Server(kind, cwd)
    try:
        (cwd / "pennyweight.yaml").write_text(server.configuration(cwd))
        expect_run(["pull"], cwd, 0, ["0 deliveries imported"])
        where = "exports/report/20260301-20260401"
        parts = parts_of(BILL_TEXT, 4)
        keys = [f"{where}/run-1/part {i}+ä.csv.gz" for i in range(len(parts))]
        if kind == "s3":
            name, manifest = f"{where}/report-Manifest.json", {"bucket": "bills", "reportKeys": keys}
        else:
            name = f"{where}/run-1/manifest.json"
            manifest = {"blobs": [{"blobName": key, "byteCount": len(part)} for key, part in zip(keys, parts)]}
        for key, part in list(zip(keys, parts))[:-1]:
            server.put(key, part)
        server.put(name, json.dumps(manifest).encode())
        # A part that the manifest names is missing: nothing of the month is imported.
        expect_run(["pull"], cwd, 1, [f"{keys[-1]} is missing", "names 4 parts", "the 3 parts here hold "])
        expect_run(["reconcile"], cwd, 1 if run(["reconcile"], cwd)[0] else 0)
        server.put(keys[-1], parts[-1])

        # Killed again and again: once, whole.
        randomly = random.Random(7)
        for _ in range(KILLS):
            process = subprocess.Popen([BINARY, "pull"], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(randomly.uniform(0.01, 0.6))
            process.kill()
            process.wait()
        out, err = expect_run(["pull"], cwd)
        for secret in ("S3RVER", AZURE_KEY[:20]):
            expect(secret not in out + err, "no secret in messages")
        expect_run(["pull"], cwd, 0, ["0 deliveries imported, 1 as before"])
        expect_run(["allocate"], cwd)
        expect(totals(cwd) == TRUTH, f"{kind}, killed {KILLS} times: {totals(cwd)}, want {TRUTH}")

        # A wrong key is said, and is not shown. s3rver knows key ids only: that the signature is AWS's is shown by
        # sign_test, with the examples of its documentation.
        for file in ("id", "account.key"):
            if (cwd / file).exists():
                right = (cwd / file).read_text()
                (cwd / file).write_text(base64.b64encode(b"wrong" * 8).decode() + "\n")
                _, err = expect_run(["pull"], cwd, 1, ["403", "check the key"])
                expect(base64.b64encode(b"wrong" * 8).decode() not in err, "the key is not shown")
                (cwd / file).write_text(right)
    finally:
        server.stop()
    expect_run(["pull"], cwd, 1, ["127.0.0.1"])
report("cli/pull")
