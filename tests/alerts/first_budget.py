"""The first budget of all is set while `serve` runs, with nobody to notify: its alert is there without a restart.

usage: first_budget.py PENNYWEIGHT ROOT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from steps import BINARY, expect, failures, run, wait_for

DATA = pathlib.Path(sys.argv[2]).resolve() / "tests" / "data" / "cli"
CONFIG = """
clusters: [{name: lab, kind: slurm, time_zone: UTC}]
alerts: {every: 1s, off: [budget_forecast, budget_probable, costs_missing, cost_anomaly]}
"""


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-first-budget-"))
    for name in ("nodes.csv", "jobs.txt"):
        shutil.copy(DATA / name, folder / name)
    (folder / "pennyweight.yaml").write_text(CONFIG)
    run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-05",
         "--prices-as-of", "2026-07-20", "--out", "bill.csv"], folder)
    run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], folder)
    run(["import", "--cluster", "lab", "bill.csv"], folder)
    run(["allocate"], folder)

    def alerts():
        return subprocess.run([BINARY, "alerts"], cwd=folder, capture_output=True, text=True, timeout=60).stdout

    log_path = folder / "serve.log"
    with open(log_path, "ab") as log:
        serve = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=folder, stdout=log, stderr=log)
    try:
        wait_for(lambda: "\"serving\"" in log_path.read_text(), "serve begins")
        expect("budget" not in alerts(), "nothing goes on without a budget")
        expect(not list(folder.glob("*.live/alerts.json")), "nothing is evaluated without a purpose")
        run(["budget", "set", "run", "--amount", "5 USD", "--owner", "ana", "--period", "project",
             "--from", "2026-03-01", "--to", "2199-12-31"], folder)
        wait_for(lambda: "budget_exhausted" in alerts(), "the first budget raises its alert")
        expect("firing" in alerts(), alerts())
    finally:
        serve.terminate()
        expect(serve.wait(timeout=60) == 0, "serve ends well")
    print("alerts/first_budget:", "ok" if not failures else f"{len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
