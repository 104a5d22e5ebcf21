"""Alerts that reach people: by mail over a real SMTP server (aiosmtpd, from Debian), at once and as a digest, and
PagerDuty's events; each to those who own what it is about. Skipped without aiosmtpd.

usage: people.py PENNYWEIGHT ROOT
"""
import asyncio
import email
import email.policy
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time

SKIPPED = 77
try:
    from aiosmtpd.smtp import SMTP
except ImportError:
    # Debian's package is for Debian's Python.
    if sys.executable != "/usr/bin/python3" and subprocess.run(
            ["/usr/bin/python3", "-c", "import aiosmtpd"], capture_output=True).returncode == 0:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("alerts/people: skipped, without python3-aiosmtpd")
    sys.exit(SKIPPED)

from steps import BINARY, billed_folder, expect, failures, run, wait_for

mails, events = [], []
refusals = [2]  # so many mails are refused for a while first


class Inbox:
    async def handle_DATA(self, server, session, envelope):
        if refusals[0] > 0:
            refusals[0] -= 1
            return "451 come back later"
        mails.append((envelope.rcpt_tos, email.message_from_bytes(envelope.content, policy=email.policy.default)))
        return "250 taken"


def smtp_port():
    ready, port = threading.Event(), []

    def work():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(loop.create_server(
            lambda: SMTP(Inbox(), hostname="localhost", loop=loop), "127.0.0.1", 0))
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        loop.run_forever()

    threading.Thread(target=work, daemon=True).start()
    ready.wait(60)
    return port[0]


class Pager(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        events.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(202)
        self.end_headers()

    def log_message(self, *_):
        pass


def to(address):
    return [mail for recipients, mail in mails if address in recipients]


def main():
    pager = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pager)
    threading.Thread(target=pager.serve_forever, daemon=True).start()
    period = "period: project, from: 2026-03-01, to: 2199-12-31"
    # A digest that is hours away from now, whatever hour it is.
    hour = (time.gmtime().tm_hour + 12) % 24
    config = f"""
clusters: [{{name: lab, kind: slurm, time_zone: UTC}}]
time_zone: UTC
mail: {{server: "smtp://127.0.0.1:{smtp_port()}", from: alerts@example.com, allow_plain: true}}
budgets:
  - {{name: b1, amount: 1 USD, owner: ana, {period}}}
  - {{name: b2, amount: 2 USD, owner: bo, {period}}}
alerts:
  every: 1s
  off: [budget_forecast, budget_probable, costs_missing, cost_anomaly]
  allow_private: [127.0.0.1]
  digest_hour: {hour}
  receivers:
    - {{name: all, kind: email, to: [all@example.com, else@example.com]}}
    - {{name: ana, kind: email, to: [ana@example.com], owners: [ana], severity: critical}}
    - {{name: eve, kind: email, to: [eve@example.com], owners: [eve]}}
    - {{name: daily, kind: email, to: [daily@example.com], digest: day}}
    - {{name: pager, kind: pagerduty, secret_file: pager.key, url: "http://127.0.0.1:{pager.server_address[1]}/v2/enqueue"}}
"""
    folder = billed_folder("people", config, {"pager.key": "a routing key\n"})
    log = open(folder / "serve.log", "ab")

    def serve():
        return subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=folder, stdout=log,
                                stderr=subprocess.STDOUT)

    process = serve()
    wait_for(lambda: len(events) >= 2 and to("all@example.com") and to("ana@example.com"), "mail and events arrive")
    mail = to("all@example.com")[0]
    expect(mail["Subject"].startswith("[pennyweight] 2 alerts: Budget b1: "), mail["Subject"])
    expect(mail["From"] == "alerts@example.com" and mail["Message-ID"].startswith("<alert."), "who sends it")
    text = mail.get_body().get_content()
    for word in ("Firing:", "(critical) Budget b2", "owner: bo", "budget_exhausted/b2 2026-03-01/"):
        expect(word in text, f"the mail says {word}: {text}")
    expect(to("else@example.com"), "both addresses get it")
    mail = to("ana@example.com")[0]
    expect(mail["Subject"].startswith("[pennyweight] 1 alert: Budget b1: "), mail["Subject"])
    expect(not to("eve@example.com"), "eve owns nothing of it")
    expect(any("delivered before" in mail.get_body().get_content() for _, mail in mails),
           "what was refused for a while is marked when it comes again")
    expect({event["payload"]["custom_details"]["owner"] for event in events} == {"ana", "bo"}, f"{events}")
    expect(all(event["routing_key"] == "a routing key" and event["event_action"] == "trigger" for event in events),
           "events of PagerDuty")
    # The digest waits on disk, whatever is killed, until it is due.
    process.kill()
    process.wait()
    expect(not to("daily@example.com"), "the digest is not due yet")
    path = next(folder.glob("*.live/alerts.json"))
    state = json.loads(path.read_text())
    waiting = [entry for entry in state["outbox"] if entry["receiver"] == "daily"]
    expect(len(waiting) == 2, f"{len(waiting)} notifications wait for the digest")
    for entry in waiting:
        expect(entry["next"][11:] == f"{hour:02}:00:00Z", f"the digest is at its hour: {entry['next']}")
        entry["next"] = "2026-03-06T00:00:00Z"
    path.write_text(json.dumps(state))
    process = serve()
    wait_for(lambda: to("daily@example.com"), "the digest arrives")
    expect(to("daily@example.com")[0]["Subject"].startswith("[pennyweight] 2 alerts: "), "one mail for both")
    process.terminate()
    expect(process.wait(timeout=60) == 0, "serve ends in order")
    before, count = len(mails), len(events)
    run(["alerts", "--test", "eve"], folder)
    expect(len(mails) == before + 1 and to("eve@example.com"), "the test mail arrives")
    run(["alerts", "--test", "pager"], folder)
    expect([event["event_action"] for event in events[count:]] == ["trigger", "resolve"], "a test leaves no incident")
    expect(len({event["dedup_key"] for event in events[count:]}) == 1, "both are of one incident")
    pager.shutdown()
    if failures:
        print((folder / "serve.log").read_text()[-3000:])
    else:
        shutil.rmtree(folder)
    print("people:", "ok" if not failures else f"{len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
