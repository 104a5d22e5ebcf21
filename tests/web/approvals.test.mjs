// Approvals: a job that admission refuses is approved on the page by somebody else, runs once with the token that the
// page shows, and not again; nobody approves what they asked for themselves.
//
//   SHOTS   a folder for pictures of the page
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {promisify} from 'node:util';
import {axe, axe_in_themes, enter, go, launch, open, program, serve, SIZES, THEMES, too_wide} from './browser.mjs';

const run = promisify(execFile);
const RUNNING = {restartPolicy: 'Never', containers: [{name: 'train', image: 'train:1', resources: {limits: {'nvidia.com/gpu': '8', cpu: '16', memory: '64Gi'}}}]};

const job = (name, token) => ({
  apiVersion: 'batch/v1', kind: 'Job',
  metadata: {name, namespace: 'ml', labels: {team: 'nlp'}, ...(token ? {annotations: {'pennyweight.io/approval': token}} : {})},
  spec: {activeDeadlineSeconds: 3600, template: {metadata: {labels: {team: 'nlp'}}, spec: structuredClone(RUNNING)}},
});

describe('approvals', {skip: !program && 'needs the program', timeout: 300_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('approvals', {own: true});
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  // What the API server would ask, as the user kim.
  async function admit(made) {
    const answer = await fetch(`http://127.0.0.1:${server.admission}/validate`, {
      method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: {
        uid: 'u-1', kind: {group: 'batch', version: 'v1', kind: 'Job'}, operation: 'CREATE', namespace: 'ml', name: made.metadata.name,
        userInfo: {username: 'kim'}, object: made, oldObject: null, dryRun: false}}),
    });
    const {response} = await answer.json();
    return {allowed: response.allowed, message: response.status?.message ?? ''};
  }
  async function somebody(t, more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await enter(page, 'finance-web', server.people['finance-web']);
    return page;
  }
  const row = (page, text) => page.locator('tbody tr', {hasText: text});
  const picture = async (page, name) => process.env.SHOTS && page.screenshot({path: path.join(process.env.SHOTS, `${name}.png`)});
  async function open_request(page, text) {
    await row(page, text).getByRole('button', {name: /^Open/}).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Stopped by').waitFor();
    return dialog;
  }
  async function token_on(dialog) {
    const shown = dialog.locator('.approval-token');
    await shown.waitFor();
    return (await shown.innerText()).trim();
  }

  test('from a refusal to a running job', async (t) => {
    // In CI: what is wrong is told before anything is sent, and the request can be filed there.
    const file = path.join(server.folder, 'train.json');
    fs.writeFileSync(file, JSON.stringify(job('train')));
    const checked = await run(program, ['guard', 'check', file, '--request', 'the yearly run'], {cwd: server.folder}).catch((error) => error);
    assert.equal(checked.code, 1, checked.stdout);
    const inCi = /ap-[0-9a-f]{16}/.exec(checked.stdout)[0];
    const refused = await admit(job('train'));
    assert.ok(!refused.allowed && refused.message.includes('8 GPUs are more than 4'), refused.message);
    const asked = /ap-[0-9a-f]{16}/.exec(refused.message)[0];
    assert.notEqual(inCi, asked, 'kim asked for it, and whoever ran CI');

    const page = await somebody(t);
    await go(page, '/approvals', 'Approvals');
    assert.equal(await row(page, 'Job ml/train').count(), 2);
    assert.deepEqual(await axe_in_themes(page), []);
    await picture(page, 'approvals-list');
    let dialog = await open_request(page, 'kubernetes:kim');
    assert.match(await dialog.innerText(), /Cost at most\s+\d+\.\d\d USD a run/);
    assert.match(await dialog.innerText(), /Budget everything\s+50,000\.00 USD left, 49,99\d\.\d\d USD after it/);
    assert.deepEqual(await axe(page), []);
    await dialog.getByRole('button', {name: 'Refuse'}).click();
    await dialog.getByText('a refusal needs a note').waitFor();
    await dialog.getByLabel('Note').fill('in the plan');
    await dialog.getByRole('button', {name: 'Approve'}).click();
    const token = await token_on(dialog);
    assert.match(token, new RegExp(`^${asked}\\.[0-9a-f]{64}$`));
    assert.match(await dialog.innerText(), /Approved by\s+finance-web.*once: in the plan/s);
    assert.equal(await dialog.getByLabel('Note').inputValue(), '', 'the note was of this decision');
    await picture(page, 'approvals-approved');
    await dialog.getByRole('button', {name: 'Close'}).click();

    const changed = job('train', token);
    changed.spec.template.spec.containers[0].image = 'train:2';
    for (const [what, made, says] of [
      ['tampered', job('train', token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')), 'not the right one'],
      ['another name', job('other', token), 'was changed'], ['another image', changed, 'was changed']]) {
      const answer = await admit(made);
      assert.ok(!answer.allowed && answer.message.includes(says), `${what}: ${answer.message}`);
    }
    assert.deepEqual(await admit(job('train', token)), {allowed: true, message: ''});
    const replayed = await admit(job('train', token));
    assert.ok(!replayed.allowed && replayed.message.includes('was used at'), replayed.message);
    await page.getByRole('button', {name: 'used', exact: true}).or(page.getByRole('radio', {name: 'used'})).first().click();
    dialog = await open_request(page, 'Job ml/train');
    assert.match(await dialog.innerText(), /Used by\s+kubernetes:kim/);
    assert.equal(await dialog.locator('.approval-token').count(), 0, 'a token that is used up is not shown');
    assert.equal(await dialog.getByRole('button', {name: /Approve|Refuse|Take back/}).count(), 0);
    assert.deepEqual(await page.complaints(), []);
  });

  test('nobody approves their own request, and an approval can be taken back', async (t) => {
    const page = await somebody(t);
    await go(page, '/approvals', 'Approvals');
    const own = await page.evaluate(async (manifest) => {
      const {csrf} = await (await fetch('/api/v1/session')).json();
      const answer = await fetch('/api/v1/approvals', {method: 'POST', headers: {'Content-Type': 'application/json', 'X-CSRF-Token': csrf},
        body: JSON.stringify({manifest, reason: 'mine', namespace: 'ml'})});
      return (await answer.json()).data[0].approval;
    }, JSON.stringify(job('mine')));
    await go(page, '/approvals', 'Approvals');
    let dialog = await open_request(page, 'Job ml/mine');
    await dialog.getByRole('button', {name: 'Approve'}).click();
    await dialog.getByText('nobody approves their own request').waitFor();
    await picture(page, 'approvals-own');
    await dialog.getByRole('button', {name: 'Close'}).click();
    assert.equal((await (await page.request.get(`/api/v1/approvals/${own}`)).json()).state, 'pending');

    await admit(job('back'));
    await go(page, '/approvals', 'Approvals');
    dialog = await open_request(page, 'Job ml/back');
    await dialog.getByLabel(/may be used until its end/).check();
    await dialog.getByRole('button', {name: 'Approve'}).click();
    const token = await token_on(dialog);
    assert.ok((await admit(job('back', token))).allowed);
    assert.ok((await admit(job('back', token))).allowed, 'until its end');
    await dialog.getByLabel('Note').fill('no longer');
    await dialog.getByRole('button', {name: 'Take back'}).click();
    await dialog.getByText('Refused by').waitFor();
    const later = await admit(job('back', token));
    assert.ok(!later.allowed && later.message.includes('was refused by finance-web'), later.message);
  });

  test('fits a phone and both themes', {skip: !process.env.SHOTS && 'pages.test.mjs looks at the list'}, async (t) => {
    await admit(job('phone'));
    for (const size of Object.keys(SIZES)) {
      for (const theme of THEMES) {
        const page = await somebody(t, {size, theme});
        await go(page, '/approvals', 'Approvals');
        assert.equal(await too_wide(page), 0);
        await picture(page, `list-${size}-${theme}`);
        await open_request(page, 'Job ml/phone');
        assert.equal(await too_wide(page), 0);
        await picture(page, `open-${size}-${theme}`);
      }
    }
  });
});
