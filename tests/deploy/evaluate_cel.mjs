// Evaluates CEL by an implementation that is not ours (npm's @bufbuild/cel, with RE2 for `matches`).
//
//   node evaluate_cel.mjs < [{"expression", "object", "request"}]     [true, false, "why it failed"]
//
// exits 77 where `npm ci` was not run in this folder.
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
if (!fs.existsSync(path.join(here, 'node_modules', '@bufbuild/cel'))) {
  console.error('skipped: @bufbuild/cel is not installed: npm ci --prefix tests/deploy');
  process.exit(77);
}
const {celEnv, parse, plan, isCelError} = await import('@bufbuild/cel');
const cases = JSON.parse(fs.readFileSync(0, 'utf8'));
const planned = new Map();
const programs = (expression) => {
  if (!planned.has(expression)) planned.set(expression, plan(celEnv(), parse(expression)));
  return planned.get(expression);
};
const verdicts = cases.map(({expression, object, request}) => {
  const value = programs(expression)({object, request});
  return isCelError(value) ? String(value.message ?? value) : value;
});
console.log(JSON.stringify(verdicts));
