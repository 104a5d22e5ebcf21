#!/usr/bin/env python3
"""The tool that merges the API's description refuses what would make a wrong one."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "openapi.py"

BASE = """
openapi: 3.1.1
info: {title: t, version: v1, summary: s, license: {name: MIT}}
security: [{cookie: []}]
tags: [{name: Things}]
components:
  securitySchemes: {cookie: {type: apiKey, in: cookie, name: c}}
  parameters:
    CsrfToken: {name: X-CSRF-Token, in: header, description: d, schema: {type: string}}
  responses:
"""
for name in ("NotSignedIn", "MayNot", "NotFound", "BadParameter", "TooMany", "OtherProblem"):
    BASE += f"    {name}: {{description: d}}\n"

PART = """
paths:
  /api/v1/things/{id}:
    get:
      operationId: getThing
      summary: A thing.
      tags: [Things]
      x-permission: read_costs
      x-scoped: cut
      parameters:
        - {name: id, in: path, required: true, description: d, schema: {type: string}}
      responses:
        '200': {description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
components:
  schemas:
    Thing: {type: object, example: {at: 2026-03-01, on: on, $ref: nowhere}}
"""

OTHER = """
paths:
  /api/v1/others:
    post:
      operationId: addOther
      summary: Another.
      tags: [Things]
      x-permission: manage_users
      x-scoped: refused
      responses:
        201: {description: d}
"""


class Merging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, part=PART, other=OTHER, base=BASE):
        """(exit code, what it says, the document)."""
        parts = self.folder / "parts"
        parts.mkdir(exist_ok=True)
        (parts / "base.yaml").write_text(base)
        (parts / "things.yaml").write_text(part)
        (parts / "others.yaml").write_text(other)
        output = self.folder / "out.json"
        output.unlink(missing_ok=True)
        done = subprocess.run([sys.executable, TOOL, parts, output], capture_output=True, text=True)
        document = json.loads(output.read_text()) if output.exists() else None
        self.assertEqual(done.returncode == 0, document is not None)
        return done.returncode, done.stderr, document

    def refused(self, expected, **parts):
        code, said, _ = self.run_tool(**parts)
        self.assertEqual(code, 1)
        self.assertIn(expected, said)

    def test_what_is_right_is_merged(self):
        code, said, document = self.run_tool()
        self.assertEqual((code, said), (0, ""))
        self.assertEqual(list(document["paths"]), ["/api/v1/others", "/api/v1/things/{id}"])
        get = document["paths"]["/api/v1/things/{id}"]["get"]
        self.assertEqual(list(get["responses"]),
                         ["200", "401", "403", "404", "422", "429", "default"])
        post = document["paths"]["/api/v1/others"]["post"]
        self.assertEqual(post["parameters"], [{"$ref": "#/components/parameters/CsrfToken"}])
        self.assertNotIn("404", post["responses"])
        # YAML 1.2: dates and `on` are texts.
        self.assertEqual(document["components"]["schemas"]["Thing"]["example"]["at"], "2026-03-01")
        self.assertIn("on", document["components"]["schemas"]["Thing"]["example"])

    def test_the_same_bytes_each_time(self):
        self.run_tool()
        first = (self.folder / "out.json").read_bytes()
        self.run_tool()
        self.assertEqual(first, (self.folder / "out.json").read_bytes())

    def test_open_operations_need_no_security(self):
        code, said, document = self.run_tool(other=OTHER.replace("manage_users", "open"))
        self.assertEqual((code, said), (0, ""))
        post = document["paths"]["/api/v1/others"]["post"]
        self.assertEqual(post["security"], [])
        self.assertNotIn("401", post["responses"])
        self.assertNotIn("parameters", post)

    def test_two_parts_may_not_say_the_same(self):
        self.refused("path /api/v1/others is already defined in others.yaml",
                     part=OTHER.replace("addOther", "addThing"))
        schema = "components:\n  schemas:\n    Thing: {type: string}\n"
        self.refused("schemas Thing is already defined in others.yaml", other=OTHER + schema)
        self.refused("is already that of", other=OTHER.replace("addOther", "getThing"))
        self.refused("occurs twice", other=OTHER + "paths: {}\n")

    def test_references_lead_somewhere(self):
        self.refused("#/components/schemas/Thing points to nothing",
                     part=PART.replace("    Thing:", "    Thong:"))
        self.refused("components/schemas/Thong: nothing uses it",
                     part=PART.replace("    Thing:", "    Thong:"))

    def test_every_operation_says_what_it_must(self):
        for key in ("operationId: getThing", "summary: A thing.", "tags: [Things]",
                    "x-permission: read_costs", "x-scoped: cut"):
            self.refused("has no " + key.split(":")[0], part=PART.replace(key, ""))
        self.refused("unknown permission read_all", part=PART.replace("read_costs", "read_all"))
        self.refused("x-scoped must be cut, same or refused", part=PART.replace(": cut", ": some"))
        self.refused("is not listed under `tags`", part=PART.replace("[Things]", "[Stuff]"))
        self.refused("unknown key sumary",
                     part=PART.replace("summary: A thing.", "summary: A.\n      sumary: A."))
        self.refused("is not in lowerCamelCase", part=PART.replace("getThing", "Get_Thing"))

    def test_parameters_are_those_of_the_path(self):
        self.refused("{id} is in the path but not in the parameters", part=PART.replace("name: id", "name: it"))
        self.refused("{it} is in the parameters but not in the path",
                     part=PART.replace("name: id", "name: it"))
        self.refused("required: true", part=PART.replace("required: true, ", ""))
        self.refused("has no description", part=PART.replace("description: d, schema", "schema"))
        self.refused("has no schema", part=PART.replace(", schema: {type: string}", ""))

    def test_answers(self):
        self.refused("no response but problems", part=PART.replace("'200'", "'404'"))
        self.refused("is not application/problem+json", part=PART.replace("'200'", "'409'"))
        self.refused("2000 is not a status", part=PART.replace("'200'", "'2000'"))
        self.refused("has no description", part=PART.replace("{description: d, content", "{content"))
        self.refused("application/json has no schema",
                     part=PART.replace("{schema: {$ref: '#/components/schemas/Thing'}}", "{}"))
        self.refused("has no responses", other=OTHER.split("      responses")[0])

    def test_the_document_as_a_whole(self):
        self.refused("openapi must be 3.1.x", base=BASE.replace("3.1.1", "3.0.3"))
        self.refused("info has no summary", base=BASE.replace("summary: s, ", ""))
        self.refused("info belongs in base.yaml", other=OTHER + "info: {title: mine}\n")
        self.refused("the security scheme bearer is not defined",
                     base=BASE.replace("[{cookie: []}]", "[{bearer: []}]"))
        self.refused("others.yaml: while", other="paths: {\n")

    def test_ours_is_right(self):
        done = subprocess.run([sys.executable, TOOL, "--check", ROOT / "docs" / "api" / "openapi"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
