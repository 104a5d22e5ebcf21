"""What the configuration says of bills: how each format is delivered, and which node a line is for
when the bill has words of its own. Options win; doctor tells what is configured."""
import csv
import io
import json

from harness import BILL, expect, expect_run, folder, report


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def write(path, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue())


def kinds(cwd):
    out, _ = expect_run(["report", "--by", "kind", "--format", "csv"], cwd)
    return {row["kind"] for row in csv.DictReader(io.StringIO(out))}


# Bills that call the machines by a lease.
cwd = folder()
expect_run(BILL, cwd)
names = {"i-0a11111111111111a": "gpu-01", "i-0b22222222222222b": "gpu-02",
         "i-0c33333333333333c": "gpu-03"}
bill = rows_of(cwd / "bill.csv")
for row in bill:
    node = names.get(row["ResourceId"])
    if node is None:
        continue
    row["x_ClusterId"] = ""
    if node == "gpu-03":
        row["ResourceId"], row["Tags"] = "contract-9", json.dumps({"host": node})
    else:
        row["ResourceId"] = f"leases/lease-{node}-2026"
    if "ResourceName" in row:
        row["ResourceName"] = ""
write(cwd / "bill.csv", bill)
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv"], cwd)
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])
before = kinds(cwd)
expect("used" not in before, f"without rules no line finds its node, but there is {before}")

(cwd / "pennyweight.yaml").write_text(
    'join:\n  - {pattern: "lease-{node}-2026"}\n  - {label: host}\n')
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])
expect("used" in kinds(cwd), f"with rules the jobs pay for their nodes, but there is {kinds(cwd)}")
out, _ = expect_run(["report", "--by", "node", "--format", "csv"], cwd)
for node in names.values():
    expect(node in out, f"{node} found its lines")
expect_run(["explain", "--by", "team", "--key", "nlp"], cwd, 0, ["How the first posting"])
expect_run(["doctor"], cwd, 0, ["2 rules to find nodes by labels of the bill", "allocated in"])
# Compare divides what allocate does: a policy beside itself, and a preset that sees the nodes.
expect_run(["compare", "--a", "current", "--b", "opencost", "--by", "node"], cwd, 0, ["gpu-01", "gpu-03"])

(cwd / "pennyweight.yaml").write_text("join: [{pattern: lease}]\n")
expect_run(["allocate"], cwd, 2, ["pennyweight.yaml:1:8: pattern 'lease' has no {node}"])

# How a format is delivered.
cwd = folder()
expect_run(BILL, cwd)
bill = rows_of(cwd / "bill.csv")
half = len(bill) // 2
write(cwd / "part-1.csv", bill[:half])
write(cwd / "part-2.csv", bill[half:])
(cwd / "pennyweight.yaml").write_text("bills: [{format: focus, delivery: replacement}]\n")
expect_run(["import", "--cluster", "lab", "part-1.csv", "nodes.csv", "part-2.csv", "jobs.txt"], cwd, 0,
           ["part-1.csv and 1 more file", f"{len(bill):,} new", "3 nodes: 3 new"])
expect_run(["import", "part-1.csv", "part-2.csv"], cwd, 0, ["0 new"])
changed = [dict(bill[0], BilledCost="1.5", EffectiveCost="1.5"), *bill[1:half]]
write(cwd / "part-1.csv", changed)
expect_run(["import", "--delivery", "guarded", "part-1.csv"], cwd, 1, ["1 in conflict"])
expect_run(["import", "part-1.csv", "part-2.csv"], cwd, 1, ["USD away from 2026-03", "--confirm"])
expect_run(["import", "--confirm", "part-1.csv", "part-2.csv"], cwd, 0,
           ["1 bill line retired from open months"])
expect_run(["import", "none.csv", "part-2.csv", "part-1.csv"], cwd, 1, ["none.csv", "1 of 2 files"])
expect_run(["doctor"], cwd, 1, ["bills of focus", "delivered as replacement"])

# A bill of nothing is a bill, and says so.
(cwd / "none.csv").write_text(",".join(bill[0].keys()) + "\n")
expect_run(["import", "--delivery", "guarded", "none.csv"], cwd, 0,
           ["a header and no rows", "nothing to import"])
report("cli/configured")
