"""JSON Schema (draft 2020-12), as much of it as the schemas of FOCUS use, over exact numbers.

A keyword that is not here is an error and never a pass.
"""
import re
from decimal import Decimal

import formats

_TYPES = {"object": "Object", "array": "Array", "string": "String", "number": "Decimal",
          "boolean": "Boolean", "null": "Null"}
_SAYS_NOTHING = {"$schema", "$id", "title", "description", "default", "$defs"}
_KNOWN = _SAYS_NOTHING | {
    "type", "required", "properties", "items", "minItems", "maxItems", "minimum", "maximum", "enum",
    "const", "contains", "patternProperties", "additionalProperties", "anyOf", "oneOf", "allOf",
    "not", "if", "then", "else", "$ref"}


def problems(schema, value, root=None, at="$"):
    """What is wrong, one sentence each; empty when the value conforms."""
    root = schema if root is None else root
    if isinstance(schema, bool):
        return [] if schema else [f"{at} must not be there"]
    unknown = set(schema) - _KNOWN
    if unknown:
        raise ValueError(f"keywords of JSON Schema that nobody reads: {sorted(unknown)}")
    found = []
    if "$ref" in schema:
        found += problems(_resolve(root, schema["$ref"]), value, root, at)
    found += _of_value(schema, value, at)
    if isinstance(value, dict):
        found += _of_object(schema, value, root, at)
    if isinstance(value, list):
        found += _of_array(schema, value, root, at)
    return found + _of_combination(schema, value, root, at)


def _resolve(root, reference):
    if not reference.startswith("#/"):
        raise ValueError(f"a reference to another document: {reference}")
    for step in reference[2:].split("/"):
        root = root[step]
    return root


def _of_value(schema, value, at):
    found = []
    if "type" in schema:
        wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if formats.kind_of(value) not in {_TYPES[name] for name in wanted}:
            found.append(f"{at} is no {' or '.join(wanted)}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{at} is not {schema['const']}")
    if isinstance(value, formats.JsonNumber):
        if "minimum" in schema and value < Decimal(str(schema["minimum"])):
            found.append(f"{at} is below {schema['minimum']}")
        if "maximum" in schema and value > Decimal(str(schema["maximum"])):
            found.append(f"{at} is above {schema['maximum']}")
    return found


def _of_object(schema, value, root, at):
    found = [f"{at} lacks {key}" for key in schema.get("required", ()) if key not in value]
    properties = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for key, member in value.items():
        here = f"{at}.{key}"
        rules = [rule for pattern, rule in patterns.items() if re.search(pattern, key)]
        if key in properties:
            rules.append(properties[key])
        if not rules and "additionalProperties" in schema:
            rules.append(schema["additionalProperties"])
        for rule in rules:
            found += problems(rule, member, root, here)
    return found


def _of_array(schema, value, root, at):
    found = []
    if len(value) < schema.get("minItems", 0):
        found.append(f"{at} has fewer than {schema['minItems']} elements")
    if len(value) > schema.get("maxItems", len(value)):
        found.append(f"{at} has more than {schema['maxItems']} elements")
    for index, member in enumerate(value):
        found += problems(schema.get("items", True), member, root, f"{at}[{index}]")
    if "contains" in schema and not any(
            not problems(schema["contains"], member, root, at) for member in value):
        found.append(f"{at} has no element of the kind it needs")
    return found


def _of_combination(schema, value, root, at):
    found = []
    for part in schema.get("allOf", ()):
        found += problems(part, value, root, at)
    if "anyOf" in schema and all(problems(part, value, root, at) for part in schema["anyOf"]):
        found.append(f"{at} fits none of the ways that are allowed")
    if "oneOf" in schema:
        fits = sum(not problems(part, value, root, at) for part in schema["oneOf"])
        if fits != 1:
            found.append(f"{at} fits {fits} of the ways of which it must fit one")
    if "not" in schema and not problems(schema["not"], value, root, at):
        found.append(f"{at} is what it must not be")
    if "if" in schema:
        branch = "else" if problems(schema["if"], value, root, at) else "then"
        found += problems(schema.get(branch, True), value, root, at)
    return found
