// Five people and what each comes for, eight tasks each, done by what the pages show and nothing else, on a small
// ledger, on one of three clusters, 20 teams, six months and two currencies, and on one of 479 teams. Each task begins
// at Home; its clicks are counted, and it is done when the page shows the answer.
//
//   LEDGERS=large,wide   only these
//   BY=keys              by the keyboard alone: Tab, Enter, Space and arrows; no mouse
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {CALM_MS, enter, follow, go, isFirefox, launch, open, program, serve, settled} from './browser.mjs';

const CLICKS_MOST = 3;

// [task, clicks, what the page then says]. A click is "KIND NAME": a tab, link or button by its name, "why" beside a
// figure, "row" the first link of a table, "choose LABEL=VALUE" of a list.
const RUNS = 'tab My runs';
const FLEET = 'tab Fleet health';
const CLIENTS = 'tab My clients';
const LEDGERS = {
  currencies: {team: 'nlp', user: 'ana', colleague: 'bo', nodes: /gpu-03[\s\S]*gpu-01[\s\S]*gpu-02/, gpus: 24, month: 'March 2026', next: 'March 2026', closed: ['button ^Previous month'], invoice: 'NW-2026-02-0001'},
  large: {team: 'team-000', user: 'user-000', colleague: 'user-000-1', nodes: /(lab|hpc|edge)-gpu-0/, gpus: 192, month: 'June 2026', next: 'June 2026', closed: ['choose Month=2026-01'], invoice: 'NW-2026-01-0001'},
};
LEDGERS.wide = LEDGERS.large;
const ONLY = process.env.LEDGERS?.split(',') ?? Object.keys(LEDGERS);
const BY_KEYS = process.env.BY === 'keys';

const trials_of = (of) => ({
  'data scientist': ['team-lead-web', [
    ['what my runs cost', [RUNS], /Cost so far\s*\$[\d,.]+/],
    ['which of them cost most', [RUNS], /Run\s+Cost[\s\S]*[$€]\d/],
    ['how much of it was not used', [RUNS], /Idle\s*\$/],
    ['why it is that much', [RUNS, 'why Cost so far'], /is the sum of \d+ postings/],
    ['what an hour of a GPU costs me', [RUNS, 'why Cost so far'], /GPU-hours × \d+\.\d{4}/],
    ['when the dearest run ran, and how it ended', [RUNS, 'row Runs'], /Attempts[\s\S]*Ended/i],
    ["a colleague's runs", [RUNS, `choose User=${of.colleague}`], /Run\s+Cost[\s\S]*[$€]\d/],
    ['an address for the experiment tracker', [RUNS, 'button ^Link: copy'], /Address copied/],
  ]],
  'team lead': ['team-lead-web', [
    ['what the team cost', [], /Cost\s*\$[\d,.]+/],
    ['whether that is more than before', [], /Same days before\s*\$[\d,.]+/],
    ['who spends it', [], new RegExp(`Who[\\s\\S]*${of.user}`)],
    ['how the budgets stand', [], new RegExp(`Budgets[\\s\\S]*team=${of.team}`)],
    ['why it differs from the month before', [`link ^Why ${of.month} differs`], /From before to now[\s\S]*Quantity/],
    ['what one person ran', ['row Cost by user'], /Cost so far[\s\S]*Runs/],
    ['what the next months will cost', ['link ^Forecast'], /Forecast/],
    ['how many GPU-hours we held', ['link ^Activity'], new RegExp(`GPU-hours[\\s\\S]*${of.team}|${of.team}[\\s\\S]*GPU-hours`, 'i')],
  ]],
  'FinOps analyst': ['finance-web', [
    ['whether the bill is accounted for', [], /posted to its last digit\s+The bill minus its postings is zero/],
    ['which rows could not be read', ['link ^No row was set aside'], /bad\.txt/],
    ['how much reaches an owner', ['link ^Coverage'], /GPU spend reaches a team/],
    ['what changed', ['link ^What changed'], /From before to now[\s\S]*Price/],
    ['the same in euros', ['choose Currency=EUR'], /Cost\s*€[\d,.]+/],
    ['the whole cost by team and day', ['link ^Explore'], new RegExp(`${of.team}[\\s\\S]*Total`)],
    ['a bill line down to its owners', ['link ^Bills', 'button ^All$', 'row Charges and their postings'], /is the sum of/],
    ['whether the earlier month is closed', of.closed, /The month is closed\s+By fixture/],
  ]],
  'cluster admin': ['admin', [
    ['what becomes of the money', [FLEET], /Money by cause/],
    ['who holds GPUs and does not use them', [FLEET], /who holds its GPUs is not known/],
    ['how long jobs wait', [FLEET], /Waited on average/],
    ['the state of every GPU', [FLEET, 'link ^Every GPU'], new RegExp(`Not watched\\s*${of.gpus}`)],
    ['which node is used most', ['link ^Activity', 'choose By=node'], of.nodes],
    ['what is missing to see live figures', ['tab Getting started'], /Kubernetes or Slurm[\s\S]*to do/],
    ['what needs somebody now', ['link ^Alerts'], /Alerts/],
    ['who changed something last', ['link ^Admin', 'tab Audit log'], /session|sign/i],
  ]],
  'agency owner': ['finance-web', [
    ['what I earn', [CLIENTS], /Margin\s*−?[€$]/],
    ['which clients cost what', [CLIENTS], new RegExp(`${of.team}[\\s\\S]*\\(not charged\\)`)],
    ['the invoices of the earlier month', [CLIENTS, ...of.closed], new RegExp(of.invoice)],
    ["a client's invoice", [CLIENTS, ...of.closed, `link ^${of.invoice}`], new RegExp(`${of.invoice}[\\s\\S]*Print`)],
    ['how the month adds up to the bill', ['link ^Invoices', `link ^${of.invoice}`, "button ^Books'"], /not for customers/],
    ['what the month will be charged', [CLIENTS, 'link ^Drafts'], new RegExp(`Drafts for ${of.next}[\\s\\S]*${of.team}`)],
    ['the lines of a draft', [CLIENTS, 'link ^Drafts', `button ^${of.team}`], /Total (USD|EUR)/],
    ['whether all invoices are out', [], /invoices are issued/],
  ]],
});

// Where the focus goes by Tab until it is on the element; from where it is, and round once.
const TABS_MOST = 400;
async function tab_to(page, target, what) {
  await target.waitFor();
  for (let i = 0; i < TABS_MOST; ++i) {
    if (await target.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${TABS_MOST} times Tab do not lead to ${what}`);
}

// What a page's main thread has worked so far, whatever else the machine does.
async function thread_clock(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', {timeDomain: 'threadTicks'});
  return async () => (await devtools.send('Performance.getMetrics')).metrics.find(({name}) => name === 'TaskDuration').value * 1000;
}

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

function target_of(page, kind, name) {
  if (kind === 'why') return page.locator('.figure', {has: page.getByText(name, {exact: true})}).locator('.why').first();
  if (kind === 'row') return page.getByRole('region', {name, exact: true}).locator('tbody a:not(.why)').first();
  return page.getByRole(kind, {name: kind === 'tab' ? name : new RegExp(name)}).first();
}

async function click(page, step) {
  const [, kind, name] = /^(\w+) (.*)$/.exec(step);
  if (kind === 'choose') {
    const [label, value] = name.split('=');
    const list = page.getByRole('combobox', {name: label, exact: true}).first();
    if (!BY_KEYS) return list.selectOption(value);
    await tab_to(page, list, step);
    // A list is chosen from by what its options begin with.
    const text = await list.evaluate((one, wanted) => [...one.options].find((option) => option.value === wanted)?.textContent, value);
    assert.ok(text, step);
    await page.keyboard.type(text.slice(0, 24), {delay: 5});
    return assert.equal(await list.inputValue(), value, `${step}: typed ${text}`);
  }
  const target = target_of(page, kind, name);
  if (!BY_KEYS) return target.click();
  if (kind === 'tab') {
    // Tab leads to the chosen one of a list of tabs, and arrows to the others.
    const chosen = page.locator('[role=tablist]', {has: target}).locator('[aria-selected=true]');
    await tab_to(page, chosen, `${step}: its list`);
    for (let i = 0; i < 12 && (await target.getAttribute('aria-selected')) !== 'true'; ++i) {
      await page.keyboard.press('ArrowRight');
      await page.waitForTimeout(60);
      if (await page.locator('[role=tablist]', {has: target}).locator('[role=tab]').last().getAttribute('aria-selected') === 'true' && (await target.getAttribute('aria-selected')) !== 'true') break;
    }
    for (let i = 0; i < 12 && (await target.getAttribute('aria-selected')) !== 'true'; ++i) {
      await page.keyboard.press('ArrowLeft');
      await page.waitForTimeout(60);
    }
    return assert.equal(await target.getAttribute('aria-selected'), 'true', step);
  }
  await tab_to(page, target, step);
  await page.keyboard.press('Enter');
}

for (const [ledger, of] of Object.entries(LEDGERS)) {
  describe(`trials, ${ledger}${BY_KEYS ? ', by keys' : ''}`, {skip: (!program && 'needs the program') || (!ONLY.includes(ledger) && 'not asked for'), timeout: 3_000_000}, () => {
    let server;
    before(async () => {
      server = await serve(ledger);
    });
    after(() => server?.stop());

    for (const [who, [name, tasks]] of Object.entries(trials_of(of))) {
      test(who, async (t) => {
        assert.ok(tasks.length >= 8);
        const page = await open(browser, {url: server.url});
        t.after(() => page.context().close());
        // How long clicks and keys take until the next picture, as browsers measure it.
        await page.addInitScript(() => {
          window.took = [];
          new PerformanceObserver((list) => window.took.push(...list.getEntries().filter((one) => one.interactionId > 0).map((one) => one.duration)))
            .observe({type: 'event', durationThreshold: 16, buffered: true});
        });
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await enter(page, name, server.people[name]);
        await go(page, '/home', 'Home');
        let clicks = 0;
        const took = [];
        const waits = []; // from a click until the page has settled
        const worked = []; // the processor time of the page's main thread in that time
        const thread_ms = isFirefox ? async () => 0 : await thread_clock(page);
        for (const [task, steps, answer] of tasks) {
          assert.ok(steps.length <= CLICKS_MOST, task);
          await (BY_KEYS ? go : follow)(page, '/home', 'Home');
          for (const step of steps) {
            const worked_before = await thread_ms();
            await click(page, step).catch((error) => assert.fail(`${task}, ${step}: ${error.message}`));
            const begun = Date.now();
            await settled(page);
            waits.push(Date.now() - begun - CALM_MS); // settled() waits for that
            worked.push(await thread_ms() - worked_before);
          }
          const end = Date.now() + 60_000;
          while (!answer.test(await page.locator('body').innerText())) {
            assert.ok(Date.now() < end, `${task}: ${answer} is not in\n${(await page.locator('body').innerText()).slice(0, 1500)}`);
            await page.waitForTimeout(100);
          }
          clicks += steps.length;
          took.push(...await page.evaluate(() => window.took?.splice(0) ?? []));
        }
        const p95 = (some) => some.sort((a, b) => a - b)[Math.floor(some.length * 0.95)] ?? 0;
        t.diagnostic(`${tasks.length} tasks, ${clicks} clicks; settled after ${Math.max(...waits, 0)} ms at most; ${took.length} interactions, p95 ${p95(took)} ms${isFirefox ? '' : `; main thread, from a click until all is there: p95 ${Math.round(p95(worked))} ms of its processor time`}`);
        assert.deepEqual(await page.complaints(), []);
      });
    }
  });
}
