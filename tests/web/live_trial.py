"""A server for lead_trial.mjs: a fleet sends its telemetry, and a webhook and a mailbox hear of alerts."""
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import time

import serving

sys.path.insert(0, str(serving.ROOT / "tests/alerts"))
import fleet  # noqa: E402
import steps  # noqa: E402

# As it comes: rules and receivers, and nothing that makes an alert faster.
CONFIG = """
clusters: [{name: lab, kind: kubernetes}]
MAIL
alerts:
  allow_private: [127.0.0.1]
  receivers:
    - {name: hook, url: "http://127.0.0.1:PORT/hook"}
    - {name: nlp, kind: email, to: [lead@example.com], owners: [nlp]}
"""
heard = []  # {"how", "at", "text"}, in the order in which they came


class Outlet(http.server.BaseHTTPRequestHandler):
    """Takes notifications, and says what came."""

    def do_POST(self):
        hear("webhook", self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.answer(b"")

    def do_GET(self):
        self.answer(json.dumps(heard).encode())

    def answer(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def hear(how, text):
    heard.append({"how": how, "at": time.time(), "text": text})


class Running:
    """What a Fleet sends to."""

    def __init__(self, server):
        self.server, self.address = server, f"127.0.0.1:{server.port}"

    def machine_token(self):
        return next(self.server.folder.glob("*.live/machine-token")).read_text().strip()


def new_folder():
    return pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-lead-"))


def server():
    outlet = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Outlet)
    threading.Thread(target=outlet.serve_forever, daemon=True).start()
    mails = steps.receive_mail(lambda _, mail: hear("mail", mail.get_body().get_content()))
    config = CONFIG.replace("PORT", str(outlet.server_port)).replace(
        "MAIL", f'mail: {{server: "smtp://127.0.0.1:{mails}", from: alerts@example.com, allow_plain: true}}')
    serving.ledger_copy = new_folder
    made = serving.Server(config)
    made.heard = f"http://127.0.0.1:{outlet.server_port}/"
    sent = fleet.Fleet(Running(made), time.time() - 14_400)
    sent.has_pods, sent.is_silent = True, False
    return made
