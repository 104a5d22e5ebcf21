"""Budgets that people set: a lead sets and changes the budget of their team and nobody else's, viewers set none, each
change is a version and in the audit log, and budgets of the configuration stay what they are. What people know of days
to come is told to nobody else, and costs in two currencies are budgeted and forecast in one."""
import decimal
import json
import tempfile

import serving
import two_currencies
from serving import CONFIG, Server, expect, guarded


def names(asker):
    return [one["budget"]["name"] for one in asker.get("/api/v1/budget-definitions").json()["data"]]


def shown(asker, name):
    return [row for table in asker.get("/api/v1/budgets", {"forecast": "false"}).json()["tables"]
            for row in table["rows"] if row["budget"] == name]


def main():
    with_scope = [{"dimension": "team", "values": ["nlp"]}]
    server = Server()
    try:
        admin = server.sign_in_admin()
        lead = server.add_person("team_lead", with_scope)
        viewer = server.add_person("viewer", with_scope)
        other = server.add_person("team_lead", [{"dimension": "team", "values": ["cv"]}])
        mine = {"filter": ["team=nlp"], "amount": "4000 USD", "owner": "ana"}
        answer = lead.put("/api/v1/budgets/mine", mine)
        expect(answer.status == 200 and answer.json()["budget"]["name"] == "mine", f"a lead sets one: {answer}")
        expect(not answer.json()["is_configured"], "it is not configured")
        rows = shown(lead, "mine")
        expect(len(rows) == 1 and rows[0]["amount"].startswith("4000"), f"it is measured at once: {rows}")
        expect(shown(admin, "mine") and shown(viewer, "mine") and not shown(other, "mine"), "who sees it")
        expect("mine" in names(admin) and "mine" not in names(other), "whose definition it is")
        # The budgets of all that each of them sees.
        whole = {who: {row["budget"] for table in asker.get("/api/v1/budgets", {"forecast": "false", "whole": "true"}).json()["tables"]
                       for row in table["rows"]} for who, asker in (("admin", admin), ("lead", lead), ("other", other))}
        expect(whole == {"admin": {"everything"}, "lead": {"nlp", "nlp-hours", "mine"}, "other": set()}, f"{whole}")
        # What a lead may not do.
        for body in ({**mine, "filter": []}, {**mine, "filter": ["team=cv"]}, {**mine, "filter": ["team=nlp,cv"]},
                     {**mine, "filter": ["team!=cv"]}, {**mine, "filter": ["cluster=lab"]}):
            answer = lead.put("/api/v1/budgets/wide", body)
            expect(answer.status == 403, f"{body}: {answer}")
        expect(viewer.put("/api/v1/budgets/v", mine).status == 403, "a viewer sets none")
        expect(viewer.delete("/api/v1/budgets/mine").status == 403, "a viewer removes none")
        expect(other.put("/api/v1/budgets/mine", {**mine, "filter": ["team=cv"]}).status == 403,
               "a name in another scope is not taken over")
        expect(other.delete("/api/v1/budgets/mine").status == 404, "another lead does not see it")
        expect(other.get("/api/v1/budgets/mine/versions").status == 404, "nor its versions")
        for asker in (lead, admin):
            expect(asker.put("/api/v1/budgets/nlp", mine).status == 409, "what is configured stays so")
        for body, why in (({**mine, "amount": "4000"}, "has no currency"), ({**mine, "amout": "1 USD"}, "amout"),
                          ({**mine, "name": "else"}, "names another"), ({**mine, "amount": 5}, "this is a text"),
                          ({**mine, "filter": ["tame=nlp"]}, "tame"), ({**mine, "amount": "-1 USD"}, "0 or more")):
            answer = admin.put("/api/v1/budgets/wrong", body)
            expect(answer.status == 422 and why in str(answer.body), f"{body}: {answer}")
        # Versions, removal, and the log.
        expect(lead.put("/api/v1/budgets/mine", {**mine, "amount": "5000 USD"}).status == 200, "it is changed")
        versions = lead.get("/api/v1/budgets/mine/versions").json()["data"]
        expect([one["budget"]["amount"] for one in versions] == ["4000 USD", "5000 USD"], f"{versions}")
        expect(lead.delete("/api/v1/budgets/mine").status == 204, "it is removed")
        expect(lead.delete("/api/v1/budgets/mine").status == 404 and not shown(lead, "mine"), "it is gone")
        versions = lead.get("/api/v1/budgets/mine/versions").json()["data"]
        expect(len(versions) == 3 and versions[-1]["budget"] is None, f"{versions}")
        odd = admin.put("/api/v1/budgets/a%20%C3%BC%2Fb", mine)
        expect(odd.status in (200, 404), f"a name with odd letters: {odd}")
        log = [entry["action"] for entry in admin.get("/api/v1/audit").json()["data"]]
        expect(log.count("budget.set") >= 2 and "budget.remove" in log, f"{log}")
    finally:
        server.stop()


RATE = decimal.Decimal("1.25")  # exact both ways
EVENT = {"from": "2026-03-26", "to": "2026-04-20", "by": "team", "key": "cv", "per_day": "250 USD"}


def forecast(asker, **more):
    table = asker.get("/api/v1/forecast", {"by": "team", "today": "2026-03-25", "days": "14", **more}).json()["tables"][0]
    return {row["team"]: row for row in table["rows"]}, table.get("notes", [])


def events():
    """What a scoped user is not told of, and that it is the same in every currency."""
    months = [f"{year}-{month:02}-28" for year, month in ((2025, 9), (2025, 10), (2025, 11), (2025, 12), (2026, 1), (2026, 2), (2026, 3))]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as rates:
        rates.write("date,from,to,rate,source\n" + "".join(f"{day},EUR,USD,{RATE},fixed\n" for day in months))
        rates.flush()
        told(Server(CONFIG + f"currencies: {{rates: {rates.name}, report: USD}}\n"))


def told(server):
    try:
        admin = server.sign_in_admin()
        viewer = server.add_person("viewer", [{"dimension": "team", "values": ["nlp"]}])
        before, _ = forecast(admin)
        for name, event in (("moves-of-cv", EVENT), ("everybody-rests", {"from": "2026-03-27", "to": "2026-03-28", "percent": 50}),
                            ("hours-of-cv", {**EVENT, "per_day": "9 gpu_hours"})):
            answer = admin.put(f"/api/v1/known-events/{name}", event)
            expect(answer.status == 200, f"{name}: {answer}")
        expect("moves-of-cv" in str(admin.get("/api/v1/known-events").body), "whoever sees all sees it")
        for path in ("/api/v1/known-events", "/api/v1/budgets", "/api/v1/budgets?today=2026-03-25", "/api/v1/forecast?days=14&today=2026-03-25",
                     "/api/v1/forecast?by=team&days=14&today=2026-03-25&explain=true"):
            said = str(viewer.get(path).body)
            expect("of-cv" not in said, f"{path}: a viewer of nlp is told of cv: {said}")
        expect("everybody-rests" in str(viewer.get("/api/v1/known-events").body), "what is about everything is")
        # 13 days of 250 USD, two of which everybody takes half of.
        dollars, _ = forecast(admin)
        expect(decimal.Decimal(dollars["cv"]["forecast"]) - decimal.Decimal(before.get("cv", {"forecast": "0"})["forecast"]) > 2500, f"it counts: {dollars['cv']}")
        euros, notes = forecast(admin, currency="EUR")
        expect(any(str(RATE) in note or "0.8" in note for note in notes), f"the rate is said: {notes}")
        expect(dollars.keys() == euros.keys(), f"{dollars.keys()} {euros.keys()}")
        for team, row in dollars.items():
            for column in ("forecast", "low_80", "high_80", "low_95", "high_95"):
                ours, theirs = row[column], euros[team][column]
                expect((ours is None) == (theirs is None), f"{team} {column}: {ours} USD, {theirs} EUR")
                if ours is None:
                    continue
                # Days are rounded to hundredths, in each currency for itself.
                off = abs(decimal.Decimal(ours) / RATE - decimal.Decimal(theirs))
                expect(off <= decimal.Decimal("0.15"), f"{team} {column}: {ours} USD, {theirs} EUR")
    finally:
        server.stop()


def currencies():
    """A bill in two currencies: what is converted, and what is refused with a reason."""
    server = two_currencies.server()
    try:
        admin = server.sign_in_admin()
        answer = admin.put("/api/v1/budgets/in-euros", {"filter": ["team=nlp"], "amount": "4000 EUR"})
        expect(answer.status == 200, f"{answer}")
        tables = admin.get("/api/v1/budgets", {"today": "2026-03-31", "forecast": "false"}).json()["tables"]
        rows = {row["budget"]: row for table in tables for row in table["rows"]}
        notes = [note for table in tables for note in table.get("notes", ())]
        for name, filters, currency in (("everything", [], "USD"), ("nlp", ["team=nlp"], "USD"), ("in-euros", ["team=nlp"], "EUR")):
            costs = admin.get("/api/v1/costs", {"from": "2026-03-01", "to": "2026-03-31", "currency": currency,
                                                **({"filter": filters[0]} if filters else {})}).json()["tables"][0]
            due = costs["total"]["effective_cost"] if costs.get("total") else costs["rows"][0]["effective_cost"]
            # Each day is converted and rounded for itself, at the 18th digit.
            off = abs(decimal.Decimal(rows[name]["actual"]) - decimal.Decimal(due))
            expect(off < decimal.Decimal("1e-16"), f"{name}: {rows[name]['actual']} {currency}, and costs say {due}")
            expect(any(note.startswith(f"{name}: costs in other currencies") and "2026-03-31" in note for note in notes), f"{name}: {notes}")
        run = lambda *arguments, code=0: serving.run(list(arguments), server.folder, code)
        shown = json.loads(run("budget", "--today", "2026-03-31", "--format", "json"))
        actual = {row["budget"]: row["actual"] for table in shown for row in table["rows"]}
        for name, row in rows.items():
            expect(actual[name] == row["actual"], f"{name}: {actual[name]} by the command line, {row['actual']} by the API")
        for verb in ("forecast", "anomalies"):
            said = run(verb, "--today", "2026-04-01", "--format", "json")
            expect("EUR = " in said and "ecb" in said, f"{verb} says its rates: {said[-1500:]}")
            run(verb, "--today", "2026-04-01", "--currency", "original", code=2)
        run("forecast", "--today", "2026-04-01", "--currency", "original", "--cost", "gpu_hours")
        # Without a rate, nothing is measured, and the budget says why.
        (server.folder / "rates.csv").write_text("date,from,to,rate,source\n2025-01-31,EUR,USD,1.06,ecb\n")
        tables = admin.get("/api/v1/budgets", {"today": "2026-03-31", "forecast": "false"}).json()["tables"]
        states = {row["budget"]: (row["state"], row["actual"]) for table in tables for row in table["rows"]}
        expect(states["everything"] == ("unknown", None), f"{states}")
        expect(any("everything: " in note and "EUR" in note for table in tables for note in table.get("notes", ())), f"{tables}")
        run("budget", "--today", "2026-03-31", "--check", code=1)
    finally:
        server.stop()


def all_of_them():
    main()
    events()
    currencies()


guarded(all_of_them, "budgets")
