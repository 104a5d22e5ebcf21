// Five people and what each comes for, eight tasks each, done by what the pages show and nothing else. Each task
// begins at Home; its clicks are counted, and it is done when the page shows the answer.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {launch, open, program, serve, settled, sign_in} from './browser.mjs';

const CLICKS_MOST = 3;

// [task, clicks, what the page then says]. A click is "KIND NAME": a tab, link or button by its name, "why" beside a
// figure, "row" the first link of a table, "choose LABEL=VALUE" of a list.
const RUNS = 'tab My runs';
const FLEET = 'tab Fleet health';
const CLIENTS = 'tab My clients';
const TRIALS = {
  'data scientist': ['team-lead-web', [
    ['what my runs cost', [RUNS], /Cost so far\s*\$[\d,.]+/],
    ['which of them cost most', [RUNS], /Run\s+Cost[\s\S]*\$\d/],
    ['how much of it was not used', [RUNS], /Idle\s*\$/],
    ['why it is that much', [RUNS, 'why Cost so far'], /is the sum of \d+ postings/],
    ['what an hour of a GPU costs me', [RUNS, 'why Cost so far'], /GPU-hours × \d+\.\d{4}/],
    ['when the dearest run ran, and how it ended', [RUNS, 'row Runs'], /Attempts[\s\S]*Ended/i],
    ["a colleague's runs", [RUNS, 'choose User=bo'], /Run\s+Cost[\s\S]*\$\d/],
    ['an address for the experiment tracker', [RUNS, 'button ^Link: copy'], /Address copied/],
  ]],
  'team lead': ['team-lead-web', [
    ['what the team cost', [], /Cost\s*\$[\d,.]+/],
    ['whether that is more than before', [], /Same days before\s*\$[\d,.]+/],
    ['who spends it', [], /Who[\s\S]*ana/],
    ['how the budgets stand', [], /Budgets[\s\S]*team=nlp/],
    ['why it differs from the month before', ['link ^Why March 2026 differs'], /From before to now[\s\S]*Quantity/],
    ['what one person ran', ['row Cost by user'], /Cost so far[\s\S]*Runs/],
    ['what the next months will cost', ['link ^Forecast'], /Forecast/],
    ['how many GPU-hours we held', ['link ^Activity'], /GPU-hours[\s\S]*nlp|nlp[\s\S]*GPU-hours/i],
  ]],
  'FinOps analyst': ['finance-web', [
    ['whether the bill is accounted for', [], /posted to its last digit\s+The bill minus its postings is zero/],
    ['which rows could not be read', ['link ^No row was set aside'], /bad\.txt/],
    ['how much reaches an owner', ['link ^Coverage'], /GPU spend reaches a team/],
    ['what changed', ['link ^What changed'], /From before to now[\s\S]*Price/],
    ['the same in euros', ['choose Currency=EUR'], /Cost\s*€[\d,.]+/],
    ['the whole cost by team and day', ['link ^Explore'], /nlp[\s\S]*Total/],
    ['a bill line down to its owners', ['link ^Bills', 'button ^All$', 'row Charges and their postings'], /is the sum of/],
    ['whether February is closed', ['button ^Previous month'], /The month is closed\s+By fixture/],
  ]],
  'cluster admin': ['admin', [
    ['what becomes of the money', [FLEET], /Money by cause/],
    ['who holds GPUs and does not use them', [FLEET], /who holds its GPUs is not known/],
    ['how long jobs wait', [FLEET], /Waited on average/],
    ['the state of every GPU', [FLEET, 'link ^Every GPU'], /Not watched\s*24/],
    ['which node is used most', ['link ^Activity', 'choose By=node'], /gpu-01[\s\S]*gpu-03/],
    ['what is missing to see live figures', ['tab Getting started'], /Kubernetes or Slurm[\s\S]*to do/],
    ['what needs somebody now', ['link ^Alerts'], /Alerts/],
    ['who changed something last', ['link ^Admin', 'tab Audit log'], /session|sign/i],
  ]],
  'agency owner': ['finance-web', [
    ['what I earn', [CLIENTS], /Margin\s*−?[€$]/],
    ['which clients cost what', [CLIENTS], /nlp[\s\S]*\(not charged\)/],
    ['the invoices of February', [CLIENTS, 'button ^Previous month'], /NW-2026-02-0001/],
    ["a client's invoice", [CLIENTS, 'button ^Previous month', 'link ^NW-2026-02-0001'], /NW-2026-02-0001[\s\S]*Print/],
    ['how the month adds up to the bill', ['link ^Invoices', 'link ^NW-2026-02-0001', "button ^Books'"], /not for customers/],
    ['what March will be charged', [CLIENTS, 'link ^Drafts'], /Drafts for March 2026[\s\S]*nlp/],
    ['the lines of a draft', [CLIENTS, 'link ^Drafts', 'button ^nlp'], /Total (USD|EUR)/],
    ['whether all invoices are out', [], /invoices are issued/],
  ]],
};

let browser;
let server;
before(async () => {
  browser = await launch();
  server = program ? await serve('currencies') : null;
});
after(async () => {
  await browser.close();
  await server?.stop();
});

describe('trials', {skip: !program && 'needs the program', timeout: 800_000}, () => {
  async function click(page, step) {
    const [, kind, name] = /^(\w+) (.*)$/.exec(step);
    if (kind === 'choose') {
      const [label, value] = name.split('=');
      return page.getByLabel(label, {exact: true}).first().selectOption(value);
    }
    if (kind === 'why') return page.locator('.figure', {has: page.getByText(name, {exact: true})}).locator('.why').first().click();
    if (kind === 'row') return page.getByRole('region', {name, exact: true}).locator('tbody a:not(.why)').first().click();
    return page.getByRole(kind, {name: kind === 'tab' ? name : new RegExp(name)}).first().click();
  }

  for (const [who, [name, tasks]] of Object.entries(TRIALS)) {
    test(who, async (t) => {
      assert.ok(tasks.length >= 8);
      const page = await open(browser, {url: server.url});
      t.after(() => page.context().close());
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await sign_in(page, name, server.people[name]);
      let clicks = 0;
      for (const [task, steps, answer] of tasks) {
        assert.ok(steps.length <= CLICKS_MOST, task);
        await page.goto('/home');
        await settled(page, 'Home');
        for (const step of steps) {
          await click(page, step).catch((error) => assert.fail(`${task}, ${step}: ${error.message}`));
          await settled(page);
        }
        const end = Date.now() + 15_000;
        while (!answer.test(await page.locator('body').innerText())) {
          assert.ok(Date.now() < end, `${task}: ${answer} is not in\n${(await page.locator('body').innerText()).slice(0, 1500)}`);
          await page.waitForTimeout(100);
        }
        clicks += steps.length;
      }
      t.diagnostic(`${tasks.length} tasks, ${clicks} clicks`);
      assert.deepEqual(await page.complaints(), []);
    });
  }
});
