"""`pennyweight serve` for as long as a browser looks at it: the ledger and the people of tests/api.

usage: serve_for_pages.py PENNYWEIGHT ROOT CACHE [full|empty|currencies|euros|alerts|approvals|running|unusual|live|large|wide|demo]

Prints one line of JSON, {"url", "folder", "people": {name: password}, "admission"}, and ends when its input does.
`full` is the ledger of tests/api/serving.py, with somebody of every role; `empty` is a first start; in
`currencies` one node of `full` is billed in euros, and reports are in dollars, in `euros` in euros; in `alerts` two budgets of
`full` are used up, one receiver hears of it, and another can't be reached; in `approvals` the webhook listens at "admission"; in `running` invoices have VAT, and
the month that still runs has a bill; in `unusual` one day costs four times as much, and one eight times; in `live` a small fleet sends its telemetry; `large` and `wide` are companies of three clusters, six months and two currencies, with
20 and 479 teams; `demo` is the ledger that script/demo made.
"""
import http.server
import json
import pathlib
import socket
import sys
import tempfile
import threading

ROOT = pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests/api"))
import serving  # reads sys.argv  # noqa: E402
import demo_ledger  # noqa: E402
import large_ledger  # noqa: E402
import running_month  # noqa: E402
import two_currencies  # noqa: E402
import unusual_days  # noqa: E402


# The team of the lead: the first one of the large ledgers, and one that the demonstration invoices.
SCOPES = dict.fromkeys(("large", "wide"), [{"dimension": "team", "values": ["team-000"]}])
SCOPES["demo"] = [{"dimension": "team", "values": ["7f04ca"]}]


def empty_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-web-"))
    (folder / "card.csv").write_text(serving.PRICES)  # which the configuration names
    return folder


ALERTS = """  - {name: trial, amount: 100 USD, period: project, from: 2026-03-01, to: 2199-12-31, owner: fin}
  - {name: nlp-trial, filter: team=nlp, amount: 50 USD, period: project, from: 2026-03-01, to: 2199-12-31}
alerts:
  every: 1s
  off: [budget_forecast, budget_probable, costs_missing, cost_anomaly]
  allow_private: [127.0.0.1]
  receivers:
    - {name: hook, url: "http://127.0.0.1:HEARS/hook"}
    - {name: nobody, url: "http://127.0.0.1:CLOSED/hook"}
"""


class Hook(http.server.BaseHTTPRequestHandler):
    """A receiver that hears everything."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def alerting_server():
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    closed = socket.socket()  # bound, and never listened on
    closed.bind(("127.0.0.1", 0))
    alerting_server.closed = closed
    alerts = ALERTS.replace("HEARS", str(hook.server_port)).replace("CLOSED", str(closed.getsockname()[1]))
    # In the place of the other one, after the budgets, to which it adds.
    return serving.Server(serving.CONFIG.replace(serving.ALERTS, alerts))


def live_server():
    import live_trial  # which needs an SMTP server
    return live_trial.server()


def approving_server():
    listens = "guardrails:\n  admission: {listen: 127.0.0.1:0}\n"
    return serving.Server(serving.CONFIG.replace("guardrails:\n", listens))


def admission_port(server):
    for line in server.words().splitlines():
        event = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
        if event.get("event") == "admission":
            return int(event["address"].rsplit(":", 1)[1])
    return None


def main():
    what = sys.argv[4] if len(sys.argv) > 4 else "full"
    if what == "empty":
        serving.ledger_copy = empty_folder
    made = {"currencies": two_currencies.server, "euros": lambda: two_currencies.server("EUR"), "alerts": alerting_server, "approvals": approving_server, "running": running_month.server,
            "unusual": unusual_days.server, "live": live_server, "demo": demo_ledger.server,
            "large": lambda: large_ledger.server(20), "wide": lambda: large_ledger.server(479)}
    server = made.get(what, serving.Server)()
    server.sign_in_admin()
    people = {"admin": serving.PASSWORD}
    if what != "empty":
        for role, scope in (("finance", ()), ("team_lead", SCOPES.get(what, serving.SCOPE)), ("client", SCOPES.get(what, serving.SCOPE))):
            name = f"{role}-web".replace("_", "-")
            server.add_person(role, scope, name=name)
            people[name] = serving.PASSWORD
    print(json.dumps({"url": f"http://127.0.0.1:{server.port}", "folder": str(server.folder),
                      "people": people, "heard": getattr(server, "heard", None), "admission": admission_port(server)}), flush=True)
    sys.stdin.read()


serving.guarded(main, "serve for pages")
