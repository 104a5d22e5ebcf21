// Holds what deploy/ ships to what its readers say of themselves: the manifests to Kubernetes' and
// the Prometheus operator's schemas (npm's kubernetes-models, made of their OpenAPI documents), and
// Grafana's dashboards to Grafana's own types (@grafana/schema). Unknown keys are found by the
// TypeScript compiler, which refuses a literal with a key too many; formats by the validators.
//
//   node test_schemas.mjs ROOT     exits 77 where `npm ci` was not run in this folder
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(process.argv[2] ?? path.join(here, '../..'));
const ours = createRequire(import.meta.url);
const tops = createRequire(path.join(root, 'package.json'));

let failed = 0;
function expect(condition, what) {
  if (condition) return;
  failed += 1;
  console.error('FAILED: ' + what);
}

for (const name of ['kubernetes-models', '@kubernetes-models/prometheus-operator', '@grafana/schema']) {
  if (!fs.existsSync(path.join(here, 'node_modules', name))) {
    console.log(`skipped: ${name} is not installed: npm ci --prefix tests/deploy`);
    process.exit(77);
  }
}

// Every kind that may stand in a manifest, and the module that knows it.
const MODULES = {
  v1: 'kubernetes-models/v1',
  'apps/v1': 'kubernetes-models/apps/v1',
  'rbac.authorization.k8s.io/v1': 'kubernetes-models/rbac.authorization.k8s.io/v1',
  'admissionregistration.k8s.io/v1': 'kubernetes-models/admissionregistration.k8s.io/v1',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
};

const yaml = tops('js-yaml');
const manifests = [];
const folder = path.join(root, 'deploy/kubernetes');
for (const file of fs.readdirSync(folder, {recursive: true}).sort()) {
  if (!file.endsWith('.yaml') || path.basename(file) === 'kustomization.yaml') continue;
  for (const document of yaml.loadAll(fs.readFileSync(path.join(folder, file), 'utf8'))) {
    manifests.push({where: `deploy/kubernetes/${file}`, document});
  }
}
expect(manifests.length >= 8, `only ${manifests.length} manifests were found`);

async function validate(where, document) {
  const module = MODULES[document.apiVersion];
  expect(module, `${where}: apiVersion ${document.apiVersion} is none that is known here`);
  if (!module) return '';
  const kinds = ours(module);
  const Kind = kinds[document.kind];
  expect(Kind, `${where}: there is no ${document.apiVersion} ${document.kind}`);
  if (!Kind) return '';
  try {
    new Kind(document).validate();
  } catch (error) {
    expect(false, `${where}: ${document.kind}: ${error.message}`);
  }
  return `import {I${document.kind} as K_I} from '${module}';`;
}

// What is right, and what must be refused: a check that takes everything checks nothing.
function literal(type, module, value) {
  return `import type {${type}} from '${module}';\nexport const it: ${type} = ${JSON.stringify(value, null, 1)};\n`;
}

const scratch = fs.mkdtempSync(path.join(here, 'node_modules', '.check-'));
const must_pass = new Map();
const must_fail = new Map();
for (const [index, {where, document}] of manifests.entries()) {
  await validate(where, document);
  const module = MODULES[document.apiVersion];
  if (!module) continue;
  must_pass.set(`manifest_${index}.ts`, {where: `${where}: ${document.kind}`, text: literal(`I${document.kind}`, module, document)});
  const broken = structuredClone(document);
  broken.metadata.naem = 'a key that nobody knows';
  must_fail.set(`broken_${index}.ts`, {where: `${where}: a key too many`, text: literal(`I${document.kind}`, module, broken)});
}

// In TypeScript Grafana's constants are enums, in JSON their values: enum members are widened to
// their literals before the comparison.
const widened = `import type * as G from '@grafana/schema';
type Json<T> = T extends string ? \`\${T}\` : T extends number ? (\`\${T}\` extends \`\${infer N extends number}\` ? N : T)
  : T extends (infer E)[] ? Json<E>[] : T extends object ? {[K in keyof T]: Json<T[K]>} : T;
export type Dashboard = Json<G.Dashboard>;
export type Panel = Json<G.Panel>;
`;
fs.writeFileSync(path.join(scratch, 'grafana.ts'), widened);
const dashboards = path.join(root, 'deploy/grafana');
const found = fs.readdirSync(dashboards).filter((file) => file.endsWith('.json'));
expect(found.length >= 3, `only ${found.length} dashboards were found`);
for (const file of found) {
  const dashboard = JSON.parse(fs.readFileSync(path.join(dashboards, file), 'utf8'));
  must_pass.set(`dashboard_${file}.ts`, {where: `deploy/grafana/${file}`, text: literal('Dashboard', './grafana', dashboard)});
  const broken = structuredClone(dashboard);
  broken.panels[0].fieldConfigs = {};
  must_fail.set(`broken_${file}.ts`, {where: `${file}: a panel with a key too many`, text: literal('Dashboard', './grafana', broken)});
  const wrong = structuredClone(dashboard);
  wrong.schemaVersion = 'thirty-nine';
  must_fail.set(`wrong_${file}.ts`, {where: `${file}: a version that is text`, text: literal('Dashboard', './grafana', wrong)});
}

for (const [name, {text}] of [...must_pass, ...must_fail]) fs.writeFileSync(path.join(scratch, name), text);
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
const files = [...must_pass.keys(), ...must_fail.keys()].map((name) => path.join(scratch, name));
const compiled = spawnSync(process.execPath,
  [compiler, '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--moduleResolution', 'nodenext',
   '--target', 'es2022', '--pretty', 'false', ...files], {encoding: 'utf8', cwd: scratch, maxBuffer: 1 << 26});
const complaints = new Map();
for (const line of compiled.stdout.split('\n')) {
  const match = /^([\w.-]+\.ts)\((\d+),\d+\): error (.*)$/.exec(line);
  if (match) complaints.set(match[1], [...(complaints.get(match[1]) ?? []), `${match[2]}: ${match[3]}`]);
  else if (line.startsWith('error')) expect(false, line);
}
for (const [name, {where}] of must_pass) {
  for (const complaint of complaints.get(name) ?? []) expect(false, `${where}: ${complaint}`);
}
for (const [name, {where}] of must_fail) expect(complaints.has(name), `${where} is taken; the check checks nothing`);
expect(!complaints.has('grafana.ts'), `grafana.ts: ${complaints.get('grafana.ts')}`);
if (process.env.KEEP) console.log('kept: ' + pathToFileURL(scratch));
else fs.rmSync(scratch, {recursive: true});

console.log(`${manifests.length} manifests and ${found.length} dashboards: ${failed === 0 ? 'as their schemas say' : failed + ' failed'}`);
process.exit(failed === 0 ? 0 : 1);
