"""audit and reconcile --by on a bill as AWS sends it: what reaches a team, what stops the rest, both
sides of the join, commitments, estimate against bill. Every sum is compared with the ledger's."""
import csv
import io
from decimal import Decimal

from harness import expect, expect_run, folder, report


def rows(arguments, cwd):
    out, _ = expect_run([*arguments, "--format", "csv"], cwd)
    return list(csv.DictReader(io.StringIO(out)))


def total(table, column):
    return sum((Decimal(row[column]) for row in table if row[column]), Decimal(0))


cwd = folder()
expect_run(["audit", "coverage"], cwd, 1)
expect_run(["audit"], cwd, 2)
expect_run(["generate", "bill", "--as", "aws-cur", "--nodes", "nodes.csv", "--from", "2026-03-01",
            "--to", "2026-03-31", "--prices-as-of", "2026-07-20", "--out", "bill.csv"], cwd)
nodes = (cwd / "nodes.csv").read_text().splitlines(keepends=True)
# One machine of the bill is in no inventory, and one of the inventory in no bill.
unbilled = nodes[1].replace("gpu-01", "gpu-09").replace("i-0a11111111111111a", "i-0900000000000009f")
(cwd / "nodes.csv").write_text("".join([*nodes[:3], unbilled]))
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv"], cwd)

# Before anything is allocated all of it is in the gap, and named.
expect_run(["audit", "coverage"], cwd, 0, ["line was never allocated", "pennyweight allocate"])
expect_run(["allocate"], cwd)
expect_run(["audit", "coverage"], cwd, 0, ["nobody held the GPU", "line joins no node", "GPU spend"])
parts = rows(["audit", "coverage", "--month", "2026-03"], cwd)
spend = {dimension: total([row for row in parts if row["dimension"] == dimension], "effective_cost")
         for dimension in ("team", "project", "user")}
expect(len(set(spend.values())) == 1, f"every dimension has the same spend: {spend}")
posted = rows(["report", "--by", "component", "--filter", "component=gpu"], cwd)
expect(spend["team"] > total(posted, "effective_cost"), "lines without a node are GPU spend too")
reached = [row for row in parts if row["dimension"] == "team" and row["part"] == "reached"]
expect(total(reached, "effective_cost") > 0, "jobs have teams")
expect_run(["audit", "coverage", "--by", "service"], cwd, 2)
expect_run(["audit", "coverage", "--month", "2026-04"], cwd, 1, ["there are some in 2026-03"])

sides = rows(["audit", "join"], cwd)
expect([row["what"] for row in sides if row["side"] == "node"] == ["gpu-09"], "gpu-09 has no line")
lines = [row for row in sides if row["side"] == "line" and row["finding"] == "no node"]
expect(any("i-0c33333333333333c" in row["what"] for row in lines), f"gpu-03 has no node: {lines}")

commitments = rows(["audit", "commitments"], cwd)
expect(len(commitments) == 2, "a reservation and a savings plan")
for row in commitments:
    expect(Decimal(row["paid"]) - Decimal(row["used_effective"]) - Decimal(row["unused_effective"])
           == Decimal(row["difference"]), f"{row} does not add up")
    expect(row["finding"] == "paid ahead", f"{row} is partly paid upfront")

for by in ("instance_type", "node"):
    for row in rows(["audit", "estimate", "--by", by, "--prices-as-of", "2026-07-20"], cwd):
        reasons = sum(Decimal(row[name]) for name in ("price", "hours", "commitment", "missing"))
        expect(reasons == Decimal(row["difference"]), f"{row}: the reasons do not add up")
        expect(Decimal(row["bill"]) - Decimal(row["estimate"]) == reasons, f"{row}: another difference")

ledgers = {by: rows(["reconcile", "--by", by], cwd) for by in ("invoice", "account", "service", "day")}
for by, table in ledgers.items():
    for ledger in ("billed", "effective"):
        expect(total(table, f"{ledger}_lines") == total(ledgers["day"], f"{ledger}_lines"),
               f"{by}: another {ledger} sum")
        expect(total(table, f"{ledger}_difference") == 0, f"{by}: {ledger} is off")
expect_run(["reconcile", "--by", "service", "--lines"], cwd, 2)
report("cli/audit")
