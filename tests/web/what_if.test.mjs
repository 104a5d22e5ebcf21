// What if: a scenario is built by clicks, run with progress, cancelled, three are compared, and the link shows
// another person the same; somebody with a scope sees nothing of it.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {address, axe, enter, go, launch, open, program, serve, settled, too_wide} from './browser.mjs';

const MONTH = 'month=2026-03';

describe('what if', {skip: !program && 'needs the program', timeout: 900_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('full');
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  async function somebody(t, name = 'admin', more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await enter(page, name, server.people[name]);
    return page;
  }
  const card = (page, name) => page.locator('.what-if-scenarios .card', {has: page.getByRole('heading', {name})});
  const state = (page, name, wanted) => card(page, name).locator('.badge', {hasText: wanted}).waitFor({timeout: 120_000});
  async function build(page, name, fill) {
    await page.getByRole('button', {name: /^(New|Add) scenario$/}).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await fill(dialog);
    await dialog.getByRole('button', {name: 'Keep scenario'}).click();
  }
  const add = async (dialog, kind, value, field = 'How much') => {
    await dialog.getByLabel('Change', {exact: true}).selectOption(kind);
    if (field === 'Which') await dialog.getByLabel('Which').selectOption(value);
    else await dialog.getByLabel('How much').fill(value);
    await dialog.getByRole('button', {name: 'Add change'}).click();
  };

  test('built, run, compared, and shared by its link', async (t) => {
    const page = await somebody(t);
    await go(page, `/what-if?${MONTH}`, 'What if');
    await build(page, 'Half price', (dialog) => add(dialog, 'price', '50%'));
    await build(page, 'Twice the jobs', (dialog) => add(dialog, 'demand', '200%'));
    await build(page, 'Worst fit', (dialog) => add(dialog, 'placement', 'worst-fit', 'Which'));
    assert.equal(await page.getByRole('button', {name: 'Add scenario'}).count(), 0, 'three are enough');
    await page.getByRole('button', {name: 'Run all'}).click();
    for (const name of ['Half price', 'Twice the jobs', 'Worst fit']) await state(page, name, 'done');
    await settled(page, 'What if');
    const costs = page.getByRole('region', {name: /Cost by team under each scenario/});
    const header = await costs.locator('thead').first().innerText();
    for (const name of ['As it was', 'Half price', 'Twice the jobs', 'Worst fit']) assert.ok(header.includes(name), `${name} in ${header}`);

    // The page's total is the sum of the API's rows, and half of what was.
    const {data} = await (await page.request.get(`/api/v1/what-if/runs?${MONTH}`)).json();
    const run = data.find((one) => one.scenario === 'price=50%');
    const {tables} = await (await page.request.get(`/api/v1/what-if/runs/${run.id}`)).json();
    const total = tables.costs[0].total;
    const exact = await costs.locator('tfoot .num, tr.total .num').nth(1).getAttribute('title');
    assert.equal(exact.split(' ')[0], total.what_if);
    const tiers = tables.tier_costs[0];
    assert.equal(tiers.total.what_if, total.what_if, 'by tier it is the same total');
    const byTier = page.getByRole('region', {name: 'Cost by tier under each scenario'});
    assert.equal((await byTier.locator('tfoot .num, tr.total .num').nth(1).getAttribute('title')).split(' ')[0], total.what_if);
    const csv = await (await page.request.get(`/api/v1/what-if/runs/${run.id}/costs?format=csv`)).text();
    assert.equal(csv.trim().split('\n').length, tables.costs[0].rows.length + 1, 'CSV has the rows');
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await page.complaints(), []);

    // The link, by somebody else: the same results, without a run of their own.
    const link = await address(page);
    const other = await somebody(t, 'finance-web');
    await go(other, link, 'What if');
    await other.getByRole('region', {name: /Cost by team under each scenario/}).waitFor();
    assert.equal(await costs.innerText(), await other.getByRole('region', {name: /Cost by team under each scenario/}).innerText());
    const again = await other.request.get(`/api/v1/what-if/runs?${MONTH}`);
    assert.equal((await again.json()).data.length, data.length);

    // By somebody with a scope: nothing, neither on the page nor from the API.
    const lead = await somebody(t, 'team-lead-web');
    assert.equal((await lead.request.get(`/api/v1/what-if/runs/${run.id}`)).status(), 403);
    await lead.goto(link);
    await lead.getByText('You may not see this page').waitFor();
    assert.equal(await lead.locator('.what-if-scenarios').count(), 0);
    assert.equal(await lead.getByRole('link', {name: 'What if'}).count(), 0);
  });

  test('a run of another cost is no answer of the page, though it asks the same', async (t) => {
    const page = await somebody(t);
    const {csrf} = await (await page.request.get('/api/v1/session')).json();
    const ask = (more) => page.request.post('/api/v1/what-if/runs', {headers: {'X-CSRF-Token': csrf}, data: {month: '2026-03', scenario: 'price=71%', ...more}});
    for (const more of [{cost: 'list'}, {error_max: 50}]) {
      const {id} = await (await ask(more)).json();
      for (let state = ''; state !== 'done';) ({state} = await (await page.request.get(`/api/v1/what-if/runs/${id}`)).json());
    }
    await go(page, `/what-if?${MONTH}&s=${encodeURIComponent('Cheaper|price=71%')}`, 'What if');
    await page.getByRole('button', {name: 'Run Cheaper'}).click();
    await state(page, 'Cheaper', 'done');
    const {data} = await (await page.request.get(`/api/v1/what-if/runs?${MONTH}`)).json();
    const mine = data.filter((run) => run.scenario === 'price=71%');
    assert.deepEqual(mine.map((run) => [run.cost, run.error_max]).sort(), [['effective', 5], ['effective', 50], ['list', 5]].sort());
    // What the API refuses is refused by its name.
    for (const [more, field] of [[{calibration: 'spot=1%'}, 'calibration'], [{scenario: 'nodes=+15000;nodes=+15000'}, 'scenario'], [{cluster: 'x'.repeat(300)}, 'cluster']]) {
      const answer = await ask(more);
      assert.equal(answer.status(), 422);
      assert.match(await answer.text(), new RegExp(`${field}: `));
    }
    assert.deepEqual(await page.complaints(), []);
  });

  test('a long run shows how far it is, and is cancelled', async (t) => {
    const page = await somebody(t);
    await go(page, `/what-if?${MONTH}&s=${encodeURIComponent('Hundred times|demand=10000%')}`, 'What if');
    await page.getByRole('button', {name: 'Run Hundred times'}).click();
    const cancel = page.getByRole('button', {name: 'Cancel Hundred times'});
    await cancel.waitFor({timeout: 30_000});
    await page.getByText(/Waits for its turn|Replaying|Dividing/).first().waitFor({timeout: 30_000});
    await cancel.click();
    await state(page, 'Hundred times', 'cancelled');
    await page.getByRole('button', {name: 'Run Hundred times'}).waitFor(); // it can be run again
    assert.deepEqual(await page.complaints(), []);
  });

  test('a search with its frontier, a range, nodes over time, and files', async (t) => {
    const page = await somebody(t);
    await go(page, `/what-if?${MONTH}`, 'What if');
    await build(page, 'Tiers', async (dialog) => {
      await add(dialog, 'cheapest-tiers', '600');
      await add(dialog, 'committed', '60%');
      await add(dialog, 'tries', '6');
      await add(dialog, 'demand-range', '10');
    });
    await page.getByRole('button', {name: 'Run Tiers'}).click();
    await state(page, 'Tiers', 'done');
    const tiers = page.getByRole('region', {name: /Tiers: tiers/}).first();
    await tiers.waitFor();
    const {data} = await (await page.request.get(`/api/v1/what-if/runs?${MONTH}`)).json();
    const run = data.find((one) => one.scenario.startsWith('cheapest-tiers'));
    const {tables} = await (await page.request.get(`/api/v1/what-if/runs/${run.id}`)).json();
    assert.ok(tables.tiers.rows.length > 1 && tables.tiers.rows.length <= 6, 'no more replays than asked for');
    assert.equal(await page.locator('.what-if-frontier circle').count(), tables.tiers.rows.length, 'a point for each mix');
    assert.ok((await page.locator('.what-if-frontier circle[r="5"]').count()) >= 1, 'the frontier');
    await page.getByText(tables.tiers.notes[0]).first().waitFor();
    await page.getByText('These are what was replayed, not bounds').first().waitFor();
    // What nodes held, asked for when somebody opens it.
    await page.locator('.card', {hasText: 'Node by node'}).getByRole('button', {name: 'Tiers'}).click();
    await page.locator('.what-if-gantt rect').first().waitFor();
    const gantt = await (await page.request.get(`/api/v1/what-if/runs/${run.id}/gantt`)).json();
    assert.equal(await page.locator('.what-if-gantt rect').count(), gantt.tables[0].rows.length);
    const report = await page.request.get(`/api/v1/what-if/runs/${run.id}/report`);
    assert.equal(report.headers()['content-type'], 'application/pdf');
    assert.ok((await report.body()).subarray(0, 4).toString() === '%PDF');
    const parquet = await page.request.get(`/api/v1/what-if/runs/${run.id}/tiers?format=parquet`);
    assert.ok((await parquet.body()).subarray(0, 4).toString() === 'PAR1');
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await page.complaints(), []);
    if (process.env.SHOTS) await page.screenshot({path: `${process.env.SHOTS}/what-if-tiers.png`, fullPage: true});
    // A phone in the light, a desk in the dark: the desk in the light is above.
    for (const [size, theme] of [['phone', 'light'], ['desk', 'dark']]) {
      const other = await somebody(t, 'admin', {size, theme});
      await go(other, await address(page), 'What if');
      await other.locator('.what-if-frontier').first().waitFor();
      await other.locator('.card', {hasText: 'Node by node'}).getByRole('button', {name: 'Tiers'}).click();
      await other.locator('.what-if-gantt rect').first().waitFor();
      assert.ok((await too_wide(other)) <= 0, `${size}: the page scrolls sideways`);
      assert.deepEqual(await axe(other), [], `${size} ${theme}`);
      if (process.env.SHOTS) await other.screenshot({path: `${process.env.SHOTS}/what-if-tiers-${size}-${theme}.png`, fullPage: true});
    }
  });

  test('what is wrong is said where it was built', async (t) => {
    const page = await somebody(t);
    await go(page, `/what-if?${MONTH}&s=${encodeURIComponent('Wrong|nodes=many')}&s=${encodeURIComponent('Too many|nodes=-1000')}`, 'What if');
    await page.getByRole('button', {name: 'Run Wrong'}).click();
    await page.getByText(/nodes 'many': write/).waitFor();
    await page.getByRole('button', {name: 'Run Too many'}).click();
    await state(page, 'Too many', 'failed');
    await page.getByText(/can't be removed/).waitFor();
    assert.deepEqual(await page.complaints(), []);
  });

  // With results, and on a desk, it is looked at above.
  test('on a phone, and in the dark, before anything ran', async (t) => {
    const page = await somebody(t, 'admin', {size: 'phone', theme: 'dark'});
    await go(page, `/what-if?${MONTH}&s=${encodeURIComponent('Half price|price=50%')}`, 'What if');
    assert.ok((await too_wide(page)) <= 0, 'the page scrolls sideways');
    assert.deepEqual(await axe(page), []);
    if (process.env.SHOTS) await page.screenshot({path: `${process.env.SHOTS}/what-if-phone.png`, fullPage: true});
  });
});
