"""Budgets that people set: a lead sets and changes the budget of their team and nobody else's, viewers set none, each
change is a version and in the audit log, and budgets of the configuration stay what they are."""
from serving import Server, expect, guarded


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


guarded(main, "budgets")
