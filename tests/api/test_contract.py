#!/usr/bin/env python3
"""Every operation against the OpenAPI document: answers match their schemas, undocumented parameters are
refused, pages show every entry once, and conditional requests work."""
import copy
import itertools
import re

import jsonschema

import asking
import unusual_days
from serving import Server, expect, guarded, with_query

METASCHEMA = "https://json-schema.org/draft/2020-12/schema"
BAD_CURSORS = ("x", "", "AAAA", "../../etc", "eyJ9", "%00")


class Document:
    """openapi.json, with its schemas ready for validation."""

    def __init__(self, document):
        self.document = document
        self.validators = {}

    def operations(self):
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                yield (method.upper(), path), operation

    def resolve(self, value):
        while "$ref" in value:
            at = self.document
            for step in value["$ref"][2:].split("/"):
                at = at[step.replace("~1", "/").replace("~0", "~")]
            value = at
        return value

    def parameters(self, operation):
        return [self.resolve(one) for one in operation.get("parameters", [])]

    def problems_of(self, value, schema):
        """The violations of a schema by a value."""
        key = id(schema)
        if key not in self.validators:
            whole = {"$schema": METASCHEMA, "components": self.document["components"],
                     **copy.deepcopy(schema)}
            jsonschema.Draft202012Validator.check_schema(whole)
            self.validators[key] = jsonschema.Draft202012Validator(whole)
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
                for error in itertools.islice(self.validators[key].iter_errors(value), 5)]

    def response(self, operation, status):
        responses = operation["responses"]
        return self.resolve(responses.get(str(status)) or responses["default"])


def check_answer(document, name, operation, answer):
    """Status and body are documented."""
    described = str(answer.status) in operation["responses"]
    expect(described or answer.status >= 400, f"{name}: {answer.status} is not described")
    response = document.response(operation, answer.status)
    content = response.get("content")
    if answer.status in (204, 304) or content is None:
        expect(answer.body == b"", f"{name}: {answer.status} has a body")
        return
    if not expect(answer.kind in content, f"{name}: {answer.kind} is not among {list(content)}"):
        return
    if answer.kind.endswith("json"):
        for problem in document.problems_of(answer.json(), content[answer.kind]["schema"]):
            expect(False, f"{name}: {answer.status} {problem}")


def check_right_requests(server, document):
    admin = server.sign_in_admin()
    for identity, operation in document.operations():
        name = " ".join(identity)
        if identity not in asking.ASKING:
            expect(False, f"asking.py has no request for {name}")
            continue
        asker = admin
        if identity in asking.OWN:
            asker = server.add_person("viewer")
        answer = asking.ask(server, asker, identity)
        check_answer(document, name, operation, answer)
        # The test's ledger is of too few days to have unusual ones, and its links are made up.
        is_missing = answer.status == 404 and (
            "openid" in identity[1] or identity[1].endswith(("/anomalies/verdicts", "/approve/{link}")))
        expect(answer.status < 400 or is_missing, f"{name}: {answer}")
        for header, want in (("x-content-type-options", "nosniff"),):
            expect(answer.headers.get(header) == want, f"{name}: {header} is not {want}")


def check_formats(server, document):
    """Each format of an operation has the content type of its answer."""
    for identity, operation in document.operations():
        if identity[0] != "GET" or identity not in asking.ASKING:
            continue
        for parameter in document.parameters(operation):
            if parameter["name"] != "format" or "enum" not in document.resolve(parameter["schema"]):
                continue
            target, _ = asking.ASKING[identity](server, server.sign_in_admin())
            for choice in document.resolve(parameter["schema"])["enum"]:
                given = target + ("&" if "?" in target else "?") + f"format={choice}"
                answer = server.sign_in_admin().get(given)
                expect(answer.status == 200, f"{given}: {answer}")
                check_answer(document, given, operation, answer)
                # There are no restatements in this ledger, so they have no rows either.
                expect(answer.body or "restatements" in given, f"{given}: nothing")


def wrong_values(schema):
    """Texts that a schema does not allow."""
    kind = schema.get("type")
    if "enum" in schema:
        return ["nonsense", schema["enum"][0].upper()]
    if kind == "integer":
        wrong = ["x", "1.5", "-1", "1e3", " 1", "99999999999999999999"]
        if "maximum" in schema:
            wrong.append(str(schema["maximum"] + 1))
        if schema.get("minimum", 0) > 0:
            wrong.append(str(schema["minimum"] - 1))
        return wrong
    if kind == "boolean":
        return ["yes", "1", "TRUE", "maybe"]
    if kind == "string" and "pattern" in schema:
        return [text for text in ("x", "2026-13", "2026-3", "2026-02-30T", "2026-03-01x", "é")
                if not re.search(schema["pattern"], text)]
    return []


def check_wrong_requests(server, document):
    """Undocumented parameters are refused, and named in the message."""
    admin = server.sign_in_admin()
    tried = 0
    for identity, operation in document.operations():
        method, path = identity
        if method != "GET" or not path.startswith("/api/v1/") or identity not in asking.ASKING:
            continue
        if "openid" in path:  # what comes with a callback is the provider's
            continue
        target, _ = asking.ASKING[identity](server, admin)
        plus = target + ("&" if "?" in target else "?")
        queries = [("nonsense", "1", True)]
        for parameter in document.parameters(operation):
            schema = document.resolve(parameter["schema"])
            if parameter["in"] == "query":
                queries += [(parameter["name"], wrong, False) for wrong in wrong_values(schema)]
                if parameter["name"] == "cursor":
                    queries += [("cursor", wrong, False) for wrong in BAD_CURSORS]
        for name, value, _ in queries:
            bare = re.sub(rf"([?&]){name}=[^&]*&?", r"\1", plus)
            given = with_query("", {name: value})[1:]
            answer = admin.get(bare + given)
            tried += 1
            if path.endswith(("/openapi.json",)) and name == "nonsense":
                continue
            if expect(answer.status == 422, f"{method} {bare}{given}: {answer.status}, want 422"):
                check_answer(document, f"{bare}{given}", operation, answer)
                expect(name in answer.json()["detail"], f"{bare}{given}: {answer} does not name it")
    print(f"{tried} wrong parameters")


def check_wrong_bodies(server, document):
    admin = server.sign_in_admin()
    for identity, operation in document.operations():
        method, path = identity
        body = operation.get("requestBody")
        if not body or "application/json" not in document.resolve(body)["content"]:
            continue
        asker = server.add_person("viewer") if identity in asking.OWN else admin
        target, right = asking.ASKING[identity](server, asker)
        for sent, kind, wanted in (
                (b"{", "application/json", (400, 422)),
                (b"[]", "application/json", (400, 422)),
                (b"{\"nonsense\": 1}", "application/json", (422,)),
                (b"\xff\xfe", "application/json", (400, 422)),
                (b"{\"a\":" * 2000, "application/json", (400, 413, 422)),
                (b"x" * 100_000, "application/json", (400, 413, 422)),
                (b"month=2026-03", "application/x-www-form-urlencoded", (415, 422))):
            answer = asker.ask(method, target, sent, {"Content-Type": kind})
            expect(answer.status in wanted,
                   f"{method} {target} with {sent[:20]}: {answer.status}, want {wanted}")
            expect(answer.kind == "application/problem+json", f"{method} {target}: {answer.kind}")
        for key in right or {}:
            answer = asker.ask(method, target, {**right, key: {"of": ["another", "kind"]}})
            expect(answer.status == 422, f"{method} {target}: {key} of another kind: {answer}")


def check_pages(server, document):
    """All pages of a list together are the whole list, each entry once."""
    admin = server.sign_in_admin()
    walked = 0
    for identity, operation in document.operations():
        names = {one["name"] for one in document.parameters(operation)}
        if identity[0] != "GET" or not {"limit", "cursor"} <= names:
            continue
        target, _ = asking.ASKING[identity](server, admin)
        plus = target + ("&" if "?" in target else "?")
        whole = admin.get(plus + "limit=1000").json()
        key = next(name for name, value in whole.items() if isinstance(value, list))
        if whole["next"] is not None or len(whole[key]) > 400:
            whole = None
        for limit in (1, 7):
            if limit == 1 and (whole is None or len(whole[key]) > 60):
                continue
            seen, cursor = [], None
            for _ in range(2000):
                page = admin.get(plus + with_query("", {
                    "limit": str(limit), **({"cursor": cursor} if cursor else {})})[1:])
                if not expect(page.status == 200, f"{target}: {page}"):
                    break
                part = page.json()
                expect(len(part[key]) <= limit, f"{target}: more than {limit} on a page")
                seen += part[key]
                cursor = part["next"]
                if cursor is None:
                    break
            else:
                expect(False, f"{target}: the pages do not end")
            texts = [repr(one) for one in seen]
            if "rejected" not in target:
                expect(len(set(texts)) == len(texts), f"{target}: an entry is there twice")
            if whole is not None:
                expect(seen == whole[key], f"{target}: {len(seen)} entries page by page, "
                                           f"{len(whole[key])} at once")
            walked += 1
        # A cursor of one list is not valid for another.
        if cursor is None and whole and len(whole[key]) > 1:
            first = admin.get(plus + "limit=1").json()["next"]
            other = "/api/v1/runs" if "runs" not in target else "/api/v1/periods"
            expect(admin.get(other, {"cursor": first}).status == 422,
                   f"a cursor of {target} is taken by {other}")
    expect(walked > 5, f"{walked} lists were walked")


def check_versions(server, document):
    """A current version gets a 304, and never one for another user's answer."""
    admin = server.sign_in_admin()
    other = server.add_person("finance", [{"dimension": "team", "values": ["nlp"]}])
    versions = 0
    for identity, operation in document.operations():
        if identity[0] != "GET" or "304" not in operation["responses"]:
            continue
        target, _ = asking.ASKING[identity](server, admin)
        first = admin.get(target)
        etag = first.headers.get("etag")
        if not expect(etag, f"{target}: no ETag"):
            continue
        versions += 1
        again = admin.get(target, headers={"If-None-Match": etag})
        expect((again.status, again.body) == (304, b""), f"{target}: {again.status}, want 304")
        expect(again.headers.get("etag") == etag, f"{target}: 304 with another ETag")
        stale = admin.get(target, headers={"If-None-Match": '"another"'})
        expect(stale.status == 200, f"{target}: {stale.status} with another's ETag")
        if operation["x-scoped"] == "cut":
            cut = other.get(target, headers={"If-None-Match": etag})
            mine = other.get(target)
            expect(cut.status != 304 or mine.body == first.body,
                   f"{target}: the version of the whole is taken for that of the cut")
        control = first.headers.get("cache-control", "")
        expect(identity[1].endswith("openapi.json") or "private" in control or "no-store" in control,
               f"{target}: Cache-Control is '{control}'")
    expect(versions > 8, f"{versions} answers have a version")


def check_methods(server, document):
    """Methods that a path does not have."""
    admin = server.sign_in_admin()
    by_path = {}
    for (method, path), _ in document.operations():
        by_path.setdefault(path, set()).add(method)
    for path, methods in by_path.items():
        target = re.sub(r"\{[^}]*\}", "x", path)
        for method in ("PUT", "PATCH", "DELETE", "POST"):
            if method in methods:
                continue
            clash = any(method in more and other != path and
                        re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", other), target)
                        for other, more in by_path.items())
            if clash:
                continue
            answer = admin.ask(method, target, {})
            expect(answer.status == 405, f"{method} {target}: {answer.status}, want 405")
            allowed = set(answer.headers.get("allow", "").replace(" ", "").split(","))
            expect(methods <= allowed, f"{method} {target}: Allow is {allowed}, of {methods}")
    for nothing in ("/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v2/costs", "/api/v1/costs/x"):
        answer = admin.get(nothing)
        expect(answer.status == 404, f"{nothing}: {answer.status}, want 404")
        expect(answer.kind == "application/problem+json", f"{nothing}: {answer.kind}")


def check_verdict(document):
    """Of a ledger that has unusual days, what somebody says of them is answered as documented."""
    server = unusual_days.server()
    admin = server.sign_in_admin()
    rows = admin.get("/api/v1/anomalies?by=team").json()["tables"][0]["rows"]
    found = [row for row in rows if not row["team"].startswith("(")]
    if not expect(found, f"no unusual days of a team: {rows}"):
        return
    said = {"by": "team", "key": found[0]["team"], "first": found[0]["first"], "expected": True, "reason": "a test"}
    answer = admin.ask("POST", "/api/v1/anomalies/verdicts", said)
    expect(answer.status == 201, f"a verdict: {answer}")
    check_answer(document, "POST /api/v1/anomalies/verdicts", document.document["paths"]["/api/v1/anomalies/verdicts"]["post"],
                 answer)
    expect({key: answer.json()[key] for key in said} == said, f"another verdict: {answer.json()}")
    server.stop()


def main():
    server = Server()
    document = Document(server.document())
    check_right_requests(server, document)
    check_formats(server, document)
    check_wrong_requests(server, document)
    check_wrong_bodies(server, document)
    check_pages(server, document)
    check_versions(server, document)
    check_methods(server, document)
    expect(server.is_alive(), "the server is still there")
    check_verdict(document)


if __name__ == "__main__":
    guarded(main, "contract")
