"""A valid request for every operation of the API: it is answered 2xx if the asker is allowed to.

ASKING[(method, path)] is a function of (server, asker) that prepares the request as the admin and
returns (target, body). Operations that change the asker (password, session) are in OWN and are sent
by users created for them.
"""
import base64
import datetime
import hashlib
import hmac
import struct
import time

from serving import DATA, PASSWORD, SCOPE, instant, quoted

MONTH = "2026-03"
CLOSED = "2026-02"
OWN = {("DELETE", "/api/v1/session"), ("PUT", "/api/v1/session/password"),
       ("POST", "/api/v1/session/totp"), ("PUT", "/api/v1/session/totp"),
       ("DELETE", "/api/v1/session/totp"), ("POST", "/api/v1/session/totp/codes"),
       ("POST", "/api/v1/session/confirm"), ("DELETE", "/api/v1/sessions"),
       ("DELETE", "/api/v1/sessions/{id}")}
_numbers = iter(range(1, 1_000_000))


def plain(path, **query):
    """Nothing to prepare."""
    def ask(_server, _asker):
        return (path + ("?" + "&".join(f"{name}={quoted(value)}" for name, value in query.items())
                        if query else "")), None
    return ask


def posted(path, **body):
    def ask(_server, _asker):
        return path, body
    return ask


NO_LINK = "/approve/ap-0000000000000000.Ym8.1." + "0" * 64


# ------------------------------------------------------------------------------ of the ledger

def first_policy(server):
    return server.sign_in_admin().get("/api/v1/policies").json()["data"][0]["version"]


def policy(server, _asker):
    return f"/api/v1/policies/{first_policy(server)}", None


def two_policies(server, _asker):
    all_of_them = server.sign_in_admin().get("/api/v1/policies").json()["data"]
    return f"/api/v1/policies/compare?a={all_of_them[0]['version']}&b={all_of_them[-1]['version']}", None


def rejected_rows(server, _asker):
    imports = server.sign_in_admin().get("/api/v1/imports").json()["data"]
    number = next(one["number"] for one in imports if one["rejected"] > 0)
    return f"/api/v1/imports/{number}/rejected", None


def invoice(server, _asker):
    data = server.sign_in_admin().get("/api/v1/invoices", {"customer": "nlp"}).json()["data"]
    return f"/api/v1/invoices/{data[0]['number']}", None


def close_month(server, _asker):
    """The earliest open month: there is one for each user who may close one here, and March."""
    periods = server.sign_in_admin().get("/api/v1/periods").json()["data"]
    opened = [one["month"] for one in periods if one["state"] == "open"]
    return f"/api/v1/periods/{min(opened)}/close", {"reason": "the month is final"}


def decided(server, asker):
    """An advice that the asker sees, opened again and accepted. With a scope there is none in this
    ledger, so that the answer is that it is not found."""
    admin = server.sign_in_admin()
    rows = admin.get("/api/v1/advice", {"month": MONTH}).json()["tables"][0]["rows"]
    path = f"/api/v1/advice/{rows[0]['id']}/steps"
    if rows[0]["state"] != "new":
        admin.post(path, {"action": "reopen"})
    return path, {"action": "accept", "month": MONTH}


def silence(_server, _asker):
    return "/api/v1/alerts/silences", {"rule": "gpu_hot", "to": _today(), "reason": "a test"}


def asked(server, _asker):
    name = f"run-{next(_numbers)}"
    manifest = ("apiVersion: batch/v1\nkind: Job\n"
                f"metadata: {{name: {name}, namespace: ml}}\n"
                "spec: {activeDeadlineSeconds: 3600, template: {metadata: {labels: {team: nlp}}, "
                "spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]}}}\n")
    return "/api/v1/approvals", {"manifest": manifest, "reason": "the yearly run"}


def known_approval(server, _asker):
    """Asked for by somebody who asks for nothing else here, since nobody approves their own."""
    if not hasattr(server, "requester"):
        server.requester = server.add_person("viewer", ())
    path, body = asked(server, None)
    made = server.requester.post(path, body)
    assert made.status == 200, made
    return f"{path}/{made.json()['data'][0]['approval']}", None


def approval_decision(server, asker):
    return f"{known_approval(server, asker)[0]}/decisions", {"decision": "approve", "note": "once"}


def known_what_if(server, _asker):
    """A run of the administrator, with a result."""
    if not hasattr(server, "what_if"):
        admin = server.sign_in_admin()
        made = admin.post("/api/v1/what-if/runs",
                          {"month": MONTH, "scenario": "price=60%", "error_max": 100})
        assert made.status in (200, 202), made
        server.what_if = f"/api/v1/what-if/runs/{made.json()['id']}"
        while admin.get(server.what_if).json()["state"] in ("queued", "running"):
            time.sleep(0.1)
    return server.what_if, None


def own_what_if(server, asker):
    """A run that the asker may cancel; of the admin where the asker can't start one."""
    body = {"month": MONTH, "scenario": f"placement=random;seed={next(_numbers)}"}
    who = who_makes(server, asker)
    made = who.post("/api/v1/what-if/runs", body)
    if made.status in (401, 403):
        who = server.sign_in_admin()
        made = who.post("/api/v1/what-if/runs", body)
    while made.status == 429:  # runs of earlier askers, who were refused to end them
        time.sleep(0.2)
        made = who.post("/api/v1/what-if/runs", body)
    assert made.status in (200, 202), made
    return f"/api/v1/what-if/runs/{made.json()['id']}", None


def what_if_table(server, asker):
    return known_what_if(server, asker)[0] + "/costs", None


def _today():
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def known_silence(server, _asker):
    made = server.sign_in_admin().post("/api/v1/alerts/silences", silence(server, None)[1])
    return f"/api/v1/alerts/silences/{made.json()['id']}", None


def workload(server, _asker):
    """A workload that every scope of these tests can see."""
    data = server.sign_in_admin().get(
        "/api/v1/workloads", {"month": MONTH, "filter": "team=nlp", "limit": "1"}).json()["data"]
    return (f"/api/v1/workload?cluster={quoted(data[0]['cluster'])}"
            f"&workload={quoted(data[0]['workload'])}&month={MONTH}"), None


# ------------------------------------------------------------------------------ people

def new_user(server, **more):
    name = f"person-{next(_numbers)}"
    made = server.sign_in_admin().post(
        "/api/v1/users", {"name": name, "display_name": "P", "role": "viewer", "scope": [], **more})
    assert made.status == 201, made
    return name


def add_user(_server, _asker):
    return "/api/v1/users", {"name": f"person-{next(_numbers)}", "display_name": "New",
                             "role": "viewer", "scope": SCOPE}


def one_user(server, _asker):
    return f"/api/v1/users/{new_user(server)}", None


def change_user(server, _asker):
    return f"/api/v1/users/{new_user(server)}", {"display_name": "Changed"}


def new_password(server, _asker):
    return f"/api/v1/users/{new_user(server)}/password", None


def sessions_of_user(server, _asker):
    return f"/api/v1/users/{new_user(server)}/sessions", None


def add_token(_server, _asker):
    return "/api/v1/tokens", {"name": "for a test", "expires_at": instant(time.time() + 3600)}


def who_makes(server, asker):
    """Who creates what the asker will remove: the asker, or the admin if the asker can't."""
    who = asker.session_of or asker
    return who if who.role else server.sign_in_admin()


def revoke_token(server, asker):
    return f"/api/v1/tokens/{server.add_token(who_makes(server, asker)).token_id}", None


def add_view(_server, _asker):
    return "/api/v1/views", {"name": f"view {next(_numbers)}",
                             "query": f"/explore?by=team&month={MONTH}", "shared": False}


def anomaly_verdict(_server, _asker):
    return "/api/v1/anomalies/verdicts", {"by": "team", "key": "nlp", "first": f"{MONTH}-02", "expected": True}


def add_annotation(_server, _asker):
    return "/api/v1/annotations", {"first": f"{MONTH}-02", "filter": ["team=nlp"], "text": f"for a test {next(_numbers)}"}


def remove_annotation(server, asker):
    who = who_makes(server, asker)
    made = who.post(*add_annotation(server, asker))
    if made.status == 403:  # the asker may not write any
        made = server.sign_in_admin().post(*add_annotation(server, asker))
    assert made.status == 201, made
    return f"/api/v1/annotations/{made.json()['id']}", None


def set_budget(server, asker):
    """A budget in everybody's scope, with a name of its own."""
    return f"/api/v1/budgets/set-{next(_numbers)}", {"filter": ["team=nlp"], "amount": "5000 USD"}


def set_event(server, asker):
    """An event about everybody's scope, with a name of its own."""
    return f"/api/v1/known-events/set-{next(_numbers)}", {
        "from": "2026-05-01", "key": "nlp", "by": "team", "per_day": "120 USD"}


def kept_event(server, asker):
    target, body = set_event(server, asker)
    made = server.sign_in_admin().ask("PUT", target, body)
    assert made.status == 200, made
    return target, None


def event_versions(server, asker):
    return f"{kept_event(server, asker)[0]}/versions", None


def known_budget(server, asker):
    target, body = set_budget(server, asker)
    made = server.sign_in_admin().ask("PUT", target, body)
    assert made.status == 200, made
    return target, None


def budget_versions(server, asker):
    return known_budget(server, asker)[0] + "/versions", None


def remove_view(server, asker):
    made = who_makes(server, asker).post(*add_view(server, asker))
    assert made.status == 201, made
    return f"/api/v1/views/{made.json()['id']}", None


def pay_invoice(server, asker):
    return invoice(server, asker)[0] + "/payment", {"paid_on": "2026-04-02"}


def unpay_invoice(server, asker):
    return invoice(server, asker)[0] + "/payment", None


def send_invoice(server, asker):
    return invoice(server, asker)[0] + "/dispatch", {"sent_on": "2026-03-02"}


def unsend_invoice(server, asker):
    return invoice(server, asker)[0] + "/dispatch", None


def schedule_view(server, asker):
    # The first admin has no mail address.
    where = {"receiver": "pager"} if asker.name == "admin" else {}
    return remove_view(server, asker)[0] + "/schedule", {"every": "week", **where}


def unschedule_view(server, asker):
    return remove_view(server, asker)[0] + "/schedule", None


# ------------------------------------------------------------------------------ oneself

def sign_in(server, _asker):
    return "/api/v1/session", {"user": new_user_signed_in(server), "password": PASSWORD}


def new_user_signed_in(server):
    return server.add_person("viewer", name=f"signed-{next(_numbers)}").name


def change_password(_server, _asker):
    return "/api/v1/session/password", {"old": PASSWORD, "new": PASSWORD + " and more"}


def totp_code(secret, at):
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", int(at) // 30), hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7fffffff) % 1_000_000:06}"


def confirm_totp(_server, asker):
    begun = asker.post("/api/v1/session/totp")
    # Users who may not begin have nothing to confirm, and are refused before that matters.
    secret = begun.json()["secret"] if begun.status == 200 else "A" * 32
    return "/api/v1/session/totp", {"code": totp_code(secret, time.time())}


def remove_totp(server, asker):
    session = asker.get("/api/v1/session").json()["user"]
    if session is not None and not session["has_totp"]:
        asker.put(*confirm_totp(server, asker))
    return "/api/v1/session/totp", {"password": PASSWORD}


def recovery_codes(server, asker):
    session = asker.get("/api/v1/session").json()["user"]
    if session is not None and not session["has_totp"]:
        asker.put(*confirm_totp(server, asker))
    return "/api/v1/session/totp/codes", None


def confirm_sign_in(_server, _asker):
    return "/api/v1/session/confirm", {"password": PASSWORD}


def other_session(server, asker):
    """A further session of the asker, to be ended."""
    if not getattr(asker, "csrf", None):
        return "/api/v1/sessions/s_0000000000000000", None
    other = server.anonymous()
    other.sign_in(asker.name, PASSWORD)
    sessions = other.get("/api/v1/sessions").json()["data"]
    return f"/api/v1/sessions/{next(one['id'] for one in sessions if one['this_one'])}", None


SAMPLES = b"# TYPE up gauge\nup{instance=\"gpu-01\"} 1\n"


def exposition(_server, _asker):
    return "/api/v1/import/prometheus", SAMPLES


def remote_write(_server, _asker):
    # A WriteRequest without series, packed by snappy: one byte says how long it is.
    return "/api/v1/write", b"\x00"


class Requests(dict):
    """A GET without parameters in its path needs no entry: it is sent without a query."""

    def __contains__(self, operation):
        return super().__contains__(operation) or (operation[0] == "GET" and "{" not in operation[1])

    def __missing__(self, operation):
        if operation not in self:
            raise KeyError(operation)
        return plain(operation[1])


ASKING = Requests({
    ("POST", "/api/v1/write"): remote_write,
    ("POST", "/api/v1/import/prometheus"): exposition,
    # Costs
    ("GET", "/api/v1/dimensions/{name}/values"): plain("/api/v1/dimensions/team/values",
                                                       month=MONTH),
    ("GET", "/api/v1/costs"): plain("/api/v1/costs", by="team,user", month=MONTH),
    ("GET", "/api/v1/summary"): plain("/api/v1/summary", month=MONTH),
    ("GET", "/api/v1/search"): plain("/api/v1/search", text="nl", month=MONTH),
    ("GET", "/api/v1/explain"): plain("/api/v1/explain", by="team", key="nlp", month=MONTH),
    ("GET", "/api/v1/workloads"): plain("/api/v1/workloads", month=MONTH),
    ("GET", "/api/v1/workload"): workload,
    ("GET", "/api/v1/activity"): plain("/api/v1/activity", month=MONTH, by="team"),
    ("GET", "/api/v1/usage"): plain("/api/v1/usage", month=MONTH, by="team"),
    ("GET", "/api/v1/units"): plain("/api/v1/units", month=MONTH, jobs="true"),
    ("GET", "/api/v1/capacity"): plain("/api/v1/capacity"),
    ("GET", "/api/v1/forecast"): plain("/api/v1/forecast", by="team", days="7",
                                       today="2026-03-25"),
    ("POST", "/api/v1/alerts/silences"): silence,
    ("DELETE", "/api/v1/alerts/silences/{id}"): known_silence,
    ("POST", "/api/v1/alerts/receivers/{name}/test"): posted("/api/v1/alerts/receivers/pager/test"),
    ("POST", "/api/v1/approvals"): asked,
    ("GET", "/api/v1/approvals/{id}"): known_approval,
    ("POST", "/api/v1/approvals/{id}/decisions"): approval_decision,
    # Links are in what receivers are sent; tests/cli/approvals.py decides by real ones.
    ("GET", "/approve/{link}"): plain(NO_LINK),
    ("POST", "/approve/{link}"): posted(NO_LINK, decision="approve"),
    ("GET", "/api/v1/guardrails/replay"): plain("/api/v1/guardrails/replay", month=MONTH),
    ("GET", "/api/v1/what-if/choices"): plain("/api/v1/what-if/choices", month=MONTH),
    ("POST", "/api/v1/what-if/runs"): posted("/api/v1/what-if/runs", month=MONTH,
                                             scenario="price=50%"),
    ("GET", "/api/v1/what-if/runs/{id}"): known_what_if,
    ("DELETE", "/api/v1/what-if/runs/{id}"): own_what_if,
    ("GET", "/api/v1/what-if/runs/{id}/{table}"): what_if_table,
    ("GET", "/api/v1/compliance"): plain("/api/v1/compliance", month=MONTH),
    ("GET", "/api/v1/compliance/report"): plain("/api/v1/compliance/report", month=MONTH),
    ("GET", "/api/v1/advice"): plain("/api/v1/advice", month=MONTH),
    ("POST", "/api/v1/advice/{id}/steps"): decided,
    ("GET", "/api/v1/coverage"): plain("/api/v1/coverage", month=MONTH, by="team"),
    # Billing
    ("GET", "/api/v1/policies/{version}"): policy,
    ("GET", "/api/v1/policies/compare"): two_policies,
    ("GET", "/api/v1/imports/{number}/rejected"): rejected_rows,
    ("GET", "/api/v1/reconcile"): plain("/api/v1/reconcile", month=MONTH),
    ("GET", "/api/v1/reconcile/lines"): plain("/api/v1/reconcile/lines", month=MONTH),
    ("POST", "/api/v1/imports"): lambda _server, _asker: (
        "/api/v1/imports?name=nodes.csv&cluster=lab", (DATA / "nodes.csv").read_bytes()),
    ("POST", "/api/v1/allocations"): posted("/api/v1/allocations", month=MONTH),
    ("POST", "/api/v1/periods/{month}/close"): close_month,
    ("GET", "/api/v1/invoices/{number}"): invoice,
    ("POST", "/api/v1/invoices/preview"): posted("/api/v1/invoices/preview", month=MONTH),
    ("POST", "/api/v1/invoices"): posted("/api/v1/invoices", month=CLOSED),
    ("POST", "/api/v1/anomalies/verdicts"): anomaly_verdict,
    ("POST", "/api/v1/annotations"): add_annotation,
    ("DELETE", "/api/v1/annotations/{id}"): remove_annotation,
    ("PUT", "/api/v1/known-events/{name}"): set_event,
    ("DELETE", "/api/v1/known-events/{name}"): kept_event,
    ("GET", "/api/v1/known-events/{name}/versions"): event_versions,
    ("PUT", "/api/v1/budgets/{name}"): set_budget,
    ("DELETE", "/api/v1/budgets/{name}"): known_budget,
    ("GET", "/api/v1/budgets/{name}/versions"): budget_versions,
    ("PUT", "/api/v1/invoices/{number}/payment"): pay_invoice,
    ("DELETE", "/api/v1/invoices/{number}/payment"): unpay_invoice,
    ("PUT", "/api/v1/invoices/{number}/dispatch"): send_invoice,
    ("DELETE", "/api/v1/invoices/{number}/dispatch"): unsend_invoice,
    ("GET", "/api/v1/statements"): plain("/api/v1/statements"),
    ("GET", "/api/v1/statements/{month}"): plain(f"/api/v1/statements/{MONTH}"),
    ("GET", "/api/v1/profitability"): plain("/api/v1/profitability", month=MONTH),
    ("GET", "/api/v1/clients"): plain("/api/v1/clients", month=MONTH),
    ("GET", "/api/v1/clients/report"): plain("/api/v1/clients/report", month=MONTH),
    # People
    ("POST", "/api/v1/session"): sign_in,
    ("DELETE", "/api/v1/session"): plain("/api/v1/session"),
    ("PUT", "/api/v1/session/password"): change_password,
    ("POST", "/api/v1/session/confirm"): confirm_sign_in,
    ("POST", "/api/v1/session/totp/codes"): recovery_codes,
    ("DELETE", "/api/v1/sessions"): plain("/api/v1/sessions"),
    ("DELETE", "/api/v1/sessions/{id}"): other_session,
    ("POST", "/api/v1/session/totp"): plain("/api/v1/session/totp"),
    ("PUT", "/api/v1/session/totp"): confirm_totp,
    ("DELETE", "/api/v1/session/totp"): remove_totp,
    ("GET", "/api/v1/session/openid/callback"): plain("/api/v1/session/openid/callback",
                                                      code="x", state="y"),
    ("POST", "/api/v1/session/openid/logout"): posted("/api/v1/session/openid/logout"),
    ("POST", "/api/v1/users"): add_user,
    ("GET", "/api/v1/users/{name}"): one_user,
    ("PATCH", "/api/v1/users/{name}"): change_user,
    ("DELETE", "/api/v1/users/{name}"): one_user,
    ("POST", "/api/v1/users/{name}/password"): new_password,
    ("DELETE", "/api/v1/users/{name}/sessions"): sessions_of_user,
    ("POST", "/api/v1/tokens"): add_token,
    ("DELETE", "/api/v1/tokens/{id}"): revoke_token,
    ("POST", "/api/v1/views"): add_view,
    ("DELETE", "/api/v1/views/{id}"): remove_view,
    ("PUT", "/api/v1/views/{id}/schedule"): schedule_view,
    ("DELETE", "/api/v1/views/{id}/schedule"): unschedule_view,
})
HEADERS = {
    ("POST", "/api/v1/imports"): {"Content-Type": "application/octet-stream"},
    ("POST", "/api/v1/import/prometheus"): {"Content-Type": "text/plain"},
    ("POST", "/api/v1/write"): {"Content-Type": "application/x-protobuf",
                                "Content-Encoding": "snappy",
                                "X-Prometheus-Remote-Write-Version": "0.1.0"},
}
# A stream without an end: this many bytes of it are enough.
ENDLESS = {("GET", "/api/v1/events"): 10}


def ask(server, asker, operation, headers=None):
    """Sends the valid request of an operation; returns the answer."""
    method, _ = operation
    target, body = ASKING[operation](server, asker)
    sent = dict(HEADERS.get(operation, {}))
    sent.update(headers or {})
    return asker.ask(method, target, body, headers=sent, keep_cookies=False,
                     read=ENDLESS.get(operation))
