// Builds the dashboard: web/build.mjs OUT writes one file, the pack (lib/pack.mjs).
//
//   node web/build.mjs OUT [--dev]     --dev: not minified, with source maps inline
//
// The same sources give the same bytes. Exported for dev/mock.mjs, which serves the files directly.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { writePack } from "./lib/pack.mjs";

const web = path.dirname(fileURLToPath(import.meta.url));
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

function options(dev) {
  return {
    absWorkingDir: web,
    entryPoints: { app: "src/main.tsx", theme: "src/theme_first.ts", style: "src/styles/style.css" },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    splitting: true,
    outdir: "/",
    outbase: "src",
    entryNames: "assets/[name]-[hash]",
    chunkNames: "assets/[name]-[hash]",
    target: ["es2022", "chrome109", "firefox115", "safari16"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: !dev,
    sourcemap: dev ? "inline" : false,
    legalComments: "none",
    logLevel: "silent",
    define: { "process.env.NODE_ENV": dev ? '"development"' : '"production"' },
  };
}

// What the first page needs: its entry and that entry's imports, but not what pages load later.
function firstChunks(metafile, entry) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const found of metafile.outputs[name]?.imports ?? []) {
      if (found.kind === "import-statement") visit(found.path);
    }
  };
  visit(entry);
  return [...seen].filter((name) => name !== entry);
}

function outputOf(metafile, source) {
  const found = Object.entries(metafile.outputs).find(([, one]) => one.entryPoint === source);
  if (!found) throw new Error(`no output of ${source}`);
  return found[0];
}

function address(output) {
  return "/" + output.slice(output.lastIndexOf("assets/"));
}

function pageAddresses() {
  const registry = readFileSync(path.join(web, "src/pages/registry.ts"), "utf8");
  return ["/signin", ...[...registry.matchAll(/\{ path: "([^"]+)"/g)].map((match) => match[1])];
}

function page(metafile) {
  const app = outputOf(metafile, "src/main.tsx");
  const values = {
    app: address(app),
    theme: address(outputOf(metafile, "src/theme_first.ts")),
    style: address(outputOf(metafile, "src/styles/style.css")),
    preload: firstChunks(metafile, app)
      .map((name) => `<link rel="modulepreload" href="${address(name)}">`)
      .join("\n    "),
  };
  const template = readFileSync(path.join(web, "src/index.html"), "utf8");
  return template.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
}

// The worker is a file of its own: its address is in the code, so it can't have a hash in its name.
async function worker(dev) {
  const { outputFiles } = await esbuild.build({
    ...options(dev),
    entryPoints: ["src/stream_worker.ts"],
    metafile: false,
    splitting: false,
    format: "iife",
    entryNames: "[name]",
  });
  return Buffer.from(outputFiles[0].contents);
}

// The files for browsers: [{ path, type, immutable, bytes }].
export async function bundle({ dev = false } = {}) {
  const built = await esbuild.build(options(dev));
  const files = built.outputFiles.map((file) => ({
    path: address(file.path),
    type: TYPES[path.extname(file.path)],
    immutable: true,
    bytes: Buffer.from(file.contents),
  }));
  const add = (name, bytes) =>
    files.push({ path: name, type: TYPES[path.extname(name) || ".html"], immutable: false, bytes });
  // The one HTML file, also at the address of every page, so that a reload finds it.
  const html = Buffer.from(page(built.metafile));
  for (const name of ["/index.html", ...pageAddresses()]) add(name, html);
  add("/stream.js", await worker(dev));
  add("/favicon.svg", readFileSync(path.join(web, "src/favicon.svg")));
  return files;
}

async function main() {
  const [out, mode] = process.argv.slice(2);
  if (!out || (mode && mode !== "--dev")) {
    console.error("usage: node web/build.mjs OUT [--dev]");
    process.exit(2);
  }
  const pack = writePack(await bundle({ dev: mode === "--dev" }));
  mkdirSync(path.dirname(path.resolve(out)), { recursive: true });
  writeFileSync(out, pack);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  main().catch((error) => {
    console.error(error.errors ? esbuild.formatMessagesSync(error.errors, { kind: "error" }).join("") : error);
    process.exit(1);
  });
}
