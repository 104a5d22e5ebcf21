#!/usr/bin/env python3
"""Merges the parts of the API's description into one OpenAPI 3.1 document, and checks it.

usage: openapi.py FOLDER OUTPUT      FOLDER/*.yaml into OUTPUT, as JSON
       openapi.py --check FOLDER     only checks

base.yaml has what is common. Each other file describes the routes of one part of the API, with the
schemas that only they use. To every operation the tool adds what is the same for all, so that a part
need not repeat it:
  - `security: []` where `x-permission` is open
  - the header X-CSRF-Token of methods that change something, for callers with a cookie
  - the problems that each may answer with: 401 and 403 where the caller must be signed in, 404 where
    the path has a parameter, 422 where a parameter may be wrong, 429 and `default`
Every operation must have two extensions: `x-permission` (a permission of server/access/principal.h,
`signed_in` for anybody who is signed in, or `open`), and `x-scoped`, what a scoped principal gets:
answers `cut` to the scope, the `same` as others, or `refused`.

The same parts give the same bytes. Every finding is a line 'where: what is wrong', and any exits 1.
"""
import json
import pathlib
import re
import sys

import yaml

METHODS = ("get", "post", "put", "patch", "delete")
UNSAFE = ("post", "put", "patch", "delete")
OPERATION_KEYS = {
    "operationId", "summary", "description", "tags", "parameters", "requestBody", "responses",
    "security", "deprecated", "x-permission", "x-scoped"}
PERMISSIONS = {
    "read_costs", "read_live", "read_fleet", "read_bills", "read_invoices", "read_rules",
    "read_audit", "read_metrics", "decide_advice", "issue_invoices", "close_periods",
    "manage_users", "manage_own", "manage_budgets", "manage_alerts", "approve", "send_telemetry", "import_files", "read_statements", "signed_in", "open"}
SCOPED = {"cut", "same", "refused"}
# Kinds of components that a part may have.
COMPONENTS = ("schemas", "parameters", "responses", "headers", "requestBodies", "examples")
PROBLEMS = {
    "401": "NotSignedIn", "403": "MayNot", "404": "NotFound", "422": "BadParameter",
    "429": "TooMany", "default": "OtherProblem"}
STATUS = re.compile(r"^([1-5]\d\d|default)$")
IN_BRACES = re.compile(r"\{([^{}]*)\}")


class Loader(yaml.SafeLoader):
    """YAML 1.2: dates and `on` are texts. A key that occurs twice is an error."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key} occurs twice", key_node.start_mark)
            seen.add(key)
        return {str(key): value for key, value in super().construct_mapping(node, deep).items()}


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers
            if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool",
                           "tag:yaml.org,2002:merge")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


class Findings:
    def __init__(self):
        self.lines = []

    def add(self, where, what):
        self.lines.append(f"{where}: {what}")


def read_parts(folder, findings):
    """Returns the parts by file name, base.yaml first."""
    parts = {}
    for path in sorted(folder.glob("*.yaml"), key=lambda p: (p.name != "base.yaml", p.name)):
        try:
            part = yaml.load(path.read_text(encoding="utf-8"), Loader)
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            findings.add(path.name, " ".join(str(error).split()))
            continue
        if not isinstance(part, dict):
            findings.add(path.name, "must be a mapping with `paths` and `components`")
            continue
        parts[path.name] = part
    if "base.yaml" not in parts:
        findings.add(str(folder), "has no readable base.yaml")
    return parts


def merge(parts, findings):
    """Returns all parts as one document, and reports what two parts define."""
    document = {}
    owners = {}
    paths, tags = {}, []
    components = {kind: {} for kind in COMPONENTS}

    def take(kind, name, value, into, file):
        if (kind, name) in owners:
            findings.add(file, f"{kind} {name} is already defined in {owners[kind, name]}")
            return
        owners[kind, name] = file
        into[name] = value

    for file, part in parts.items():
        for key, value in part.items():
            if key == "paths":
                for path, item in (value or {}).items():
                    take("path", path, item, paths, file)
            elif key == "tags":
                tags += value or []
            elif key == "components":
                for kind, entries in (value or {}).items():
                    if kind == "securitySchemes" and file == "base.yaml":
                        components.setdefault(kind, {}).update(entries)
                    elif kind not in components:
                        findings.add(file, f"components/{kind} belongs in base.yaml only")
                    else:
                        for name, entry in (entries or {}).items():
                            take(kind, name, entry, components[kind], file)
            elif file == "base.yaml":
                document[key] = value
            else:
                findings.add(file, f"{key} belongs in base.yaml; a part has paths, tags and components")
    document["tags"] = tags
    document["paths"] = dict(sorted(paths.items()))
    document["components"] = {
        kind: dict(sorted(entries.items())) for kind, entries in components.items() if entries}
    return document


def operations(document):
    """Yields (path, method, operation) of every operation."""
    for path, item in document["paths"].items():
        if isinstance(item, dict):
            for method in METHODS:
                if isinstance(item.get(method), dict):
                    yield path, method, item[method]


def add_common(document):
    """Adds what every operation has in common, where it does not have its own."""
    for path, method, operation in operations(document):
        is_open = operation.get("x-permission") == "open"
        if is_open:
            operation.setdefault("security", [])
        elif method in UNSAFE:
            operation["parameters"] = operation.get("parameters", []) + [
                {"$ref": "#/components/parameters/CsrfToken"}]
        if not isinstance(operation.get("responses"), dict):
            continue
        responses = dict(operation["responses"])
        wanted = ["429", "default"]
        if not is_open:
            wanted += ["401", "403"]
        if "{" in path:
            wanted.append("404")
        # Any query may be wrong: unknown parameters are refused.
        if path.startswith("/api/"):
            wanted.append("422")
        for status in wanted:
            responses.setdefault(status, {"$ref": f"#/components/responses/{PROBLEMS[status]}"})
        operation["responses"] = dict(sorted(responses.items()))


def resolve(document, reference):
    """Returns what a reference within the document points to, or None."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    at = document
    for step in reference[2:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(at, dict) or step not in at:
            return None
        at = at[step]
    return at


def check_references(document, common, findings):
    """Checks that every $ref points to something and every component of a part is used. `common` are
    those of base.yaml, which need not be."""
    used = set()

    def walk(value, where):
        if isinstance(value, dict):
            if "$ref" in value:
                used.add(value["$ref"])
                if resolve(document, value["$ref"]) is None:
                    findings.add(where, f"{value['$ref']} points to nothing")
            for key, entry in value.items():
                # Examples are data, not description.
                is_data = key in ("example", "examples", "const", "default", "enum")
                if not is_data or where.endswith(("/responses", "/properties")):
                    walk(entry, f"{where}/{key}")
        elif isinstance(value, list):
            for place, entry in enumerate(value):
                walk(entry, f"{where}/{place}")

    walk(document["paths"], "paths")
    walk(document["components"], "components")
    for kind, entries in document["components"].items():
        if kind == "securitySchemes":
            continue
        for name in entries:
            is_common = name in common.get(kind, {})
            if not is_common and f"#/components/{kind}/{name}" not in used:
                findings.add(f"components/{kind}/{name}", "nothing uses it")


def check_parameters(document, path, where, operation, findings):
    seen = set()
    for given in operation.get("parameters", []):
        parameter = resolve(document, given.get("$ref")) if "$ref" in given else given
        if parameter is None:
            continue  # already reported as a reference that points to nothing
        name, place = parameter.get("name"), parameter.get("in")
        if not name or place not in ("path", "query", "header", "cookie"):
            findings.add(where, "a parameter needs a name, and `in`")
            continue
        if (name, place) in seen:
            findings.add(where, f"the parameter {name} occurs twice")
        seen.add((name, place))
        if "schema" not in parameter:
            findings.add(where, f"the parameter {name} has no schema")
        if not parameter.get("description"):
            findings.add(where, f"the parameter {name} has no description")
        if place == "path" and parameter.get("required") is not True:
            findings.add(where, f"the parameter {name} is in the path, so it needs required: true")
    braces = set(IN_BRACES.findall(path))
    stated = {name for name, place in seen if place == "path"}
    for name in sorted(braces ^ stated):
        findings.add(where, f"{{{name}}} is in " + (
            "the path but not in the parameters" if name in braces else "the parameters but not in the path"))


def check_content(where, content, findings):
    for kind, media in content.items():
        if "/" not in kind:
            findings.add(where, f"{kind} is not a media type")
        if not isinstance(media, dict) or "schema" not in media:
            findings.add(where, f"{kind} has no schema")


def check_responses(document, where, operation, findings):
    responses = operation.get("responses")
    if not isinstance(responses, dict):
        findings.add(where, "has no responses (a mapping by status)")
        return
    if not any(status[0] in "123" for status in responses):
        findings.add(where, "has no response but problems")
    for status, given in responses.items():
        if not STATUS.match(status):
            findings.add(where, f"{status} is not a status")
        response = resolve(document, given.get("$ref")) if "$ref" in given else given
        if response is None:
            continue
        if not response.get("description"):
            findings.add(where, f"the response {status} has no description")
        content = response.get("content", {})
        check_content(f"{where} {status}", content, findings)
        # Probes of /readyz read a status and plain text.
        if status[0] in "45d" and content and "application/problem+json" not in content and (
                operation.get("x-permission") != "open"):
            findings.add(where, f"the response {status} is not application/problem+json")


def check_operations(document, findings):
    ids = {}
    names = {tag["name"] for tag in document["tags"]}
    for path, item in document["paths"].items():
        if not path.startswith("/") or path != path.rstrip("/"):
            findings.add(path, "a path must begin with '/' and must not end with it")
        if not isinstance(item, dict) or not item:
            findings.add(path, "has no operation")
            continue
        for method in sorted(set(item) - set(METHODS)):
            findings.add(path, f"{method} is not one of {', '.join(METHODS)}")
    for path, method, operation in operations(document):
        where = f"{method.upper()} {path}"
        for key in sorted(set(operation) - OPERATION_KEYS):
            findings.add(where, f"unknown key {key}")
        for key in ("operationId", "summary", "tags", "x-permission", "x-scoped"):
            if not operation.get(key):
                findings.add(where, f"has no {key}")
        identity = operation.get("operationId", "")
        if identity and not re.fullmatch(r"[a-z][A-Za-z0-9]*", identity):
            findings.add(where, f"the operationId {identity} is not in lowerCamelCase")
        if identity in ids:
            findings.add(where, f"the operationId {identity} is already that of {ids[identity]}")
        ids[identity] = where
        for tag in operation.get("tags") or []:
            if tag not in names:
                findings.add(where, f"the tag {tag} is not listed under `tags`")
        if operation.get("x-permission") not in PERMISSIONS | {None}:
            findings.add(where, f"unknown permission {operation['x-permission']}")
        if operation.get("x-scoped") not in SCOPED | {None}:
            findings.add(where, "x-scoped must be cut, same or refused")
        check_parameters(document, path, where, operation, findings)
        check_responses(document, where, operation, findings)
        body = operation.get("requestBody")
        if body is not None:
            body = resolve(document, body["$ref"]) if "$ref" in body else body
            if body is not None:
                check_content(f"{where} requestBody", body.get("content") or {}, findings)
                if not body.get("content"):
                    findings.add(where, "the requestBody has no content")


def check_document(document, common, findings):
    if not re.fullmatch(r"3\.1\.\d+", str(document.get("openapi", ""))):
        findings.add("base.yaml", "openapi must be 3.1.x")
    info = document.get("info") or {}
    for key in ("title", "version", "summary", "license"):
        if not info.get(key):
            findings.add("base.yaml", f"info has no {key}")
    schemes = document["components"].get("securitySchemes", {})
    for requirement in document.get("security") or [{}]:
        for name in requirement or {"none": []}:
            if name not in schemes:
                findings.add("base.yaml", f"the security scheme {name} is not defined")
    if not document["paths"]:
        findings.add("paths", "there are no paths")
    check_operations(document, findings)
    check_references(document, common, findings)


def build(folder):
    """Returns (document, findings)."""
    findings = Findings()
    parts = read_parts(folder, findings)
    if findings.lines:
        return None, findings.lines
    document = merge(parts, findings)
    add_common(document)
    check_document(document, parts["base.yaml"].get("components") or {}, findings)
    return document, findings.lines


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    only_check = arguments[0] == "--check"
    folder = pathlib.Path(arguments[1] if only_check else arguments[0])
    document, findings = build(folder)
    for line in findings:
        print(line, file=sys.stderr)
    if findings:
        return 1
    if not only_check:
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        pathlib.Path(arguments[1]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
