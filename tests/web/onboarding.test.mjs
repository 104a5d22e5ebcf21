// From an empty ledger to figures without the command line: a bill, an inventory and a list of jobs are uploaded,
// seen, imported and divided, and the ledger is then the one that `import` and `allocate` make of the same files.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import zlib from 'node:zlib';
import {axe, enter, go, launch, open, program, root, serve, settled, sign_in, too_wide, until} from './browser.mjs';

const DATA = path.join(root, 'tests/data/cli');
const UNPACKED_MOST = 2 ** 30;

let browser;
let server;
let folder; // of the files, and of a ledger made by the command line
const run = (...words) => execFileSync(program, words, {cwd: folder, encoding: 'utf8'});

describe('onboarding', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  before(async () => {
    browser = await launch();
    server = await serve('empty', {own: true});
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pennyweight-onboarding-'));
    for (const name of ['pennyweight.yaml', 'card.csv']) fs.copyFileSync(path.join(server.folder, name), path.join(folder, name));
    for (const name of ['nodes.csv', 'jobs.txt']) fs.copyFileSync(path.join(DATA, name), path.join(folder, name));
    run('generate', 'bill', '--nodes', 'nodes.csv', '--from', '2026-03-01', '--to', '2026-03-31', '--prices-as-of', '2026-07-20', '--out', 'march.csv');
  });
  after(async () => {
    await browser.close();
    await server.stop();
    if (folder) fs.rmSync(folder, {recursive: true, force: true});
  });

  test('an empty ledger is filled in the browser', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await sign_in(page, 'admin', server.people.admin);
    await settled(page, 'Home'); // where a sign-in leads
    assert.equal(await page.locator('[role=tab][aria-selected=true]').textContent(), 'Getting started');

    await page.getByLabel('Files to import').setInputFiles(['march.csv', 'nodes.csv', 'jobs.txt'].map((name) => path.join(folder, name)));
    const item = (name) => page.locator(`.upload[aria-label="${name}"]`);
    for (const [name, format] of [['nodes.csv', /node|inventor/i], ['jobs.txt', /Slurm/], ['march.csv', /FOCUS/]]) {
      await item(name).getByText('not imported yet').waitFor();
      assert.match(await item(name).innerText(), format);
    }
    const {data: before} = await (await page.request.get('/api/v1/imports')).json();
    assert.deepEqual(before, [], 'looking imports nothing');
    assert.match(await item('jobs.txt').innerText(), /records? of who held GPUs, [\d,.]+ GPU-hours/);
    const rows = fs.readFileSync(path.join(folder, 'march.csv'), 'utf8').trim().split('\n').length - 1;
    assert.match(await item('march.csv').locator('.upload-equation').innerText(), new RegExp(`${rows.toLocaleString('en')} rows in the file`));
    assert.ok(await too_wide(page) <= 0);
    assert.deepEqual(await axe(page), []);
    if (process.env.SHOTS) await page.screenshot({path: path.join(process.env.SHOTS, 'upload-seen.png'), fullPage: true});

    for (const name of ['nodes.csv', 'jobs.txt', 'march.csv']) {
      await item(name).getByRole('button', {name: 'Import', exact: true}).click();
      await item(name).getByText('imported', {exact: true}).waitFor();
    }
    await page.getByRole('button', {name: /^Divide 1 open month/}).click();
    await page.getByText('1 month divided').waitFor();
    for (const title of ['A bill', 'The machines', 'What ran', 'An allocation']) await page.locator('.todo', {hasText: title}).getByText('done').waitFor();
    if (process.env.SHOTS) await page.screenshot({path: path.join(process.env.SHOTS, 'upload-done.png'), fullPage: true});

    // The same as the command line makes of the same files.
    run('import', '--cluster', 'lab', 'nodes.csv', 'jobs.txt');
    run('import', 'march.csv');
    run('allocate');
    const [uploaded, typed] = [server.folder, folder].map((cwd) => execFileSync(program, ['report', '--by', 'team,user,kind', '--cost', 'all', '--format', 'json'], {cwd, encoding: 'utf8'}));
    assert.equal(uploaded, typed);
    const [{equation}] = (await (await page.request.get('/api/v1/imports')).json()).data;
    assert.equal(equation.in_files.rows, rows);
    assert.equal(equation.taken.rows, rows);

    // Who did it is in the audit log; no file is left.
    const {data: entries} = await (await page.request.get('/api/v1/audit?limit=100')).json();
    for (const [action, count] of [['import.intent', 3], ['import', 3], ['allocate.intent', 1]]) {
      assert.equal(entries.filter((one) => one.action === action && one.actor === 'admin').length, count, action);
    }
    assert.deepEqual(fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith('pennyweight-upload')), []);

    await page.getByRole('link', {name: 'Overview', exact: true}).click();
    await settled(page, 'Overview');
    await page.locator('.figure', {hasText: 'Spend'}).first().waitFor();
    assert.deepEqual(await page.complaints(), []);
  });

  test('a Parquet bill is the bytes that were sent, whatever the server has under its name', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    const {csrf} = await (await page.request.get('/api/v1/session')).json();
    const sent = fs.readFileSync(path.join(root, 'tests/data/aws/cur2.parquet'));
    const preview = (query) => page.request.post(`/api/v1/imports?preview=true&${query}`, {data: sent, headers: {'X-CSRF-Token': csrf, 'Content-Type': 'application/octet-stream'}});
    const first = await (await preview('name=new.parquet')).json();
    assert.equal(first.format, 'aws-parquet', JSON.stringify(first));
    assert.ok(first.equation.taken.rows > 0);
    fs.writeFileSync(path.join(server.folder, 'older.parquet'), 'another file');
    const second = await (await preview('name=older.parquet')).json();
    assert.deepEqual({...second, name: ''}, {...first, name: ''});
    fs.copyFileSync(path.join(root, 'tests/data/aws/cur2.parquet'), path.join(server.folder, 'secret.parquet'));
    const other = await page.request.post('/api/v1/imports?preview=true&format=aws-parquet&name=secret.parquet', {data: Buffer.from('PAR1 not a bill'), headers: {'X-CSRF-Token': csrf, 'Content-Type': 'application/octet-stream'}});
    assert.equal(other.status(), 422, await other.text());
    assert.doesNotMatch((await other.json()).detail, /\/proc|\/tmp/);
  });

  test('a capture is of the time at which its file was changed', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    const {csrf} = await (await page.request.get('/api/v1/session')).json();
    const pod = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p', namespace: 'n', uid: 'u-1', creationTimestamp: '2026-03-10T00:00:00Z'},
      spec: {nodeName: 'n1', containers: [{name: 'c', resources: {limits: {'nvidia.com/gpu': '2'}}}]},
      status: {phase: 'Running', startTime: '2026-03-10T00:00:00Z', conditions: [{type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-03-10T00:00:00Z'}]}};
    const node = {apiVersion: 'v1', kind: 'Node', metadata: {name: 'n1', uid: 'n-1', creationTimestamp: '2026-03-01T00:00:00Z'},
      status: {capacity: {cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '2'}, allocatable: {cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '2'}}};
    const send = (query) => page.request.post(`/api/v1/imports?preview=true&cluster=k8s&name=pods.json${query}`,
      {data: JSON.stringify({apiVersion: 'v1', kind: 'List', items: [node, pod]}), headers: {'X-CSRF-Token': csrf, 'Content-Type': 'application/octet-stream'}});
    const seen = await (await send('&changed=2026-03-12T00:00:00Z')).json();
    assert.equal(Number(seen.gpu_hours), 96, JSON.stringify(seen)); // 2 GPUs for 2 days
    assert.match(seen.remarks.join(), /taken to be of 2026-03-12T00:00:00Z/);
    const unknown = await send('');
    assert.equal(unknown.status(), 422, await unknown.text());
    assert.match((await unknown.json()).detail, /do not say when they were listed/);
    assert.equal((await send('&changed=yesterday')).status(), 422);
  });

  test('rows set aside are all counted, and what is confirmed is what was shown', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    const {csrf} = await (await page.request.get('/api/v1/session')).json();
    const send = (query, data) => page.request.post(`/api/v1/imports?name=march.csv${query}`, {data, headers: {'X-CSRF-Token': csrf, 'Content-Type': 'application/octet-stream'}});
    const lines = fs.readFileSync(path.join(folder, 'march.csv'), 'utf8').trim().split('\n');
    const broken = lines.map((line, i) => (i > 0 && i <= 12 ? line.slice(0, line.lastIndexOf(',')) : line));
    const aside = await (await send('&preview=true', broken.join('\n'))).json();
    assert.equal(aside.rejected, 12, JSON.stringify(aside));
    assert.equal(aside.first_rejected.length, 5);

    // Half of the month is gone.
    const half = [lines[0], ...lines.slice(1, lines.length / 2)].join('\n');
    const seen = await (await send('&preview=true', half)).json();
    assert.ok(seen.needs_confirm.length > 0, JSON.stringify(seen));
    assert.match(seen.confirm_key, /^[0-9a-f]{32}$/);
    const third = [lines[0], ...lines.slice(1, lines.length / 3)].join('\n');
    const changed = await send(`&confirm=${seen.confirm_key}`, third);
    assert.equal(changed.status(), 409, await changed.text());
    assert.match((await changed.json()).detail, /has changed since it was confirmed/);
    assert.equal((await send('', half)).status(), 409);
    assert.equal((await send('&confirm=true', half)).status(), 422);
    const taken = await send(`&confirm=${seen.confirm_key}`, half);
    assert.equal(taken.status(), 201, await taken.text());
    assert.deepEqual((await (await page.request.get('/api/v1/imports')).json()).data[0].months, ['2026-03']);
  });

  test('what is wrong is refused, with what to do, and nothing is imported', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    const {csrf} = await (await page.request.get('/api/v1/session')).json();
    const count = async () => (await (await page.request.get('/api/v1/imports?limit=1000')).json()).data.length;
    const send = (query, data, headers = {'X-CSRF-Token': csrf}) =>
      page.request.post(`/api/v1/imports?${query}`, {data, headers: {'Content-Type': 'application/octet-stream', ...headers}});
    const many = await count();
    const nodes = fs.readFileSync(path.join(folder, 'nodes.csv'));
    for (const name of ['../nodes.csv', 'a/b.csv', '..', 'a\\b.csv', 'a\nb.csv', '-', '', 'x'.repeat(201)]) {
      assert.equal((await send(`name=${encodeURIComponent(name)}`, nodes)).status(), 422, name);
    }
    assert.equal((await send('name=a.csv', Buffer.alloc(0))).status(), 422);
    assert.equal((await send('name=a.csv&format=nonsense', nodes)).status(), 422);
    assert.equal((await send('name=a.csv', nodes, {})).status(), 403, 'without the CSRF token');
    const nonsense = await send('name=holiday.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]));
    assert.equal(nonsense.status(), 422);
    const {detail} = await nonsense.json();
    assert.match(detail, /holiday\.jpg/);
    assert.doesNotMatch(detail, /\/proc|\/tmp/);
    // What is too large is answered, and cut off, before all of it was sent.
    const big = await send('name=big.csv', Buffer.alloc(33 * 2 ** 20, 0x61)).then((answer) => answer.status(), (error) => error.message);
    assert.match(String(big), /413|ECONNRESET|EPIPE|socket hang up/);
    const bomb = zlib.gzipSync(Buffer.alloc(UNPACKED_MOST + 1), {level: 1});
    const refused = await send('name=bomb.csv.gz', bomb);
    assert.equal(refused.status(), 422, await refused.text());
    assert.match((await refused.json()).detail, /unpacks to more than 1 GiB/);
    assert.equal(await count(), many);

    await go(page, '/home?view=start', 'Home');
    await page.getByLabel('Files to import').setInputFiles({name: 'holiday.jpg', mimeType: 'image/jpeg', buffer: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3])});
    await page.locator('.upload').getByText('refused').waitFor();
    await until(page, () => document.querySelector('.upload [role=alert]') !== null);
    assert.deepEqual(await axe(page), []);
  });
});
