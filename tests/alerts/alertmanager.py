"""Alerts of `serve` in a real Alertmanager: they fire, are handed on, and end with their cause.

usage: alertmanager.py PENNYWEIGHT ROOT
"""
import http.server
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

BINARY, ROOT = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
DATA = ROOT / "tests" / "data" / "cli"
PROGRAM = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
PATIENCE_S = 120
SKIPPED = 77
failures = []
handed_on = []  # alerts that the Alertmanager sent to its own receiver


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        handed_on.extend(body["alerts"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.2)
    expect(False, what)


def run(arguments, cwd):
    done = subprocess.run([BINARY, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")


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
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-alertmanager-"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = free_port()
    (folder / "alertmanager.yml").write_text(json.dumps({
        "route": {"receiver": "all", "group_by": ["alertname", "subject"], "group_wait": "0s",
                  "group_interval": "1s", "repeat_interval": "1h"},
        "receivers": [{"name": "all", "webhook_configs": [
            {"url": f"http://127.0.0.1:{server.server_address[1]}/", "send_resolved": True}]}]}))
    for name in ("nodes.csv", "jobs.txt"):
        shutil.copy(DATA / name, folder / name)
    (folder / "pennyweight.yaml").write_text(configuration(port, 5))
    run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-05",
         "--prices-as-of", "2026-07-20", "--out", "bill.csv"], folder)
    run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], folder)
    run(["import", "--cluster", "lab", "bill.csv"], folder)
    run(["allocate"], folder)
    log = open(folder / "programs.log", "ab")
    manager = subprocess.Popen(
        [PROGRAM, "--config.file=alertmanager.yml", "--storage.path=data",
         f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
        cwd=folder, stdout=log, stderr=subprocess.STDOUT)

    def serve():
        return subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=folder, stdout=log,
                                stderr=subprocess.STDOUT)

    def alerts():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/alerts", timeout=10) as answer:
            return json.load(answer)

    # serve begins before the Alertmanager answers, perhaps, and is killed once.
    process = serve()
    wait_for(lambda: alerts(), "the Alertmanager hears of the alert")
    process.kill()
    process.wait()
    process = serve()
    wait_for(lambda: handed_on, "the Alertmanager hands it on")
    time.sleep(3)
    held = alerts()
    expect(len(held) == 1, f"one alert, and not {len(held)}, whatever was killed")
    labels = held[0]["labels"]
    expect(labels == {"alertname": "Pennyweight_budget_exhausted", "severity": "critical",
                      "owner": "ana", "subject": "run", "scope": "run 2026-03-01"}, f"{labels}")
    expect(held[0]["status"]["state"] == "active", "it is active")
    process.terminate()
    expect(process.wait(timeout=30) == 0, "serve ends in order")

    # A larger budget ends it, but not before serve has looked for five minutes.
    (folder / "pennyweight.yaml").write_text(configuration(port, 100000000))
    process = serve()
    time.sleep(3)
    expect(len(alerts()) == 1, "it has not ended at once, since serve has only just begun to look")
    process.terminate()
    process.wait(timeout=30)
    manager.terminate()
    manager.wait(timeout=30)
    server.shutdown()
    if failures:
        print((folder / "programs.log").read_text()[-3000:])
    else:
        shutil.rmtree(folder)
    print("alertmanager:", "ok" if not failures else f"{len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    if not PROGRAM:
        print("skipped: no Alertmanager; script/bootstrap --real installs one")
        sys.exit(SKIPPED)
    main()
