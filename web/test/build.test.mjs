// The pack: the same from the same sources, within its budget, and with nothing that the content
// security policy would refuse.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { bundle } from "../build.mjs";
import { writePack } from "../lib/pack.mjs";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../src");
const files = await bundle();

function sources(folder = source) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    return entry.isDirectory() ? sources(name) : [name];
  });
}

test("the same sources give the same bytes", async () => {
  assert.ok(writePack(files).equals(writePack(await bundle())));
});

test("the first page is small, charts and all", () => {
  const page = files.find((file) => file.path === "/index.html").bytes.toString();
  const first = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
  const size = (name) => brotliCompressSync(files.find((file) => file.path === name).bytes).length;
  assert.ok(first.length >= 4);
  const before = first.reduce((sum, name) => sum + size(name), 0);
  assert.ok(before < 60_000, `${before} bytes before anything is shown`);
  const all = files.reduce((sum, file) => sum + size(file.path), 0);
  assert.ok(all < 216_000, `${all} bytes in all`);
});

test("a table that is saved can be opened in a spreadsheet: none of its texts is a formula", () => {
  for (const file of sources().filter((name) => name.endsWith(".tsx"))) {
    assert.doesNotMatch(readFileSync(file, "utf8"), /format: "csv"/, `${file} has to ask for "sheet"`);
  }
});

test("names of files that are kept for ever have their hash", () => {
  for (const file of files) {
    assert.ok(file.type, file.path);
    if (file.immutable) assert.match(file.path, /^\/assets\/[\w.-]+-[A-Z0-9]{8}\.(js|css)$/);
  }
});

test("nothing is built from text, and nothing comes from elsewhere", () => {
  for (const file of files.filter((one) => one.path.endsWith(".js"))) {
    const text = file.bytes.toString();
    assert.doesNotMatch(text, /\beval\(|new Function\(/, file.path);
  }
  for (const file of files.filter((one) => one.path.endsWith(".css"))) {
    assert.doesNotMatch(file.bytes.toString(), /url\(|@import/, file.path);
  }
});

test("shown amounts are no floating point, and files stay short", () => {
  for (const name of sources().filter((one) => /\.tsx?$/.test(one) && !one.endsWith(".d.ts"))) {
    const text = readFileSync(name, "utf8");
    assert.ok(text.split("\n").length <= 310, `${name} is long`);
    assert.doesNotMatch(text, /parseFloat|dangerouslySetInnerHTML|innerHTML/, name);
    assert.ok(/^\/\//.test(text), `${name} does not say what it is`);
  }
});

test("every colour that is used has a value in both themes", () => {
  const tokens = readFileSync(path.join(source, "styles/tokens.css"), "utf8");
  const [light, dark, system] = tokens.split(/^:root\[data-theme="dark"\]|@media \(prefers-color-scheme: dark\)/m);
  const names = (text) => new Set([...text.matchAll(/--([\w-]+):/g)].map((match) => match[1]));
  assert.deepEqual([...names(dark)].sort(), [...names(light)].sort());
  const sizes = new Set(["font", "mono", "small", "tiny", "radius", "radius-small", "gap", "side", "top"]);
  const ofSystem = [...names(system)].filter((name) => !sizes.has(name));
  assert.deepEqual(ofSystem.sort(), [...names(dark)].sort());
  const all = names(tokens);
  for (const name of sources().filter((one) => one.endsWith(".css"))) {
    for (const [, used] of readFileSync(name, "utf8").matchAll(/var\(--([\w-]+)\)/g)) {
      assert.ok(all.has(used), `${path.basename(name)} uses --${used}`);
    }
  }
});
