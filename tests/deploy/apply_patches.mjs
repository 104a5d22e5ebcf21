// Applies JSON patches by an implementation that is not ours (npm's fast-json-patch, which refuses what RFC 6902
// refuses), and holds the objects before and after to Kubernetes' schemas (npm's kubernetes-models).
//
//   node apply_patches.mjs < [{"object", "patch"}]      [{"after"} or {"error"}]
//
// exits 77 where `npm ci` was not run in this folder.
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
for (const name of ['fast-json-patch', 'kubernetes-models']) {
  if (fs.existsSync(path.join(here, 'node_modules', name))) continue;
  console.error(`skipped: ${name} is not installed: npm ci --prefix tests/deploy`);
  process.exit(77);
}
const {default: jsonPatch} = await import('fast-json-patch');
const MODULES = {v1: 'v1', 'apps/v1': 'apps/v1', 'batch/v1': 'batch/v1'};

async function validate(object) {
  const kinds = await import(`kubernetes-models/${MODULES[object.apiVersion]}`);
  new kinds[object.kind](object).validate();
}

const answers = [];
for (const {object, patch} of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  try {
    await validate(object);
    const after = jsonPatch.applyPatch(object, patch, true, false).newDocument;
    await validate(after);
    answers.push({after});
  } catch (error) {
    answers.push({error: String(error.message).slice(0, 1000)});
  }
}
console.log(JSON.stringify(answers));
