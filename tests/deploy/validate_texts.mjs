// Holds Kubernetes objects that were made elsewhere to their schemas: Kubernetes' own and Karpenter's,
// from npm's kubernetes-models. A key that the schema doesn't have is refused by the TypeScript
// compiler, as in test_schemas.mjs.
//
//   node validate_texts.mjs ROOT FILE.yaml ...     exits 77 where `npm ci` was not run in this folder
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const [root, ...files] = process.argv.slice(2);
const tops = createRequire(path.resolve(root, 'package.json'));
const KUBERNETES = 'kubernetes-models';
const KARPENTER = '@kubernetes-models/karpenter';
// Of each apiVersion, the package and where it is in it.
const MODULES = {
  v1: [KUBERNETES, 'v1'],
  'admissionregistration.k8s.io/v1': [KUBERNETES, 'admissionregistration.k8s.io/v1'],
  'apps/v1': [KUBERNETES, 'apps/v1'],
  'autoscaling/v2': [KUBERNETES, 'autoscaling/v2'],
  'karpenter.sh/v1': [KARPENTER, 'karpenter.sh/v1'],
};

const yaml = tops('js-yaml');
let failed = 0;
const sources = [];
for (const file of files) {
  const document = yaml.load(fs.readFileSync(file, 'utf8'));
  const [name, version] = MODULES[document.apiVersion] ?? [];
  if (name && !fs.existsSync(path.join(here, 'node_modules', name))) {
    console.log(`skipped: ${name} is not installed: npm ci --prefix tests/deploy`);
    process.exit(77);
  }
  const module = `${name}/${version}`;
  const Kind = name ? (await import(module))[document.kind] : undefined;
  if (!Kind) {
    console.error(`${file}: ${document.apiVersion} ${document.kind} is not known here`);
    failed += 1;
    continue;
  }
  try {
    new Kind(document).validate();
  } catch (error) {
    console.error(`${file}: ${error.message}`);
    failed += 1;
  }
  sources.push(`import type {I${document.kind} as It} from '${module}';\nexport const it: It = ${JSON.stringify(document, null, 1)};\n`);
}
const scratch = fs.mkdtempSync(path.join(here, 'node_modules', '.check-'));
const paths = sources.map((source, index) => {
  const file = path.join(scratch, `text_${index}.ts`);
  fs.writeFileSync(file, source);
  return file;
});
const tsc = tops.resolve('typescript/bin/tsc');
const checked = spawnSync(process.execPath, [tsc, '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--moduleResolution', 'nodenext', '--target', 'es2022', ...paths], {encoding: 'utf8'});
if (checked.status !== 0) {
  console.error(checked.stdout + checked.stderr);
  failed += 1;
}
fs.rmSync(scratch, {recursive: true});
console.log(`${files.length} objects: ${failed === 0 ? 'as their schemas say' : failed + ' failed'}`);
process.exit(failed === 0 ? 0 : 1);
