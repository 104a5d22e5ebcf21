#!/usr/bin/env python3
"""Sends every line of authorisation.txt to a running server as every kind of user.

First all answers are collected, then they are held to the table. So the check can check itself: with
any one cell of the table turned round it has to find something.
"""
import collections
import time
from decimal import Decimal

import asking
import running
from serving import (PASSWORD, ROLES, SCOPE, Server, expect, guarded, instant)

TABLE = __file__.replace("test_authorisation.py", "authorisation.txt")
Line = collections.namedtuple("Line", "operation needs scoped by allowed")
# A kind of asker: a role, with or without a scope, by session or token; or a special one.
Who = collections.namedtuple("Who", "kind role scoped")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
# Answers to valid requests that are neither 2xx nor a refusal, since something is not configured.
NOT_CONFIGURED = {("GET", "/api/v1/session/openid"), ("GET", "/api/v1/session/openid/callback"),
                  ("POST", "/api/v1/session/openid/logout")}
# The test's ledger is of too few days to have unusual ones, and its links are made up.
NOTHING_FOUND = {("POST", "/api/v1/anomalies/verdicts"), ("GET", "/approve/{link}"),
                 ("POST", "/approve/{link}")}
# Valid requests about something that the test's ledger has for nobody's scope.
NOTHING_IN_SCOPE = {("POST", "/api/v1/advice/{id}/steps")}

# A client without a scope is nobody's customer: for them there is no invoice.
NOTHING_WITHOUT_SCOPE = {("GET", "/api/v1/invoices/{number}")}


# ------------------------------------------------------------------------------ the table

def read_table():
    lines = []
    for number, text in enumerate(open(TABLE, encoding="utf-8"), 1):
        if text.startswith("#") or not text.strip():
            continue
        words = text.split()
        assert len(words) == 5 + len(ROLES), f"authorisation.txt:{number}: {text}"
        method, path, needs, scoped, by, *marks = words
        assert scoped in ("cut", "same", "refused"), f"authorisation.txt:{number}: {scoped}"
        assert by in ("any", "session"), f"authorisation.txt:{number}: {by}"
        assert set(marks) <= {"+", "-"}, f"authorisation.txt:{number}: {marks}"
        lines.append(Line((method, path), needs, scoped, by,
                          tuple(role for role, mark in zip(ROLES, marks) if mark == "+")))
    assert len({line.operation for line in lines}) == len(lines), "a line is there twice"
    return lines


def expected(line, who):
    """"answered", or the status of the refusal."""
    if line.needs == "open":
        return "answered"
    if who.kind in ("anonymous", "expired", "revoked", "made_up"):
        return 401
    if who.kind in ("no_csrf", "wrong_csrf", "must_change"):
        return 403
    if line.by == "session" and who.kind in ("token", "narrow"):
        return 403
    if who.kind == "narrow":  # a token that may read costs and nothing else
        return "answered" if line.needs in ("read_costs", "signed_in") else 403
    if who.role not in line.allowed or (who.scoped and line.scoped == "refused"):
        return 403
    return "answered"


def is_as_expected(line, who, status):
    want = expected(line, who)
    if want != "answered":
        return status == want
    if who.scoped and line.operation in NOTHING_IN_SCOPE:
        return status == 404
    if who.role == "client" and not who.scoped and line.operation in NOTHING_WITHOUT_SCOPE:
        return status == 404
    if line.operation in NOTHING_FOUND:
        return status == 404
    if line.operation in NOT_CONFIGURED:
        return status in (302, 400, 404)
    return 200 <= status < 300


def differences(table, answers):
    """The differences between the answers and the table, in words."""
    found = []
    for line in table:
        for who, status in answers[line.operation].items():
            if not is_as_expected(line, who, status):
                found.append(f"{' '.join(line.operation)} as {' '.join(map(str, who))}: {status}, "
                             f"want {expected(line, who)}")
    return found


def self_check(table, answers):
    """Inverts each cell and changes each scope: the check notices all of them."""
    turned = 0
    for line in table:
        if line.needs == "open":
            continue
        others = [line._replace(allowed=tuple(r for r in ROLES if (r in line.allowed) != (r == role)))
                  for role in ROLES]
        others.append(line._replace(
            scoped="same" if line.scoped == "refused" else "refused"))
        others.append(line._replace(by="any" if line.by == "session" else "session"))
        for other in others:
            turned += 1  # the other lines were found to be as the table says
            expect(differences([other], answers),
                   f"nothing is noticed with {' '.join(other.operation)} as {other}")
    print(f"self-check: {turned} cells turned round, each is noticed")


# ------------------------------------------------------------------------------ asking

def everybody(server):
    """(who, asker) for all kinds of askers."""
    people = []
    for role in ROLES:
        for scoped in (False, True):
            asker = server.add_person(role, SCOPE if scoped else ())
            people.append((Who("session", role, scoped), asker))
            people.append((Who("token", role, scoped), server.add_token(asker)))
    admin = server.sign_in_admin()
    people.append((Who("narrow", "admin", False), server.add_token(admin, only=["read_costs"])))
    people.append((Who("anonymous", None, False), server.anonymous()))
    made_up = server.anonymous()
    made_up.token = "pwt_" + "a" * 43
    people.append((Who("made_up", None, False), made_up))
    revoked = server.add_token(admin)
    assert admin.delete(f"/api/v1/tokens/{revoked.token_id}").status == 204
    people.append((Who("revoked", "admin", False), revoked))
    must_change = server.anonymous()
    made = admin.post("/api/v1/users", {"name": "newcomer", "display_name": "N", "role": "admin",
                                        "scope": []})
    must_change.sign_in("newcomer", made.json()["password"])
    people.append((Who("must_change", "admin", False), must_change))
    expired = server.add_token(admin, expires_at=instant(time.time() + 2))
    time.sleep(3)
    people.append((Who("expired", "admin", False), expired))
    return people


def answers_of(server, table, people):
    answers = collections.defaultdict(dict)
    kept = {}  # the bodies of what was answered to sessions
    forging = server.sign_in_admin()
    for line in table:
        if line.operation in asking.OWN:
            continue
        for who, asker in people:
            answer = asking.ask(server, asker, line.operation)
            answers[line.operation][who] = answer.status
            if who.kind == "session" and answer.status == 200:
                kept[line.operation, who] = answer
        if line.operation[0] in UNSAFE:
            for kind, token in (("no_csrf", None), ("wrong_csrf", "x" * len(forging.csrf))):
                answer = asking.ask(server, forging, line.operation, {"X-CSRF-Token": token})
                answers[line.operation][Who(kind, "admin", False)] = answer.status
    return answers, kept


def answers_about_oneself(server, table, answers):
    """Operations that change the asker, in an order in which one user can do all of them."""
    order = [("POST", "/api/v1/session/confirm"), ("DELETE", "/api/v1/sessions/{id}"),
             ("POST", "/api/v1/session/totp"), ("PUT", "/api/v1/session/totp"),
             ("POST", "/api/v1/session/totp/codes"), ("DELETE", "/api/v1/session/totp"),
             ("DELETE", "/api/v1/sessions"), ("PUT", "/api/v1/session/password"),
             ("DELETE", "/api/v1/session")]
    assert set(order) == asking.OWN
    for role in ROLES:
        for scoped in (False, True):
            asker = server.add_person(role, SCOPE if scoped else ())
            for operation in order:
                for kind, token in (("no_csrf", None), ("wrong_csrf", "x" * len(asker.csrf))):
                    target, body = asking.ASKING[operation](server, asker)
                    refused = asker.ask(operation[0], target, body, {"X-CSRF-Token": token},
                                        keep_cookies=False)
                    answers[operation][Who(kind, role, scoped)] = refused.status
                answer = asking.ask(server, asker, operation)
                answers[operation][Who("session", role, scoped)] = answer.status
                if operation[1].endswith("/password"):
                    asker = server.anonymous()
                    asker.sign_in(f"{role}-{len(server.people) - 1}", PASSWORD + " and more")
    bearer = server.add_token(server.sign_in_admin())
    nobody = server.anonymous()
    for operation in order:
        target, body = asking.ASKING[operation](server, nobody)
        for who, asker in ((Who("anonymous", None, False), nobody),
                           (Who("token", "admin", False), bearer)):
            answers[operation][who] = asker.ask(operation[0], target, body).status


# ------------------------------------------------------------------------------ what is cut

def texts_in(value):
    """Every text of a JSON value, keys left out."""
    if isinstance(value, dict):
        for entry in value.values():
            yield from texts_in(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from texts_in(entry)
    elif isinstance(value, str):
        yield value


def rows_of(server, query):
    return [row for table in server.sign_in_admin().get("/api/v1/costs", query).json()["tables"]
            for row in table["rows"]]


def foreign_words(server):
    """Names outside of the scope: teams, users, workloads."""
    words = set()
    own = set()
    for row in rows_of(server, {"by": "team,user,workload", "month": asking.MONTH}):
        into = own if row["team"] == "nlp" else words
        into.update(value for value in (row["team"], row["user"], row["workload"]) if value)
    return {word for word in words - own if not word.startswith("(")}


def check_cut(server, table, kept):
    """No answer to a user with a scope contains a name from outside of it."""
    foreign = foreign_words(server)
    expect(len(foreign) > 10, f"there is something to be hidden: {sorted(foreign)[:5]}")
    asked = 0
    for line in table:
        if line.scoped != "cut":
            continue
        for role in ROLES:
            answer = kept.get((line.operation, Who("session", role, True)))
            if answer is None or answer.kind != "application/json":
                continue
            asked += 1
            seen = foreign.intersection(texts_in(answer.json()))
            expect(not seen, f"{' '.join(line.operation)} tells {role} of {sorted(seen)[:5]}")
            whole = kept.get((line.operation, Who("session", role, False)))
            if whole and foreign.intersection(texts_in(whole.json())):
                expect(whole.body != answer.body, f"{' '.join(line.operation)} is not cut")
    expect(asked > 20, f"only {asked} answers were looked at")


def money(tables, column="effective_cost"):
    return sum((Decimal(row[column]) for table in tables for row in table["rows"]), Decimal(0))


def check_sums(server):
    """A user with the scope of a team sees what the team's row shows to others."""
    scoped = server.add_person("team_lead", SCOPE)
    query = {"by": "team", "month": asking.MONTH}
    [row] = [row for row in rows_of(server, query) if row["team"] == "nlp"]
    want = Decimal(row["effective_cost"])
    expect(want > 0, "the team costs something")
    for by in ("team", "user", "workload", "team,user", "kind", "node", "cluster", "component"):
        tables = scoped.get("/api/v1/costs", {"by": by, "month": asking.MONTH}).json()["tables"]
        expect(money(tables) == want, f"by {by} the scoped sum is {money(tables)}, want {want}")
        expect(Decimal(tables[0]["total"]["effective_cost"]) == want, f"by {by} the total is off")
    for step in ("day", "week", "month"):
        tables = scoped.get("/api/v1/costs", {"by": "user", "month": asking.MONTH,
                                              "step": step}).json()["tables"]
        expect(money(tables) == want, f"step {step}: {money(tables)}, want {want}")
    # Any further filter stays within the scope.
    for given in ({"filter": "team=vision"}, {"filter": "team!=nlp"}):
        answer = scoped.get("/api/v1/costs", {**query, **given})
        rows = [row for table in answer.json()["tables"] for row in table["rows"]]
        expect(not rows, f"{given} shows {rows[:2]}")
    for target in ("/api/v1/explain?by=team&key=vision&month=2026-03",
                   "/api/v1/explain?by=team&key=(unallocated)&month=2026-03"):
        answer = scoped.get(target)
        expect(answer.status in (403, 404), f"{target}: {answer}")
    spent = Decimal(0)
    cursor = None
    while True:
        page = {"month": asking.MONTH, "limit": "7", **({"cursor": cursor} if cursor else {})}
        answer = scoped.get("/api/v1/workloads", page).json()
        spent += sum((Decimal(one["effective_cost"]) for one in answer["data"]), Decimal(0))
        cursor = answer["next"]
        if cursor is None:
            break
    expect(spent == want, f"the scope's workloads cost {spent}, want {want}")
    # Answers with sums only, where no name would give others away.
    tables = scoped.get("/api/v1/coverage", {"month": asking.MONTH, "by": "team"}).json()["tables"]
    covered = Decimal(tables[1]["total"]["effective_cost"])
    expect(covered == want, f"coverage is of {covered}, want {want}")
    months = scoped.get("/api/v1/summary", {"month": asking.MONTH}).json()["months"]
    totals = [Decimal(one["total"]) for one in months if one["month"] == asking.MONTH]
    expect(totals == [want], f"the summary of the scope's month is {totals}, want {want}")


def check_invoices(server):
    everything = server.sign_in_admin().get("/api/v1/invoices").json()["data"]
    expect({one["customer"] for one in everything} > {"nlp"}, "there are others' invoices")
    client = server.add_person("viewer", SCOPE)
    own = client.get("/api/v1/invoices").json()["data"]
    expect([one["customer"] for one in own] == ["nlp"] * len(own) and own, f"the scope's invoices are {own}")
    for one in everything:
        for format_name in ("json", "html", "text", "csv"):
            answer = client.get(f"/api/v1/invoices/{one['number']}", {"format": format_name})
            want = 200 if one["customer"] == "nlp" else 404
            expect(answer.status == want, f"{one['number']}: {answer.status}, want {want}")
            # The charges of all others are only in the whole document.
            expect("econciliation" not in answer.body.decode(), f"{one['number']} tells of the whole bill")
    admin = server.sign_in_admin()
    for format_name in ("json", "html", "text"):
        page = admin.get(f"/api/v1/invoices/{own[0]['number']}", {"format": format_name})
        expect("econciliation" not in page.body.decode(), f"nobody gets the books unasked: {format_name}")
        books = {"format": format_name, "view": "books"}
        whole = admin.get(f"/api/v1/invoices/{own[0]['number']}", books)
        expect("econciliation" in whole.body.decode(), f"the books have it as {format_name}")
        for reader in (client, server.add_person("viewer", [])):
            answer = reader.get(f"/api/v1/invoices/{own[0]['number']}", books)
            expect(answer.status == 403, f"a viewer reads the books as {format_name}: {answer.status}")
    preview = admin.post("/api/v1/invoices/preview", {"month": asking.MONTH}).json()
    expect(preview["not_charged"] == [] and not any("reconciliation" in one for one in preview["drafts"]),
           "drafts are the clients', too")
    preview = admin.post("/api/v1/invoices/preview", {"month": asking.MONTH, "view": "books"}).json()
    expect(all("reconciliation" in one for one in preview["drafts"]) and preview["drafts"],
           "the books' drafts have their reconciliation")
    # With a scope by another dimension, or by two, no customer is visible.
    for scope in ([{"dimension": "user", "values": ["ana"]}],
                  SCOPE + [{"dimension": "user", "values": ["ana"]}]):
        other = server.add_person("viewer", scope)
        expect(other.get("/api/v1/invoices").json()["data"] == [], f"{scope} sees invoices")
        expect(other.get(f"/api/v1/invoices/{own[0]['number']}").status == 404,
               f"{scope} reads an invoice")


def check_payments(server):
    """A payment is noted and taken back, changes nothing of the invoice, and is seen by its customer."""
    finance, client = server.add_person("finance", []), server.add_person("client", SCOPE)
    [own] = client.get("/api/v1/invoices", {"month": "2026-02"}).json()["data"]
    path = f"/api/v1/invoices/{own['number']}/payment"
    expect(own["paid_on"] is None, f"no payment is known: {own}")
    for day in ("2199-01-01", "2026-02-30", "soon"):
        expect(finance.ask("PUT", path, {"paid_on": day}).status == 422, f"paid on {day}")
    expect(finance.ask("PUT", path, {"paid_on": "2026-04-02"}).json() == {"paid_on": "2026-04-02"}, "a payment is noted")
    [paid] = client.get("/api/v1/invoices", {"month": "2026-02"}).json()["data"]
    expect(paid == {**own, "paid_on": "2026-04-02"}, f"the invoice is the same, and paid: {paid}")
    expect(finance.ask("DELETE", path).status == 204, "a payment is taken back")
    expect(client.get("/api/v1/invoices", {"month": "2026-02"}).json()["data"] == [own], "and is not known any more")
    expect(finance.ask("PUT", "/api/v1/invoices/NW-2026-02-9999/payment", {"paid_on": "2026-04-02"}).status == 404, "no such invoice")
    dispatch = f"/api/v1/invoices/{own['number']}/dispatch"
    expect(own["sent_on"] is None, f"nobody has sent it: {own}")
    expect(finance.ask("PUT", dispatch, {"sent_on": "2199-01-01"}).status == 422, "sent in the future")
    expect(finance.ask("PUT", dispatch, {"sent_on": "2026-03-02"}).json() == {"sent_on": "2026-03-02"}, "it is sent")
    expect(finance.ask("PUT", path, {"paid_on": "2026-04-02"}).status == 200, "and paid")
    [sent] = client.get("/api/v1/invoices", {"month": "2026-02"}).json()["data"]
    expect(sent == {**own, "sent_on": "2026-03-02", "paid_on": "2026-04-02"}, f"neither day takes the other's place: {sent}")
    expect(finance.ask("DELETE", dispatch).status == 204 and finance.ask("DELETE", path).status == 204, "both are taken back")
    expect(client.get("/api/v1/invoices", {"month": "2026-02"}).json()["data"] == [own], "and not known any more")
    expect(finance.ask("PUT", "/api/v1/invoices/NW-2026-02-9999/dispatch", {}).status == 404, "no such invoice")
    told = [one["action"] for one in finance.get("/api/v1/audit", {"limit": "50"}).json()["data"]]
    expect("invoice.sent" in told and "invoice.unsent" in told, f"the audit log has {told[:10]}")
    expect(told.count("invoice.paid") >= 1 and "invoice.unpaid" in told, f"the audit log has {told[:10]}")


def check_clients(server):
    """Clients see what they are charged, and nothing of others, of costs or of prices."""
    admin, finance = server.sign_in_admin(), server.add_person("finance", [])
    client = server.add_person("client", SCOPE)
    months = [one["month"] for one in client.get("/api/v1/statements").json()["data"]]
    expect(months == sorted(months, reverse=True) and {asking.MONTH, "2026-02"} <= set(months), f"the client's months are {months}")
    invoices = client.get("/api/v1/invoices", {"month": "2026-02"}).json()["data"]
    for month in ("2026-02", asking.MONTH):
        [whole] = finance.get(f"/api/v1/statements/{month}").json()["tables"]
        [own] = client.get(f"/api/v1/statements/{month}").json()["tables"]
        rows = [row for row in whole["rows"] if row["team"] == "nlp"]
        expect(own["rows"] == rows and len(rows) < len(whole["rows"]), f"{month}: the client's rows are {own['rows']} of {whole['rows']}")
        charged = sum((Decimal(row["amount"]) for row in own["rows"]), Decimal(0))
        expect(charged == Decimal(own["total"]["amount"]) > 0, f"{month}: the rows are {charged}, the total {own['total']}")
        drafts = admin.post("/api/v1/invoices/preview", {"month": month}).json()
        documents = invoices if month == "2026-02" else [
            {"net": one["net_shown"]} for one in drafts["drafts"] if one["customer"] == "nlp"]
        expect(sum(Decimal(one["net"]) for one in documents) == charged, f"{month}: charged {charged}, documents {documents}")
        expect(all((row["invoice"] is None) == (month != "2026-02") for row in own["rows"]), f"{month}: {own['rows']}")
        expect("(not charged)" not in str(own) and "margin" not in str(own) and "cost" not in str(own["columns"]), f"{month} tells of costs: {own}")
    csv = client.get(f"/api/v1/statements/{asking.MONTH}", {"format": "csv"}).body.decode()
    expect("vision" not in csv and "nlp" in csv, f"the client's CSV is {csv}")
    # A share says nothing of the sum that all bear.
    number = invoices[0]["number"]
    for row in client.get(f"/api/v1/invoices/{number}", {"format": "json"}).json()["sections"]:
        expect(all((line["quantity"] or {}).get("kind") != "share" for line in row["lines"]), f"{number} has a share: {row}")
    # No month tells whether others were charged, and no other scope shows any customer.
    expect(client.get("/api/v1/statements/2019-01").json()["tables"] == [], "a month without costs is empty")
    expect(client.get("/api/v1/statements/never").status == 404, "never is no month")
    for scope in ([], [{"dimension": "user", "values": ["ana"]}], SCOPE + [{"dimension": "user", "values": ["ana"]}]):
        other = server.add_person("client", scope)
        expect(other.get("/api/v1/statements").json()["data"] == [], f"{scope} sees months")
        expect(other.get(f"/api/v1/statements/{asking.MONTH}").json()["tables"] == [], f"{scope} sees charges")
        expect(other.get("/api/v1/invoices").json()["data"] == [], f"{scope} sees invoices")
        expect(other.get(f"/api/v1/invoices/{number}").status == 404, f"{scope} reads an invoice")
    # What they are charged is the role's; a token of theirs shows no more.
    token = server.anonymous()
    made = client.post("/api/v1/tokens", {"name": "mine", "expires_at": instant(time.time() + 60)})
    token.token = made.json().get("secret", "")
    expect(token.get("/api/v1/costs", {"by": "team"}).status == 403, "a client's token reads costs")
    expect(token.get(f"/api/v1/statements/{asking.MONTH}").json() == client.get(f"/api/v1/statements/{asking.MONTH}").json(), "a client's token shows something else")


def check_tokens(server):
    """A token with a scope, of a user without one, is cut like a user with that scope."""
    admin = server.sign_in_admin()
    token = server.add_token(admin, scope=SCOPE)
    tables = token.get("/api/v1/costs", {"by": "team", "month": asking.MONTH}).json()["tables"]
    expect({row["team"] for table in tables for row in table["rows"]} == {"nlp"},
           "a token's own scope cuts")
    expect(token.get("/api/v1/periods").status == 403, "a token with a scope reads no periods")
    scoped = server.add_person("viewer", SCOPE)
    wide = scoped.post("/api/v1/tokens", {
        "name": "wider", "scope": [{"dimension": "team", "values": ["vision"]}],
        "expires_at": instant(time.time() + 60)})
    if wide.status == 201:
        bearer = server.anonymous()
        bearer.token = wide.json()["secret"]
        answer = bearer.get("/api/v1/costs", {"by": "team", "month": asking.MONTH})
        rows = [row for table in answer.json()["tables"] for row in table["rows"]]
        expect(not rows, "a token shows no more than its owner sees")
    more = scoped.post("/api/v1/tokens", {"name": "more", "only": ["manage_users"],
                                          "expires_at": instant(time.time() + 60)})
    if more.status == 201:
        bearer = server.anonymous()
        bearer.token = more.json()["secret"]
        expect(bearer.get("/api/v1/users").status == 403, "a token may no more than its owner")


def check_hours(server):
    """Jobs, hours and what telemetry saw are of the scope alone, and of nobody's capacity not at all."""
    admin = server.sign_in_admin()
    scoped = server.add_person("viewer", SCOPE)
    for path in ("/api/v1/activity", "/api/v1/usage"):
        query = {"by": "team", "month": asking.MONTH}
        [whole], [cut] = (who.get(path, query).json()["tables"] for who in (admin, scoped))
        rows = {row["team"]: row for row in whole["rows"]}
        expect(len(rows) > 1, f"{path} knows several teams: {rows}")
        expect(cut["rows"] == [rows["nlp"]], f"{path} in the scope of nlp: {cut}")
        expect({**cut["total"], "team": "nlp"} == rows["nlp"], f"{path}: the total is of others: {cut}")
        hidden = scoped.get(path, {**query, "filter": "team=vision"}).json()["tables"][0]
        expect(hidden["rows"] == [], f"{path} of another team: {hidden}")


def check_now(server):
    """Live data shows workloads in the scope, and neither price nor size of the rest."""
    admin = server.sign_in_admin()
    scoped = server.add_person("viewer", SCOPE)
    query = {"by": "team,user"}
    for path in ("/api/v1/live", "/api/v1/top"):
        whole, cut = admin.get(path, query).body.decode(), scoped.get(path, query).body.decode()
        for pod, (team, user) in running.PODS.items():
            expect(pod in whole, f"{path} shows {pod} to the admin")
            expect((pod in cut) == (team == "nlp"), f"{path}: {pod} of {team} and {user}: {cut}")
    for path in ("/api/v1/live/now", "/api/v1/fleet", "/api/v1/events"):
        more = {"read": 20} if path.endswith("events") else {}
        cut = scoped.get(path, **more).body.decode()
        expect("detect-0" not in cut and "vision" not in cut, f"{path} tells of others: {cut}")
    held = {one["cluster"]: one for one in admin.get("/api/v1/live/now").json()["clusters"]}
    own = {one["cluster"]: one for one in scoped.get("/api/v1/live/now").json()["clusters"]}
    expect(Decimal(own["now"]["held_per_hour"]) * 2 == Decimal(held["now"]["held_per_hour"]),
           f"one of two pods is in the scope: {own} of {held}")
    nodes = scoped.get("/api/v1/fleet").json()["nodes"]
    expect([one["node"] for one in nodes] == ["k1"], f"the scope's nodes are {nodes}")
    # With the scope of a team that runs nothing, nothing is shown.
    none = server.add_person("viewer", [{"dimension": "team", "values": ["search"]}])
    expect(none.get("/api/v1/fleet").json()["nodes"] == [], "no node is of a team that runs nothing")


def main():
    table = read_table()
    server = Server()
    document = server.document()
    described = {(method.upper(), path): operation
                 for path, item in document["paths"].items() for method, operation in item.items()}
    listed = {line.operation: line for line in table}
    for operation in described.keys() - listed.keys():
        expect(False, f"{' '.join(operation)} is a route and not in authorisation.txt")
    for operation in listed.keys() - described.keys():
        expect(False, f"{' '.join(operation)} is in authorisation.txt and no route")
    for operation in described.keys() & listed.keys():
        line = listed[operation]
        says = described[operation]
        expect((says["x-permission"], says["x-scoped"]) == (line.needs, line.scoped),
               f"{' '.join(operation)}: the document says {says['x-permission']} "
               f"{says['x-scoped']}, the table {line.needs} {line.scoped}")
    table = [line for line in table if line.operation in described]
    for line in table:
        assert line.operation in asking.ASKING, f"asking.py has no request for {line.operation}"

    now = running.Running(server)
    now.wait()
    people = everybody(server)
    answers, kept = answers_of(server, table, people)
    answers_about_oneself(server, table, answers)
    found = differences(table, answers)
    for one in found:
        expect(False, one)
    asked = sum(map(len, answers.values()))
    print(f"{len(table)} routes, {asked} requests, {len(found)} answered otherwise than the table")
    if not found:
        self_check(table, answers)
    check_cut(server, table, kept)
    check_sums(server)
    check_invoices(server)
    check_clients(server)
    check_payments(server)
    check_tokens(server)
    check_hours(server)
    check_now(server)
    now.end()
    expect(not now.refused, f"what runs was refused: {now.refused[:2]}")
    expect(server.is_alive(), "the server is still there")


if __name__ == "__main__":
    guarded(main, "authorisation")
