"""Changes one posting by 10^-18: reconcile exits with 1 and names the charge. Then damages the file:
it is refused with what to do, and stays as it is."""
import subprocess

from harness import SQL_TOOL, expect, expect_run, folder, import_all, report

cwd = folder()
import_all(cwd)
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])
done = subprocess.run(
    [SQL_TOOL, "pennyweight.duckdb",
     "UPDATE postings SET effective_cost = effective_cost + 0.000000000000000001 "
     "WHERE rowid = (SELECT min(rowid) FROM postings)"],
    cwd=cwd, capture_output=True, timeout=60)
expect(done.returncode == 0 and done.stdout == b"1\n", f"sql_tool: {done.stdout}{done.stderr}")
out, err = expect_run(["reconcile"], cwd, 1, ["1 off", "effective off by 0.000000000000000001"])
line = next((row for row in out.splitlines() if "off by" in row), "")
charge = line.split()[0] if line else ""
expect(len(charge) == 32, f"the line is not named: {line}")
expect("i-0" in line or "Generated" in line, f"neither resource nor description: {line}")
expect_run(["explain", "--charge", charge], cwd, 1, ["differ from what the rules give"])

# It would lose the ledger's lock to open it as a file.
expect_run(["import", "--cluster", "lab", "nodes.csv", "pennyweight.duckdb"], cwd, 1,
           ["pennyweight.duckdb: it is the ledger itself"])

store = cwd / "pennyweight.duckdb"
damaged = bytearray(store.read_bytes())
for block in range(12288, len(damaged), 262144):
    damaged[block + 5000] ^= 1
store.write_bytes(damaged)
for verb in (["report"], ["import", "--cluster", "lab", "nodes.csv"], ["reconcile"]):
    expect_run(verb, cwd, 1, ["cannot open the store pennyweight.duckdb", "the file is damaged",
                              "restore a backup", "the original files"])
    expect(store.read_bytes() == damaged, f"{verb} changed a damaged file")
report("cli/corrupt")
