"""Public manifests and job scripts: what an hour costs is what a person works out by hand."""
import decimal
import json
import pathlib
import re

from harness import expect, folder, report, run

cwd = folder()
MANIFESTS = pathlib.Path(__file__).resolve().parents[1] / "data" / "manifests"
(cwd / "prices.csv").write_text("""provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_gib
own,,box,on_demand,2026-01-01,48,USD,H100-SXM5-80GB,8,200,2000
own,,(cpu),on_demand,2026-01-01,0.04,USD,,,,
own,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,
""")
(cwd / "pennyweight.yaml").write_text("""store: {path: ledger.duckdb}
prices: {override: prices.csv}
guardrails: {pricing: {provider: own, gpu_models: {default: H100-SXM5-80GB}}}
""")
seen = set()
for line in (MANIFESTS / "prices.txt").read_text().splitlines():
    if line.startswith("#"):
        continue
    name, gpus, cpus, gib, wanted = (cell.strip() for cell in line.split("|", 4))
    seen.add(name)
    code, out, err = run(["estimate", str(MANIFESTS / name), "--format", "json"], cwd)
    if wanted == "no manifest":
        expect(code == 1 and re.search(re.escape(name) + r":\d+: ", err) and out == "", f"{name}: is refused with its line: {code} {out}{err}")
        continue
    if wanted.startswith("not priced: "):
        refused, _, _ = run(["estimate", str(MANIFESTS / name), "--refuse-unpriced"], cwd)
        reasons = [f"{row['object']}: {row['reason']}" for table in json.loads(out)
                   if table["title"] == "Not in the price" for row in table["rows"]]
        expect(refused == 1 and any(wanted.removeprefix("not priced: ") in why for why in reasons),
               f"{name}: says why it is not priced: {refused} {reasons} {err}")
        continue
    by_hand = decimal.Decimal(gpus) * 4 + decimal.Decimal(cpus) * decimal.Decimal("0.04") \
        + decimal.Decimal(gib) * decimal.Decimal("0.004")
    expect(by_hand == decimal.Decimal(wanted), f"{name}: the table is wrong: {by_hand}")
    told = sum(decimal.Decimal(row["cost_per_hour"]) for table in json.loads(out) for row in table["rows"]
               if "cost_per_hour" in row and row.get("machines"))
    # Amounts have 18 decimals, and each part of one is rounded.
    expect(code == 0 and abs(told - by_hand) < decimal.Decimal("1e-17"), f"{name}: {told} instead of {by_hand}: {err}")
files = {path.name for path in MANIFESTS.iterdir()} - {"README.md", "LICENSE", "prices.txt"}
expect(files == seen, f"without a price: {files ^ seen}")
print(f"{len(seen)} manifests")
report("public_manifests")
