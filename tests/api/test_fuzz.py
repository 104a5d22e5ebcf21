#!/usr/bin/env python3
"""Random requests from a seed, made from the OpenAPI document: some as it says, some with a mistake in
them, some made of anything; with the ids and names that earlier answers told. No answer is a 5xx, none
takes long, the server keeps running and counts each of them.

`test_fuzz.py … --seed 7 --requests 50000 --workers 4` for more. With several workers each has a seed of
its own, and requests meet in the server.
"""
import argparse
import http.client
import json
import random
import re
import string
import sys
import threading
import time
import urllib.parse

import asking
from serving import CONFIG, PASSWORD, SCOPE, Server, expect, guarded

SLOW_S = 20
TOLD_MAX = 40  # values of a name that are remembered
# Requests come faster than people make them.
LIMITS = ("limits: {asker_per_second: 100000, asker_burst: 100000, address_per_second: 100000, "
          "address_burst: 100000}, flush_every: 2s")
WORDS = ["team", "nlp", "user", "2026-03", "2026-02", "lab", "cost", "day", "json", "csv", "1", "0",
         "-1", "100", "1000", "1001", "true", "null", "(unallocated)", "team=nlp", "team!=nlp", "a=b",
         "=", "", ",", "team,team", "EUR", "USD", "18446744073709551616", "../../etc/passwd", "%",
         "'; DROP TABLE postings; --", "\"", "\\", "\0", "é", "\u202e", "x" * 5000, "2026-03-01",
         "2026-02-30", "2026-03-01T00:00:00Z", "0000-00", "9999-12", "workload", "charge", "{name}"]


class Told:
    """What answers have told: texts and numbers by the name of their field."""

    def __init__(self):
        self.values = {}
        self.lock = threading.Lock()

    def learn(self, value, name=""):
        if isinstance(value, dict):
            for key, inside in list(value.items())[:50]:
                self.learn(inside, key)
        elif isinstance(value, list):
            for inside in value[:20]:
                self.learn(inside, name)
        elif isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) < 200:
            with self.lock:
                known = self.values.setdefault(name, [])
                if value not in known:
                    known.append(value)
                    del known[:-TOLD_MAX]

    def of(self, name, chance):
        with self.lock:
            return chance.choice(self.values.get(name) or [None])


class Maker:
    def __init__(self, chance, document, told):
        self.chance = chance
        self.told = told
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

    def named(self, name):
        """A value for a field or a part of a path of this name: what an answer told, or anything."""
        told = self.told.of(name, self.chance) if self.chance.random() < 0.7 else None
        return told if told is not None else self.text()

    def shaped(self, schema, name="", depth=0):
        """A value as the schema says, but for a mistake now and then."""
        schema = self.resolve(schema)
        chance = self.chance
        if chance.random() < 0.04 or depth > 6:
            return self.value(depth)
        for among in ("oneOf", "anyOf"):
            if among in schema:
                return self.shaped(chance.choice(schema[among]), name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if "allOf" in schema:
            parts = [self.shaped(part, name, depth + 1) for part in schema["allOf"]]
            return {key: value for part in parts if isinstance(part, dict)
                    for key, value in part.items()}
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kind = chance.choice(kind) if isinstance(kind, list) else kind
        if kind == "object":
            needed = schema.get("required", [])
            return {key: self.shaped(inside, key, depth + 1)
                    for key, inside in schema.get("properties", {}).items()
                    if chance.random() < (0.97 if key in needed else 0.5)}
        if kind == "array":
            return [self.shaped(schema.get("items", {}), name, depth + 1)
                    for _ in range(chance.randrange(4))]
        if kind == "boolean":
            return chance.random() < 0.5
        if kind in ("integer", "number"):
            least = schema.get("minimum", 0)
            return chance.choice([least, least - 1, schema.get("maximum", 100), 7, 2 ** 63])
        if kind == "null":
            return None
        told = [schema[key] for key in ("example", "default") if key in schema]
        told += schema.get("examples", [])
        return chance.choice(told) if told and chance.random() < 0.5 else self.named(name)

    def request(self):
        """(method, target, headers, body)."""
        method, path, operation = self.chance.choice(self.operations)
        path = re.sub(r"\{([^}]*)\}", lambda found: urllib.parse.quote(
            str(self.named(found[1]))[:200], safe=""), path)
        query = []
        for given in operation.get("parameters", []):
            parameter = self.resolve(given)
            if parameter["in"] != "query" or self.chance.random() < 0.5:
                continue
            right = parameter.get("example", self.resolve(parameter["schema"]).get("enum"))
            if isinstance(right, list):
                right = self.chance.choice(right)
            known = right is not None and self.chance.random() < 0.6
            query.append((parameter["name"], str(right if known else self.named(parameter["name"]))))
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
        described = operation.get("requestBody", {}).get("content", {})
        kind = self.chance.random()
        if described and kind < 0.8:
            media, content = self.chance.choice(list(described.items()))
            shaped = self.shaped(content.get("schema", {}))
            if media == "application/json":
                return json.dumps(shaped).encode(), {"Content-Type": media}
            if isinstance(shaped, dict):
                return urllib.parse.urlencode(shaped).encode(), {"Content-Type": media}
            return str(shaped).encode(errors="replace"), {"Content-Type": media}
        if kind < 0.9:
            return json.dumps(self.value()).encode(), {"Content-Type": "application/json"}
        size = self.chance.randrange(2000)
        return self.chance.randbytes(size), {
            "Content-Type": self.chance.choice(["application/json", "text/plain", "application/"
                                                "x-protobuf", "", "multipart/form-data"])}


def spares(method, target, names):
    """False for what would end the access of those who ask."""
    path = urllib.parse.unquote(urllib.parse.unquote(target.split("?")[0]))
    if method in ("GET", "HEAD", "OPTIONS") or path == "/api/v1/session/openid/logout":
        return True  # nobody guesses what a provider has signed
    return not (path == "/api/v1/session" or path.startswith("/api/v1/session/") or
                method == "DELETE" and path.startswith(("/api/v1/sessions", "/api/v1/tokens")) or
                any(path.startswith(f"/api/v1/users/{name}") for name in names))


def counted(admin):
    """The number of answers by status, from /metrics."""
    sums = {}
    for status, value in re.findall(
            r'^pennyweight_http_requests_total\{.*status="(\d+)".*\} (\d+)$',
            admin.get("/metrics").body.decode(), re.M):
        sums[int(status)] = sums.get(int(status), 0) + int(value)
    return sums


class Campaign:
    """Requests of several workers, and how they are answered."""

    def __init__(self, server):
        self.server, self.told = server, Told()
        self.document = server.document()
        admin = server.sign_in_admin()
        self.askers = [admin, server.add_token(admin), server.add_person("viewer", SCOPE),
                       server.add_person("finance"), server.add_person("operator"),
                       server.anonymous()]
        self.names = {asker.name for asker in self.askers if asker.name}
        self.statuses, self.lock = {}, threading.Lock()

    def work(self, seed, count):
        chance = random.Random(seed)
        maker = Maker(chance, self.document, self.told)
        for number in range(count):
            asker = chance.choice(self.askers)
            method, target, headers, body = maker.request()
            if not spares(method, target, self.names):
                continue
            words = f"seed {seed}, request {number}: {method} {target[:300]} {headers} {body!r:.300}"
            begun = time.monotonic()
            try:
                answer = asker.ask(method, target, body, headers, keep_cookies=False)
            except (http.client.HTTPException, OSError) as error:
                expect(False, f"{words}: {type(error).__name__} {error}")
                if not self.server.is_alive():
                    return
                continue
            self.judge(answer, words, method, target, time.monotonic() - begun)

    def judge(self, answer, words, method, target, took):
        with self.lock:
            self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        # Not a fault: there may be no live data yet, and a telemetry body may be too large now.
        is_later = answer.status == 503 and "retry-after" in answer.headers
        expect(answer.status < 500 or is_later, f"{words}: {answer}")
        expect(took < SLOW_S, f"{words}: took {took:.1f} s")
        if answer.status >= 400 and method != "HEAD":
            is_page = target.startswith("/approve/") and answer.kind.startswith("text/html")
            expect(answer.kind == "application/problem+json" or is_page or target.startswith("/readyz"),
                   f"{words}: {answer.status} is {answer.kind}")
        elif answer.kind == "application/json" and method != "HEAD":
            self.told.learn(answer.json())


def fuzz(server, seed, count, workers):
    campaign = Campaign(server)
    admin = campaign.askers[0]
    before = counted(admin)
    threads = [threading.Thread(target=campaign.work, args=(seed + i, count // workers))
               for i in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not server.is_alive():
        return
    after = counted(admin)
    statuses = campaign.statuses
    # Answers of routes only; others may be refused before a route is found. Reading the counts is
    # counted as well.
    for status in (200, 204, 409, 422):
        want = statuses.get(status, 0) + (status == 200)
        got = after.get(status, 0) - before.get(status, 0)
        expect(got == want, f"{want} were answered {status}, and {got} are counted")
    print(f"seed {seed}: {sum(statuses.values())} requests: {dict(sorted(statuses.items()))}")


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
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(sys.argv[4:])
    server = Server(CONFIG.replace("flush_every: 2s", LIMITS))
    costs = server.sign_in_admin().get(*COSTS).body
    fuzz(server, options.seed, options.requests, options.workers)
    if expect(server.is_alive(), "the server is still there"):
        is_as_it_was(server, costs)


if __name__ == "__main__":
    guarded(main, "fuzz")
