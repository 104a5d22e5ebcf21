"""Alerts of `serve`: budgets that are exceeded reach a webhook, signed, whatever is killed.

usage: alerts.py PENNYWEIGHT ROOT
"""
import hashlib
import hmac
import json
import os
import random
import signal
import subprocess
import time

from steps import BINARY, billed_folder, expect, finish, receive, run, wait_for

SECRET = b"a shared secret"
KILLS = int(os.environ.get("PENNYWEIGHT_KILLS", "3"))
received = []  # (id, is_retry, status, rule, scope)
answers = [200]  # of the receiver, the last one again and again


def take(path, headers, body):
    if path == "/picky":
        if json.loads(body)["subject"] == "b1":
            return 400
        received.append((path, json.loads(body)))
        return 200
    status = answers.pop(0) if len(answers) > 1 else answers[0]
    if status == 200:
        if path == "/hook":
            signed = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
            expect(headers["X-Pennyweight-Signature"] == signed, "the body is signed")
        received.append((path, json.loads(body)))
    return status


def hooks():
    return [body for path, body in received if path == "/hook"]


def main():
    server = receive(take)
    port = server.server_address[1]
    period = "period: project, from: 2026-03-01, to: 2199-12-31"
    budgets = "".join(f"  - {{name: b{i}, amount: {i} USD, {period}}}\n" for i in range(1, 6))
    config = f"""
clusters: [{{name: lab, kind: slurm, time_zone: UTC}}]
budgets:
{budgets}  - {{name: plenty, amount: 100000000 USD, {period}}}
alerts:
  every: 1s
  off: [budget_forecast, budget_probable, costs_missing, cost_anomaly]
  silences: [{{scope: b5, to: 2199-12-31, reason: approved}}]
  allow_private: [127.0.0.1]
  receivers:
    - {{name: hook, url: "http://127.0.0.1:{port}/hook", secret_file: secret}}
    - {{name: manager, kind: alertmanager, url: "http://127.0.0.1:{port}"}}
    - {{name: inside, url: "http://localhost:{port}/never"}}
    - {{name: picky, url: "http://127.0.0.1:{port}/picky"}}
"""
    folder = billed_folder("alerts", config, {"secret": SECRET.decode() + "\n"})
    log = open(folder / "serve.log", "ab")

    def serve():
        return subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=folder, stdout=log,
                                stderr=subprocess.STDOUT)

    # The receiver is down at first, and the program is killed meanwhile.
    answers[:] = [503]
    random.seed(5)
    for _ in range(KILLS):
        process = serve()
        time.sleep(random.uniform(0.5, 3))
        answers[:] = [503, 503, 200, 503]
        time.sleep(random.uniform(0.2, 1))
        process.send_signal(signal.SIGKILL)
        process.wait()
    answers[:] = [200]
    process = serve()
    # Of 50 %, 80 % and exhausted the last one speaks. b5 is silent, "plenty" is not reached.
    wanted = 4
    wait_for(lambda: len({body["id"] for body in hooks()}) >= wanted, "every alert arrives")
    time.sleep(3)
    seen = {}
    for body in hooks():
        expect(body["scope"].startswith(("b1", "b2", "b3", "b4")), f"{body['scope']} is not wanted")
        expect(body["id"] not in seen or body["is_retry"], f"{body['id']} came twice unmarked")
        seen[body["id"]] = body
    expect(len(seen) == wanted, f"{len(seen)} alerts arrived, {wanted} were wanted")
    expect(sum(body["severity"] == "critical" for body in seen.values()) == 4, "four are critical")
    expect({body["subject"] for path, body in received if path == "/picky"} == {"b2", "b3", "b4"},
           "one that a receiver refuses keeps no other from it")
    expect(not [path for path, _ in received if path == "/never"],
           "a private address that is not allowed hears nothing")
    managed = [alert for path, body in received if path == "/api/v2/alerts" for alert in body]
    expect(any(alert["labels"]["alertname"] == "Pennyweight_budget_exhausted" for alert in managed),
           "an Alertmanager hears of it")
    # A larger budget ends the alert after it was held.
    state = json.loads(next(folder.glob("*.live/alerts.json")).read_text())
    expect(len(state["alerts"]) == 15, f"{len(state['alerts'])} alerts are known, of 15")
    expect(all("alerts.allow_private" in entry["problem"] for entry in state["outbox"]
               if entry["receiver"] == "inside" and entry["attempts"] > 1), "the remedy is said")
    process.send_signal(signal.SIGTERM)
    expect(process.wait(timeout=30) == 0, "serve ends in order")
    # The command line shows what goes on and what did not arrive, and tests a receiver.
    told = subprocess.run([BINARY, "alerts"], cwd=folder, capture_output=True, text=True, timeout=60)
    for word in ("budget_exhausted", "firing", "Budget b1", "inside", "alerts.allow_private"):
        expect(word in told.stdout, f"alerts does not say {word}: {told.stdout}{told.stderr}")
    before = len(hooks())
    run(["alerts", "--test", "hook"], folder)
    expect(len(hooks()) == before + 1 and hooks()[-1]["rule"] == "test", "the test message arrives")
    refused = subprocess.run([BINARY, "alerts", "--test", "inside"], cwd=folder, capture_output=True,
                             text=True, timeout=60)
    expect(refused.returncode == 1 and "alerts.allow_private" in refused.stderr, refused.stderr)
    server.shutdown()
    finish("alerts", folder, f"{len(received)} requests")


if __name__ == "__main__":
    main()
