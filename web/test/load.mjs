// Sources of the dashboard as modules of Node: bundled, without the browser.
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../src");

export async function load(name) {
  const built = await esbuild.build({
    entryPoints: [path.join(source, name)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "silent",
  });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);
}
