"""Alerts of `serve` in a real Alertmanager: they fire, are handed on, and end with their cause.

usage: alertmanager.py PENNYWEIGHT ROOT
"""
import json
import sys
import time
import urllib.request

from steps import ALERTMANAGER, SKIPPED, Serve, begin_alertmanager, billed_folder, expect, finish, receive, wait_for

handed_on = []  # alerts that the Alertmanager sent to its own receiver


def configuration(port, amount):
    return f"""
clusters: [{{name: lab, kind: slurm, time_zone: UTC}}]
budgets:
  - {{name: run, amount: {amount} USD, period: project, from: 2026-03-01, to: 2199-12-31, owner: ana}}
alerts:
  every: 1s
  off: [budget_forecast, budget_probable, costs_missing, cost_anomaly]
  allow_private: [127.0.0.1]
  receivers: [{{name: manager, kind: alertmanager, url: "http://127.0.0.1:{port}"}}]
"""


def main():
    server = receive(lambda _path, _headers, body: handed_on.extend(json.loads(body)["alerts"]))
    # The configuration that names the port of the Alertmanager comes before `serve` begins.
    folder = billed_folder("alertmanager", configuration(1, 5))
    with open(folder / "programs.log", "ab") as log:
        manager, port = begin_alertmanager(folder, log, f"http://127.0.0.1:{server.server_address[1]}/")
    (folder / "pennyweight.yaml").write_text(configuration(port, 5))

    def alerts():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/alerts", timeout=10) as answer:
            return json.load(answer)

    # serve begins before the Alertmanager answers, perhaps, and is killed once.
    serve = Serve(folder).begin()
    wait_for(lambda: alerts(), "the Alertmanager hears of the alert")
    serve.kill()
    serve.begin()
    wait_for(lambda: handed_on, "the Alertmanager hands it on")
    time.sleep(3)
    held = alerts()
    expect(len(held) == 1, f"one alert, and not {len(held)}, whatever was killed")
    labels = held[0]["labels"]
    expect(labels == {"alertname": "Pennyweight_budget_exhausted", "severity": "critical",
                      "owner": "ana", "subject": "run", "scope": "run 2026-03-01"}, f"{labels}")
    expect(held[0]["status"]["state"] == "active", "it is active")
    serve.end()

    # A larger budget ends it, but not before serve has looked for five minutes.
    (folder / "pennyweight.yaml").write_text(configuration(port, 100000000))
    serve.begin()
    time.sleep(3)
    expect(len(alerts()) == 1, "it has not ended at once, since serve has only just begun to look")
    serve.end()
    manager.terminate()
    manager.wait(timeout=30)
    server.shutdown()
    finish("alertmanager", folder)


if __name__ == "__main__":
    if not ALERTMANAGER:
        print("skipped: no Alertmanager; script/bootstrap --real installs one")
        sys.exit(SKIPPED)
    main()
