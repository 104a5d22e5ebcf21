// Generates the types of the API, web/src/api/schema.d.ts, from the OpenAPI document.
//
//   node web/types.mjs OPENAPI.json            writes the file
//   node web/types.mjs OPENAPI.json --check    checks that the file is up to date
//
// `tools/openapi.py docs/api/openapi OPENAPI.json` makes OPENAPI.json.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const target = path.join(path.dirname(fileURLToPath(import.meta.url)), "src/api/schema.d.ts");
const [document, mode] = process.argv.slice(2);
if (!document || (mode && mode !== "--check")) {
  console.error("usage: node web/types.mjs OPENAPI.json [--check]");
  process.exit(2);
}
const head = "// Made by web/types.mjs from docs/api/openapi; not to be edited.\n";
const text = head + astToString(await openapiTS(JSON.parse(readFileSync(document, "utf8"))));
if (mode === "--check") {
  if (readFileSync(target, "utf8") !== text) {
    console.error("web/src/api/schema.d.ts does not match docs/api/openapi; run node web/types.mjs");
    process.exit(1);
  }
  console.log("the types match the OpenAPI document");
} else {
  writeFileSync(target, text);
}
