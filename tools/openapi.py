#!/usr/bin/env python3
"""Merges the parts of the API's description into one OpenAPI 3.1 document, and checks it.

usage: openapi.py FOLDER OUTPUT      FOLDER/*.yaml into OUTPUT, as JSON
       openapi.py --check FOLDER     only checks

base.yaml says what is common; each other file describes the routes of one part of the API, with
the schemas that they alone use. So that a part says only what is its own, the tool adds to every
operation what is the same for all:
  - `security: []` where `x-permission` is open
  - the header X-CSRF-Token of methods that change something, for those who bear a cookie
  - the problems that each may answer with: 401 and 403 where somebody must be signed in, 404 where
    the path has a parameter, 422 where anything may be said wrongly, 429 and `default`
Two `extensions` are asked for: `x-permission` (a permission of access/principal.h, `signed_in` for
whatever anybody may do who is signed in, or `open`), and `x-scoped`, what a principal gets that is
bound to a scope: `cut` to it, `same` as others, or `refused`.

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
    "read_audit", "read_metrics", "issue_invoices", "close_periods", "manage_users", "manage_own",
    "send_telemetry", "signed_in", "open"}
SCOPED = {"cut", "same", "refused"}
# Kinds of components, and whether a part may bring some of its own.
COMPONENTS = ("schemas", "parameters", "responses", "headers", "requestBodies", "examples")
PROBLEMS = {
    "401": "NotSignedIn", "403": "MayNot", "404": "NotFound", "422": "BadParameter",
    "429": "TooMany", "default": "OtherProblem"}
STATUS = re.compile(r"^([1-5]\d\d|default)$")
IN_BRACES = re.compile(r"\{([^{}]*)\}")


class Loader(yaml.SafeLoader):
    """YAML as its version 1.2 has it: dates and `on` are texts, and no key is there twice."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key} is there twice", key_node.start_mark)
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
    """The parts by name, base.yaml first."""
    parts = {}
    for path in sorted(folder.glob("*.yaml"), key=lambda p: (p.name != "base.yaml", p.name)):
        try:
            part = yaml.load(path.read_text(encoding="utf-8"), Loader)
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            findings.add(path.name, " ".join(str(error).split()))
            continue
        if not isinstance(part, dict):
            findings.add(path.name, "a mapping with `paths` and `components` is wanted")
            continue
        parts[path.name] = part
    if "base.yaml" not in parts:
        findings.add(str(folder), "there is no base.yaml that can be read")
    return parts


def merge(parts, findings):
    """All parts as one document; what two of them state is named."""
    document = {}
    owners = {}
    paths, tags = {}, []
    components = {kind: {} for kind in COMPONENTS}

    def take(kind, name, value, into, file):
        if (kind, name) in owners:
            findings.add(file, f"{kind} {name} is in {owners[kind, name]} already")
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
                        findings.add(file, f"components/{kind} is not for a part; see base.yaml")
                    else:
                        for name, entry in (entries or {}).items():
                            take(kind, name, entry, components[kind], file)
            elif file == "base.yaml":
                document[key] = value
            else:
                findings.add(file, f"{key} is not for a part; paths, tags and components are")
    document["tags"] = tags
    document["paths"] = dict(sorted(paths.items()))
    document["components"] = {
        kind: dict(sorted(entries.items())) for kind, entries in components.items() if entries}
    return document


def operations(document):
    """(path, method, operation) of all, those that are none left out."""
    for path, item in document["paths"].items():
        if isinstance(item, dict):
            for method in METHODS:
                if isinstance(item.get(method), dict):
                    yield path, method, item[method]


def add_common(document):
    """What every operation has in common, where it does not say so itself."""
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
        # A query may always be wrong: a parameter that is not there is refused.
        if path.startswith("/api/"):
            wanted.append("422")
        for status in wanted:
            responses.setdefault(status, {"$ref": f"#/components/responses/{PROBLEMS[status]}"})
        operation["responses"] = dict(sorted(responses.items()))


def resolve(document, reference):
    """What a reference within the document stands for; nothing where it leads nowhere."""
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
    """Every $ref leads somewhere, and every component of a part is led to. `common` are those of
    base.yaml, which are there for all."""
    used = set()

    def walk(value, where):
        if isinstance(value, dict):
            if "$ref" in value:
                used.add(value["$ref"])
                if resolve(document, value["$ref"]) is None:
                    findings.add(where, f"{value['$ref']} leads nowhere")
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
                findings.add(f"components/{kind}/{name}", "nothing refers to it")


def check_parameters(document, path, where, operation, findings):
    seen = set()
    for given in operation.get("parameters", []):
        parameter = resolve(document, given.get("$ref")) if "$ref" in given else given
        if parameter is None:
            continue  # told as a reference that leads nowhere
        name, place = parameter.get("name"), parameter.get("in")
        if not name or place not in ("path", "query", "header", "cookie"):
            findings.add(where, "a parameter needs a name, and `in`")
            continue
        if (name, place) in seen:
            findings.add(where, f"the parameter {name} is there twice")
        seen.add((name, place))
        if "schema" not in parameter:
            findings.add(where, f"the parameter {name} has no schema")
        if not parameter.get("description"):
            findings.add(where, f"the parameter {name} has no description")
        if place == "path" and parameter.get("required") is not True:
            findings.add(where, f"the parameter {name} is of the path, so it is required: true")
    braces = set(IN_BRACES.findall(path))
    stated = {name for name, place in seen if place == "path"}
    for name in sorted(braces ^ stated):
        findings.add(where, f"{{{name}}} is in " + (
            "the path and no parameter" if name in braces else "the parameters and not the path"))


def check_content(where, content, findings):
    for kind, media in content.items():
        if "/" not in kind:
            findings.add(where, f"{kind} is no media type")
        if not isinstance(media, dict) or "schema" not in media:
            findings.add(where, f"{kind} has no schema")


def check_responses(document, where, operation, findings):
    responses = operation.get("responses")
    if not isinstance(responses, dict):
        findings.add(where, "has no responses, which are a mapping by status")
        return
    if not any(status[0] in "123" for status in responses):
        findings.add(where, "there is no answer but problems")
    for status, given in responses.items():
        if not STATUS.match(status):
            findings.add(where, f"{status} is no status")
        response = resolve(document, given.get("$ref")) if "$ref" in given else given
        if response is None:
            continue
        if not response.get("description"):
            findings.add(where, f"the answer {status} has no description")
        content = response.get("content", {})
        check_content(f"{where} {status}", content, findings)
        # Whoever asks /readyz reads a status and words.
        if status[0] in "45d" and content and "application/problem+json" not in content and (
                operation.get("x-permission") != "open"):
            findings.add(where, f"the answer {status} is no application/problem+json")


def check_operations(document, findings):
    ids = {}
    names = {tag["name"] for tag in document["tags"]}
    for path, item in document["paths"].items():
        if not path.startswith("/") or path != path.rstrip("/"):
            findings.add(path, "a path begins with '/' and does not end with one")
        if not isinstance(item, dict) or not item:
            findings.add(path, "has no operation")
            continue
        for method in sorted(set(item) - set(METHODS)):
            findings.add(path, f"{method} is none of {', '.join(METHODS)}")
    for path, method, operation in operations(document):
        where = f"{method.upper()} {path}"
        for key in sorted(set(operation) - OPERATION_KEYS):
            findings.add(where, f"there is no key {key}")
        for key in ("operationId", "summary", "tags", "x-permission", "x-scoped"):
            if not operation.get(key):
                findings.add(where, f"has no {key}")
        identity = operation.get("operationId", "")
        if identity and not re.fullmatch(r"[a-z][A-Za-z0-9]*", identity):
            findings.add(where, f"the operationId {identity} is not written likeThis")
        if identity in ids:
            findings.add(where, f"the operationId {identity} is that of {ids[identity]}")
        ids[identity] = where
        for tag in operation.get("tags") or []:
            if tag not in names:
                findings.add(where, f"the tag {tag} is not described under `tags`")
        if operation.get("x-permission") not in PERMISSIONS | {None}:
            findings.add(where, f"there is no permission {operation['x-permission']}")
        if operation.get("x-scoped") not in SCOPED | {None}:
            findings.add(where, "x-scoped is cut, same or refused")
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
        findings.add("base.yaml", "openapi: 3.1.x is wanted")
    info = document.get("info") or {}
    for key in ("title", "version", "summary", "license"):
        if not info.get(key):
            findings.add("base.yaml", f"info has no {key}")
    schemes = document["components"].get("securitySchemes", {})
    for requirement in document.get("security") or [{}]:
        for name in requirement or {"none": []}:
            if name not in schemes:
                findings.add("base.yaml", f"the security {name} is not described")
    if not document["paths"]:
        findings.add("paths", "there are none")
    check_operations(document, findings)
    check_references(document, common, findings)


def build(folder):
    """(document, findings)."""
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
