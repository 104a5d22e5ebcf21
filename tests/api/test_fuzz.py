#!/usr/bin/env python3
"""Random requests from a seed: no answer is a 5xx, none takes long, the server keeps running and counts
each of them. `test_fuzz.py … --seed 7 --requests 5000` for more."""
import argparse
import http.client
import random
import re
import string
import sys
import time
import urllib.parse

import asking
from serving import PASSWORD, SCOPE, Server, expect, guarded

SLOW_S = 20
WORDS = ["team", "nlp", "user", "2026-03", "2026-02", "lab", "cost", "day", "json", "csv", "1", "0",
         "-1", "100", "1000", "1001", "true", "null", "(unallocated)", "team=nlp", "team!=nlp", "a=b",
         "=", "", ",", "team,team", "EUR", "USD", "18446744073709551616", "../../etc/passwd", "%",
         "'; DROP TABLE postings; --", "\"", "\\", "\0", "é", "\u202e", "x" * 5000, "2026-03-01",
         "2026-02-30", "2026-03-01T00:00:00Z", "0000-00", "9999-12", "workload", "charge", "{name}"]


class Maker:
    def __init__(self, chance, document):
        self.chance = chance
        self.operations = [(method.upper(), path, operation)
                           for path, item in document["paths"].items()
                           for method, operation in item.items()
                           if path != "/api/v1/events"]
        self.components = document["components"]

    def text(self):
        kind = self.chance.random()
        if kind < 0.8:
            return self.chance.choice(WORDS)
        alphabet = string.printable if kind < 0.95 else "äß漢\U0001f600\x7f\x01"
        return "".join(self.chance.choice(alphabet) for _ in range(self.chance.randrange(30)))

    def value(self, depth=0):
        """Any JSON."""
        kind = self.chance.randrange(8 if depth < 3 else 5)
        if kind == 0:
            return None
        if kind == 1:
            return self.chance.choice([0, 1, -1, 2 ** 64, 1e300, 0.1])
        if kind == 2:
            return self.chance.random() < 0.5
        if kind < 5:
            return self.text()
        if kind < 6:
            return [self.value(depth + 1) for _ in range(self.chance.randrange(4))]
        return {self.text(): self.value(depth + 1) for _ in range(self.chance.randrange(4))}

    def resolve(self, value):
        while "$ref" in value:
            _, _, kind, name = value["$ref"].split("/")
            value = self.components[kind][name]
        return value

    def request(self):
        """(method, target, headers, body)."""
        method, path, operation = self.chance.choice(self.operations)
        path = re.sub(r"\{[^}]*\}", lambda _: urllib.parse.quote(self.text()[:200], safe=""), path)
        query = []
        for given in operation.get("parameters", []):
            parameter = self.resolve(given)
            if parameter["in"] != "query" or self.chance.random() < 0.5:
                continue
            right = parameter.get("example", self.resolve(parameter["schema"]).get("enum"))
            if isinstance(right, list):
                right = self.chance.choice(right)
            known = right is not None and self.chance.random() < 0.6
            query.append((parameter["name"], str(right) if known else self.text()))
        while self.chance.random() < 0.1:
            query.append((self.text(), self.text()))
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        if self.chance.random() < 0.05:
            target = "/" + urllib.parse.quote(self.text()[:300])
        if self.chance.random() < 0.05:
            method = self.chance.choice(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        headers, body = {}, None
        if method not in ("GET", "HEAD", "OPTIONS"):
            body, headers = self.body(operation)
        while self.chance.random() < 0.2:
            name = self.chance.choice(["Accept", "If-None-Match", "Range", "Accept-Encoding", "Cookie",
                                       "Authorization", "X-CSRF-Token", "Content-Encoding", "Origin",
                                       "X-Forwarded-For", "Expect-Nothing"])
            text = re.sub(r"[^\x20-\x7e]", "", self.text())[:300]
            headers[name] = text
        return method, target, headers, body

    def body(self, operation):
        import json
        described = operation.get("requestBody", {}).get("content", {}).get("application/json")
        kind = self.chance.random()
        if described and kind < 0.7:
            schema = self.resolve(described["schema"])
            fields = {name: self.value(1) if self.chance.random() < 0.5 else self.text()
                      for name in schema.get("properties", {}) if self.chance.random() < 0.8}
            return json.dumps(fields).encode(), {"Content-Type": "application/json"}
        if kind < 0.9:
            return json.dumps(self.value()).encode(), {"Content-Type": "application/json"}
        size = self.chance.randrange(2000)
        return self.chance.randbytes(size), {
            "Content-Type": self.chance.choice(["application/json", "text/plain", "application/"
                                                "x-protobuf", "", "multipart/form-data"])}


# Operations that would revoke the asker's access, or destroy the fixture.
def spares(method, target, name):
    path = urllib.parse.unquote(target.split("?")[0])
    return not (path == "/api/v1/session" and method in ("DELETE", "POST") or
                path.startswith("/api/v1/session/") and method in ("PUT", "POST", "DELETE") or
                path.startswith(f"/api/v1/users/{name}"))


def counted(admin):
    """The number of answers by status, from /metrics."""
    sums = {}
    for status, value in re.findall(
            r'^pennyweight_http_requests_total\{.*status="(\d+)".*\} (\d+)$',
            admin.get("/metrics").body.decode(), re.M):
        sums[int(status)] = sums.get(int(status), 0) + int(value)
    return sums


def fuzz(server, seed, count):
    chance = random.Random(seed)
    maker = Maker(chance, server.document())
    admin = server.sign_in_admin()
    askers = [admin, server.add_token(admin), server.add_person("viewer", SCOPE),
              server.add_person("finance"), server.add_person("operator"), server.anonymous()]
    statuses = {}
    before = counted(admin)
    sent = 0
    for number in range(count):
        asker = chance.choice(askers)
        method, target, headers, body = maker.request()
        if not spares(method, target, asker.name or "nobody"):
            continue
        begun = time.monotonic()
        words = f"seed {seed}, request {number}: {method} {target[:300]} {headers} {body!r:.300}"
        try:
            answer = asker.ask(method, target, body, headers, keep_cookies=False)
        except (http.client.HTTPException, OSError) as error:
            expect(False, f"{words}: {type(error).__name__} {error}")
            if not server.is_alive():
                return
            continue
        sent += 1
        took = time.monotonic() - begun
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        # Not a fault: there may be no live data yet, and a telemetry body may be too large now.
        is_later = answer.status == 503 and "retry-after" in answer.headers
        expect(answer.status < 500 or is_later, f"{words}: {answer}")
        expect(took < SLOW_S, f"{words}: took {took:.1f} s")
        if answer.status >= 400 and method != "HEAD":
            expect(answer.kind == "application/problem+json" or target.startswith("/readyz"),
                   f"{words}: {answer.status} is {answer.kind}")
    after = counted(admin)
    # Answers of routes only; others may be refused before a route is found. Reading the counts is
    # counted as well.
    for status in (200, 204, 409, 422):
        want = statuses.get(status, 0) + (status == 200)
        got = after.get(status, 0) - before.get(status, 0)
        expect(got == want, f"{want} were answered {status}, and {got} are counted")
    print(f"seed {seed}: {sent} requests: {dict(sorted(statuses.items()))}")


def is_as_it_was(server, costs):
    """Costs and users are unchanged."""
    admin = server.anonymous()
    admin.sign_in("admin", PASSWORD)
    again = admin.get(*COSTS)
    expect(again.body == costs, "the costs are what they were")
    verdict = admin.get("/api/v1/audit/verify").json()
    expect(verdict["whole"] is True, f"the audit log is whole: {verdict}")


COSTS = ("/api/v1/costs", {"by": "team,user", "month": asking.MONTH, "format": "csv"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=1500)
    options = parser.parse_args(sys.argv[4:])
    server = Server()
    costs = server.sign_in_admin().get(*COSTS).body
    fuzz(server, options.seed, options.requests)
    if expect(server.is_alive(), "the server is still there"):
        is_as_it_was(server, costs)


if __name__ == "__main__":
    guarded(main, "fuzz")
