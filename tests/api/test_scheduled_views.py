#!/usr/bin/env python3
"""Saved views that are sent: what arrives by mail, at a webhook and in Slack is what the owner sees, and no more; what
can't be sent is told, and nothing is sent of an owner who may no longer read it."""
import csv
import datetime
import http.server
import io
import json
import sys
import threading
import time
from decimal import Decimal

import serving
from serving import PASSWORD, SCOPE, Server, expect, guarded

sys.path.insert(0, str(serving.ROOT / "tests/alerts"))
import steps  # noqa: E402

TODAY = datetime.datetime.now(datetime.timezone.utc).date()
LAST = TODAY.replace(day=1) - datetime.timedelta(days=1)  # of the month before
FIRST = LAST.replace(day=1)
heard, mails = [], []  # (path, headers, body), (recipients, mail)
is_open = threading.Event()  # whether the webhook takes anything


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if is_open.is_set():
            heard.append((self.path, dict(self.headers), json.loads(body)))
        self.send_response(200 if is_open.is_set() else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


def last_month_too(folder, plain=serving.make_ledger):
    """The ledger of the other tests, with jobs and a bill of the last whole month."""
    plain(folder)
    month = f"{LAST:%Y-%m}"
    head, *jobs = (folder / "march.txt").read_text().splitlines()
    moved = ["7" + job[1:].replace("2026-03-", month + "-") for job in jobs if not any(f"2026-03-{day}" in job for day in (29, 30, 31)) and "2026-04" not in job]
    (folder / "last.txt").write_text("\n".join([head, *moved]) + "\n")
    serving.run(["generate", "bill", "--nodes", "nodes.csv", "--from", str(FIRST), "--to", str(LAST), "--prices-as-of", "2026-07-20", "--out", "last.csv"], folder)
    serving.run(["import", "--cluster", "lab", "last.txt", "last.csv"], folder)
    serving.run(["allocate", "--month", month], folder)


def wait_for(what, words, patience_s=90):
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.3)
    return expect(False, f"in vain: {words}")


def server():
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    mail = steps.receive_mail(lambda to, mail: mails.append((to, mail))) if steps.SMTP else None
    receivers = "".join(f'    - {{name: {name}, kind: {kind}, url: "http://127.0.0.1:{hook.server_port}/{name}"}}\n'
                        for name, kind in (("books", "webhook"), ("chat", "slack"), ("cards", "teams")))
    config = serving.CONFIG.replace(serving.ALERTS, f"alerts:\n  digest_hour: 0\n  off: [{', '.join(OFF)}]\n  allow_private: [127.0.0.1]\n  receivers:\n{receivers}")
    if mail:
        config += f'mail: {{server: "smtp://127.0.0.1:{mail}", from: costs@example.com, allow_plain: true}}\n'
    serving.make_ledger = last_month_too
    serving.CACHE = serving.CACHE / "scheduled"
    return Server(config)


# So that nothing but views is sent.
OFF = ("budget_exhausted", "budget_spent", "budget_forecast", "budget_probable", "costs_missing", "cost_anomaly", "coverage_fell", "reconcile_off")


def save(person, name, query):
    made = person.post("/api/v1/views", {"name": name, "query": query})
    assert made.status == 201, made
    return made.json()["id"]


def view_of(person, number):
    [one] = [one for one in person.get("/api/v1/views").json()["data"] if one["id"] == number]
    return one


def sent_until(person, number):
    schedule = view_of(person, number)["schedule"]
    return schedule and schedule["sent_until"]


def total(tables):
    return sum((Decimal(row["effective_cost"]) for table in tables for row in table["rows"]), Decimal(0))


def check_webhook(lead, days):
    """What arrives is the answer of the API, cut to the scope, once."""
    by_user = save(lead, "by user", "/explore?by=user&filter=cluster=lab&month=2026-03&step=day&chart=line")
    assert lead.ask("PUT", f"/api/v1/views/{by_user}/schedule", {"every": "month", "receiver": "books"}).status == 200
    wait_for(lambda: (view_of(lead, by_user)["schedule"] or {}).get("problem"), "a receiver that does not answer is told of")
    problem = view_of(lead, by_user)["schedule"]
    expect("books" in (problem["problem"] or "") and problem["sent_until"] is None, f"why it was not sent: {problem}")
    is_open.set()
    # Setting it anew tries at once; what failed by itself is tried again after ten minutes.
    other = save(lead, "by user, again", "/explore?by=user&filter=cluster=lab&month=2026-03&step=day")
    assert lead.ask("PUT", f"/api/v1/views/{other}/schedule", {"every": "month", "receiver": "books"}).status == 200
    wait_for(lambda: sent_until(lead, other) == str(LAST), "the webhook hears")
    [(path, headers, body)] = [one for one in heard if one[2].get("view", {}).get("id") == other]
    expect(path == "/books" and headers.get("X-Pennyweight-Id"), f"it came at {path} with {headers}")
    expect(body["period"] == {"from": str(FIRST), "to": str(LAST)}, f"of {body['period']}")
    want = lead.get("/api/v1/costs", {"by": "user", "filter": "cluster=lab", **days}).json()["tables"]
    expect(body["tables"] == want and total(want) > 0, f"sent {body['tables']}, want {want}")
    everybody = server_of(lead).sign_in_admin().get("/api/v1/costs", {"by": "team", "filter": "cluster=lab", **days}).json()["tables"]
    nlp = [row for table in everybody for row in table["rows"] if row["team"] == "nlp"]
    expect(total(body["tables"]) == Decimal(nlp[0]["effective_cost"]), f"the scope's costs are {nlp}")
    expect("vision" not in json.dumps(body), "nothing of others is sent")
    return by_user


def check_slack(lead):
    number = save(lead, "chat view", "/explore?by=user")
    assert lead.ask("PUT", f"/api/v1/views/{number}/schedule", {"every": "month", "receiver": "chat"}).status == 200
    wait_for(lambda: sent_until(lead, number) == str(LAST), "Slack hears")
    [text] = [body["text"] for path, _, body in heard if path == "/chat"]
    expect("chat view" in text and "total" in text and "vision" not in text, f"Slack reads {text}")


def check_mail(viewer, days):
    """Who may not tell others mails a view to themselves."""
    number = save(viewer, "teams =1+1", "/explore?by=team&currency=original")
    for receiver in ("books", "cards", "nobody"):
        answer = viewer.ask("PUT", f"/api/v1/views/{number}/schedule", {"every": "month", "receiver": receiver})
        expect(answer.status == (403 if receiver == "books" else 422), f"a viewer sends to {receiver}: {answer}")
    assert viewer.ask("PUT", f"/api/v1/views/{number}/schedule", {"every": "month"}).status == 200
    if not steps.SMTP:
        print("mail is not tried: aiosmtpd is not installed")
        return
    wait_for(lambda: sent_until(viewer, number) == str(LAST), "the mail is sent")
    [(to, mail)] = mails
    expect(to == [f"{viewer.name}@example.org"], f"it went to {to}")
    want = viewer.get("/api/v1/costs", {"by": "team", **days}).json()["tables"]
    [part] = list(mail.iter_attachments())
    rows = list(csv.DictReader(io.StringIO(part.get_content())))
    expect({row["team"]: Decimal(row["effective_cost"]) for row in rows} ==
           {row["team"]: Decimal(row["effective_cost"]) for row in want[0]["rows"]}, f"attached is {rows}, want {want}")
    expect(f"{FIRST} to {LAST}" in mail["Subject"] and "vision" in mail.get_body().get_content(), f"it says {mail}")


def check_owners(server, lead, by_user):
    """What is sent is what the owner may see and tell when it is sent: their views wait for the webhook meanwhile."""
    admin = server.sign_in_admin()
    is_open.clear()
    people = {what: server.add_person("team_lead", []) for what in ("blocked", "client", "viewer", "narrowed")}
    views = {what: save(person, f"of {what}", "/explore?by=team") for what, person in people.items()}
    for what, person in people.items():
        assert person.ask("PUT", f"/api/v1/views/{views[what]}/schedule", {"every": "month", "receiver": "books"}).status == 200
    for what, person in people.items():
        wait_for(lambda what=what, person=person: (view_of(person, views[what])["schedule"] or {}).get("problem"), f"{what} waits")
    for what, change in (("blocked", {"disabled": True}), ("client", {"role": "client", "scope": SCOPE}), ("viewer", {"role": "viewer"}), ("narrowed", {"scope": SCOPE})):
        assert admin.ask("PATCH", f"/api/v1/users/{people[what].name}", change).status == 200
    is_open.set()
    wait_for(lambda: any(one[2].get("view", {}).get("id") == views["narrowed"] for one in heard), "the narrowed one's view comes")
    [body] = [one[2] for one in heard if one[2].get("view", {}).get("id") == views["narrowed"]]
    expect({row["team"] for table in body["tables"] for row in table["rows"]} == {"nlp"}, f"it has more than the scope: {body['tables']}")
    for what, why in (("blocked", "may no longer read costs"), ("client", "may no longer read costs"), ("viewer", "may no longer send views to others")):
        wait_for(lambda what=what, why=why: f'"id": {views[what]},' in why_lines(server, why), f"why the view of {what} is not sent")
        expect(not any(one[2].get("view", {}).get("id") == views[what] for one in heard), f"the view of {what} was sent")
    again = server.anonymous()
    again.sign_in(people["client"].name, PASSWORD)
    answer = again.ask("PUT", f"/api/v1/views/{views['client']}/schedule", {"every": "month"})
    expect(answer.status == 403, f"a client sends views: {answer}")
    expect(lead.ask("DELETE", f"/api/v1/views/{by_user}/schedule").status == 204 and view_of(lead, by_user)["schedule"] is None, "a schedule ends")
    actions = [one["action"] for one in admin.get("/api/v1/audit", {"limit": "200"}).json()["data"]]
    expect({"view.schedule", "view.unschedule"} <= set(actions), f"the audit log has {actions[:20]}")


def why_lines(server, why):
    return "\n".join(line for line in server.words().splitlines() if why in line)


servers = {}


def server_of(person):
    return servers[person.name]


def main():
    one = server()
    lead, viewer = one.add_person("team_lead", SCOPE), one.add_person("viewer", [])
    servers[lead.name] = one
    days = {"from": str(FIRST), "to": str(LAST)}
    by_user = check_webhook(lead, days)
    check_slack(lead)
    check_mail(viewer, days)
    check_owners(one, lead, by_user)
    expect(one.is_alive(), "the server is still there")


guarded(main, "scheduled views")
