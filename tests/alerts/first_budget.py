"""The first budget of all is set while `serve` runs, with nobody to notify: its alert is there without a restart.

usage: first_budget.py PENNYWEIGHT ROOT
"""
import shutil
import subprocess
import sys

from steps import BINARY, billed_folder, expect, failures, run, wait_for

CONFIG = """
clusters: [{name: lab, kind: slurm, time_zone: UTC}]
alerts: {every: 1s, off: [budget_forecast, budget_probable, costs_missing, cost_anomaly]}
"""


def main():
    folder = billed_folder("first-budget", CONFIG)

    def alerts(*options):
        return subprocess.run([BINARY, "alerts", *options], cwd=folder, capture_output=True, text=True, timeout=60).stdout

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
        why = alerts("--explain")
        expect("no receiver hears of it; it ends 5 minutes after it was last seen" in why, why)
    finally:
        serve.terminate()
        expect(serve.wait(timeout=60) == 0, "serve ends well")
    if not failures:
        shutil.rmtree(folder)
    print("alerts/first_budget:", "ok" if not failures else f"{len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
