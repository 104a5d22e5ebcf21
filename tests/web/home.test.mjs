// Home by role: each role begins with its own view, its figures are the report's and explained, a scoped reader
// sees nothing of others; a new ledger says what it still needs. And Activity, which Explore opens.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {address, axe, enter, go, launch, open, program, serve, settled, too_wide, until} from './browser.mjs';

describe('home', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('currencies');
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
  const views = (page) => page.getByRole('tablist', {name: 'Home'}).getByRole('tab').allTextContents();
  const chosen = (page) => page.getByRole('tablist', {name: 'Home'}).locator('[aria-selected=true]').textContent();
  const figure = (page, label) => page.locator('.figure', {has: page.getByText(label, {exact: true})}).first();
  const exactly = (page, label) => figure(page, label).locator('.num').first().getAttribute('title');
  const sum = async (page, path, column = 'effective_cost') => {
    const {tables} = await (await page.request.get(`/api/v1${path}`)).json();
    assert.equal(tables.length, 1, path);
    return `${tables[0].total?.[column] ?? tables[0].rows[0]?.[column]} ${tables[0].currency}`;
  };

  test('each role begins with its own view', async (t) => {
    for (const [name, first] of [['finance-web', 'Finance'], ['team-lead-web', 'My team'], ['admin', 'Finance']]) {
      const page = await somebody(t, name);
      for (const path of ['/home', '/home?month=2026-03']) {
        await go(page, path, 'Home');
        assert.equal(await chosen(page), first, `${name}, ${path}`);
      }
      assert.deepEqual(await page.complaints(), [], name);
    }
    const lead = await somebody(t, 'team-lead-web');
    await go(lead, '/home', 'Home');
    assert.deepEqual((await views(lead)).filter((one) => ['Finance', 'My clients', 'Getting started'].includes(one)), []);
    const text = await lead.locator('main').innerText();
    assert.match(text, /nlp/);
    assert.doesNotMatch(text, /vision|search\b/, 'nothing of other teams');
  });

  test('the figures are the report\'s, and explained', async (t) => {
    const page = await somebody(t);
    const of = 'month=2026-03&filter=team=nlp';
    await go(page, '/home?view=team&of=nlp&month=2026-03', 'Home');
    assert.equal(await exactly(page, 'Cost'), await sum(page, `/costs?by=kind&${of}`));
    assert.equal(await exactly(page, 'Same days before'), await sum(page, '/costs?by=kind&filter=team=nlp&from=2026-02-01&to=2026-02-28'));
    await figure(page, 'Same days before').locator('.why').click();
    await settled(page, 'Why');
    assert.equal(await page.locator('.why-total .num').first().getAttribute('title'), await sum(page, '/costs?by=kind&filter=team=nlp&from=2026-02-01&to=2026-02-28'));

    await go(page, '/home?view=runs&of=ana&month=2026-03', 'Home');
    assert.equal(await exactly(page, 'Cost so far'), await sum(page, '/costs?by=kind&month=2026-03&filter=user=ana'));
    const row = page.getByRole('region', {name: 'Runs'}).locator('tbody tr').first();
    const cost = await row.locator('td:nth-child(2) .num').getAttribute('title');
    await row.locator('.why').click();
    await settled(page, 'Why');
    assert.equal(await page.locator('.why-total .num').first().getAttribute('title'), cost, 'a run is explained');

    await go(page, '/home?view=finance&month=2026-03', 'Home');
    assert.equal(await exactly(page, 'Cost'), await sum(page, '/costs?by=kind&month=2026-03'));
    await page.locator('.todo', {hasText: 'Every bill line is posted'}).getByText('done').waitFor();
    await page.locator('.todo', {hasText: 'No row was set aside'}).getByText('to do').waitFor(); // bad.txt
    await page.locator('.todo', {hasText: 'The month is closed'}).getByText('to do').waitFor();
    await go(page, '/home?view=finance&month=2026-02', 'Home');
    await page.locator('.todo', {hasText: 'The month is closed'}).getByText('done').waitFor();
    await page.locator('.todo', {hasText: 'invoices are issued'}).getByText('done').waitFor();
    assert.deepEqual(await page.complaints(), []);
  });

  test('fleet health has the causes of the whole cost', async (t) => {
    const page = await somebody(t);
    await go(page, '/home?view=fleet&month=2026-03&currency=original', 'Home');
    const {tables} = await (await page.request.get('/api/v1/costs?by=kind&month=2026-03&currency=original')).json();
    for (const {currency, rows} of tables) {
      for (const row of rows) await page.locator(`.figure .num[title="${row.effective_cost} ${currency}"]`).first().waitFor();
    }
    await page.getByText(/who holds its GPUs is not known/).waitFor();
  });

  test('every view on a phone', async (t) => {
    const page = await somebody(t, 'admin', {size: 'phone', theme: 'dark'});
    for (const view of ['runs', 'team', 'finance', 'fleet', 'clients', 'start']) {
      await go(page, `/home?view=${view}&month=2026-03`, 'Home');
      assert.ok(await too_wide(page) <= 0, `${view}: ${await too_wide(page)} px too wide`);
      assert.deepEqual(await axe(page), [], view);
    }
    assert.deepEqual(await page.complaints(), []);
  });

  test('Explore opens the activity of the same owners', async (t) => {
    const page = await somebody(t);
    await go(page, '/explore?by=user,service&month=2026-03&filter=team=nlp&filter=kind=used', 'Explore');
    await page.getByRole('link', {name: 'Activity', exact: true}).last().click();
    await settled(page, 'Activity');
    assert.match(await address(page), /by=user/);
    assert.match(await address(page), /filter=team=nlp/);
    assert.doesNotMatch(await address(page), /kind=used/, 'what only a bill has is left out');
    const {tables} = await (await page.request.get('/api/v1/activity?by=user&filter=team=nlp&month=2026-03&as=measures')).json();
    assert.deepEqual(await page.locator('main tbody tr td:first-child').allInnerTexts(), [...tables[0].rows].sort((a, b) => b.gpu_hours - a.gpu_hours).map((row) => row.user), 'the largest first');
    for (const row of tables[0].rows.filter((one) => one.user !== '(nobody)')) assert.ok(await page.locator(`main tbody .num[title="${row.gpu_hours_exact}"]`).count() > 0, row.user);
    await page.getByText(/Not known from any source: .*waited/).waitFor();
    await page.getByRole('button', {name: 'Use of GPUs'}).click();
    await settled(page, 'Activity');
    await page.getByText('is not taken for idle').waitFor();
    await page.getByRole('link', {name: 'Costs', exact: true}).click();
    await settled(page, 'Explore');
    assert.match(await address(page), /filter=team=nlp/);
    assert.deepEqual(await page.complaints(), []);
  });

  test('a new ledger says what it still needs', async (t) => {
    const empty = await serve('empty');
    t.after(() => empty.stop());
    const page = await open(browser, {url: empty.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', empty.people.admin);
    await go(page, '/home?view=start', 'Home');
    await until(page, () => ![...document.querySelectorAll('.todo .badge')].some((one) => one.textContent === '…'));
    const states = await page.locator('.todo .badge').allTextContents();
    assert.deepEqual(states, Array(6).fill('to do'));
    await page.getByText('pennyweight import bill.csv').waitFor();
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await page.complaints(), []);
  });
});
