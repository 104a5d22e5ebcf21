// From a figure to its explanation: the same amount, all of its postings, and the way to the bill line,
// through what was spread.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {address, axe, enter, go, launch, open, program, serve, settled, too_wide, until} from './browser.mjs';

const ticks = (text) => {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  return BigInt(sign + '1') * BigInt(whole + part.padEnd(18, '0'));
};
// Mulberry32: the same numbers from the same seed.
const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};

describe('explanations', {skip: !program && 'needs the program', timeout: 600_000}, () => {
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

  async function somebody(t, more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    return page;
  }
  const total = (page) => page.locator('.why-total .num').first().getAttribute('title');

  test('a row is explained with its filter, cost and currency', async (t) => {
    const page = await somebody(t);
    for (const [more, code] of [['', 'USD'], ['&currency=EUR', 'EUR'], ['&currency=EUR&filter=node=gpu-03&cost=list', 'EUR'], ['&from=2026-03-03&to=2026-03-09&cost=billed', 'USD']]) {
      await go(page, `/explore?by=team&step=none${more.includes('from') ? '' : '&month=2026-03'}${more}`, 'Explore');
      const row = page.locator('main tbody tr').first();
      const amount = await row.locator('.num').first().getAttribute('title');
      await row.locator('.why').click();
      await settled(page, 'Why');
      assert.equal(await total(page), `${amount} ${code}`, more);
      // Postings are paged, and each has its calculation.
      assert.ok(await page.locator('table', {hasText: 'Sum of this page'}).locator('tbody tr').count() > 3);
    }
    assert.deepEqual(await page.complaints(), []);
  });

  // Exact amounts as the page holds them: [amount, currency], by the titles of what it shows.
  const amounts = (of) => of.locator('.num[title]').evaluateAll((all) => all.map((one) => one.title.split(' ')).filter(([, code]) => /^[A-Z]{3}$/.test(code ?? '')));
  const sums = (all) => {
    const of = new Map();
    for (const [text, code] of all) of.set(code, (of.get(code) ?? 0n) + ticks(text));
    return Object.fromEntries([...of].filter(([, sum]) => sum !== 0n));
  };

  test('the terms add up to the amount, and each opens the postings that it is the sum of', async (t) => {
    const page = await somebody(t);
    const seed = Number(process.env.SEED ?? 4);
    t.diagnostic(`SEED=${seed}`);
    const rng = random(seed);
    const pick = (some) => some[Math.floor(rng() * some.length)];
    for (let round = 0; round < 4; ++round) {
      const by = pick(['team', 'kind', 'node', 'user,kind']);
      const asked = new URLSearchParams({by, cost: pick(['effective', 'billed', 'list', 'contracted']), currency: pick(['USD', 'EUR', 'original'])});
      if (rng() < 0.5) asked.append('filter', pick(['component=gpu', 'team!=nlp', 'kind=used,held_idle', 'node=gpu-01,gpu-03']));
      if (rng() < 0.3) for (const [name, day] of [['from', '2026-03-05'], ['to', '2026-03-19']]) asked.append(name, day);
      else asked.append('month', pick(['2026-02', '2026-03']));
      const what = `SEED=${seed}, ${asked}`;
      await go(page, `/explain?${asked}`, 'Why');
      const answer = await (await page.request.get(`/api/v1/costs?${asked}`)).json();
      const rows = answer.tables.flatMap((table) => table.rows.map((row) => [row[`${asked.get('cost')}_cost`], table.currency]));
      assert.deepEqual(sums(await amounts(page.locator('.why-total'))), sums(rows), `the figure is the report's: ${what}`);
      const terms = page.locator('.equation .term');
      const all = await amounts(terms);
      if (asked.get('currency') === 'original') assert.deepEqual(sums(all), sums(rows), `the terms add up: ${what}`);
      const title = await terms.locator('a').allTextContents();
      const at = Math.floor(rng() * title.length);
      await terms.nth(at).locator('a').click();
      await settled(page, 'Why');
      const list = page.getByRole('region', {name: 'Postings'});
      await list.waitFor();
      const same = [all[at]]; // of one currency
      assert.deepEqual(sums(await amounts(page.locator('.postings-sum'))), sums(same), `${title[at]} opens its postings: ${what}`);
      const listed = [];
      for (;;) {
        const cells = await list.locator('tbody tr td:last-child .num').evaluateAll((some) => some.map((one) => one.title));
        listed.push(...cells.map((text) => [text.split(' ')[0], same[0][1]]));
        const next = page.getByRole('link', {name: /^Next \d+/});
        if (await next.count() === 0) break;
        const before = await address(page);
        await next.click();
        await until(page, (url) => location.href !== url, before);
        await settled(page, 'Why');
      }
      assert.deepEqual(sums(listed), sums(same), `the listed postings add up: ${what}`);
    }
    assert.deepEqual(await page.complaints(), []);
  });

  test('postings are narrowed by a click, and the posting leads to its bill line', async (t) => {
    const page = await somebody(t);
    await go(page, '/explain?by=team&key=nlp&month=2026-03', 'Why');
    const list = page.getByRole('region', {name: 'Postings'});
    const figure = await total(page);
    await list.getByRole('link', {name: 'gpu-02'}).first().click();
    await settled(page, 'Why');
    assert.match(await address(page), /within=node=gpu-02/);
    assert.equal(await total(page), figure, 'the figure stays');
    assert.deepEqual([...new Set(await list.locator('tbody tr td:nth-child(3)').allTextContents())], ['gpu-02']);
    await page.getByRole('button', {name: 'Not only node=gpu-02'}).click();
    await settled(page, 'Why');
    assert.doesNotMatch(await address(page), /within/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', {name: 'Copy as text'}).click();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /^nlp: [\d.]+ USD\n/);
    assert.ok(text.includes('Used: GPUs: ') && text.includes('/explain?'), text.slice(0, 300));
    const line = list.locator('tbody tr').first().locator('td a code').first();
    const id = await line.textContent();
    await line.click();
    await settled(page, 'Why');
    assert.ok((await address(page)).includes(`charge=${id}`), await address(page));
    await page.getByRole('link', {name: 'Used: GPUs'}).first().click(); // a part of the bill line
    await settled(page, 'Why');
    await page.getByText('component gpu', {exact: true}).waitFor();
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await page.complaints(), []);
  });

  test('every posting can be reached, and the page has an address', async (t) => {
    const page = await somebody(t);
    await go(page, '/explain?by=kind&key=used&month=2026-03', 'Why');
    const list = page.getByRole('region', {name: 'Postings'});
    await page.getByRole('link', {name: /^Next \d+/}).click();
    await settled(page, 'Why');
    assert.match(await address(page), /offset=100/);
    await list.locator('tbody tr').nth(2).locator('a').first().click();
    await settled(page, 'Why');
    assert.match(await address(page), /posting=102/);
    await page.getByText('How posting 103 comes about').waitFor();
    await page.getByText('exact', {exact: true}).waitFor();
    await page.reload();
    await settled(page, 'Why');
    await page.getByText('How posting 103 comes about').waitFor();
    await page.getByRole('link', {name: 'All postings of the bill line'}).click();
    await settled(page, 'Why');
    assert.match(await address(page), /charge=[0-9a-f]{32}/);
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await page.complaints(), []);
  });

  test('a spread amount leads to the bill lines of its bucket', async (t) => {
    const page = await somebody(t, {size: 'phone'});
    await go(page, '/explain?by=kind&key=shared&filter=team!=&month=2026-03', 'Why');
    await page.getByRole('link', {name: /The cost that was spread/}).click();
    await settled(page, 'Why Cost that was spread');
    assert.ok(await too_wide(page) <= 0);
    await page.getByRole('region', {name: 'Postings'}).locator('tbody a').first().click();
    await settled(page, 'Why');
    assert.match(await address(page), /charge=[0-9a-f]{32}/);
    await page.getByText('The bill line', {exact: true}).waitFor();
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await page.complaints(), []);
  });

  test('a bill line opens itself', async (t) => {
    const page = await somebody(t);
    await go(page, '/bills?month=2026-03', 'Bills');
    await page.getByRole('button', {name: 'All', exact: true}).click();
    await page.locator('main tbody a[href*="charge="]').first().click();
    await settled(page, 'Why');
    assert.match(await address(page), /\/explain\?charge=/);
    await page.getByText(/is the sum of/).waitFor();
    assert.deepEqual(await page.complaints(), []);
  });

  test('each figure of the Overview has its own', async (t) => {
    const page = await somebody(t);
    await go(page, '/?month=2026-03', 'Overview');
    const figures = page.locator('.figure', {has: page.locator('.why')});
    const count = await figures.count();
    assert.ok(count >= 3, `${count} figures`);
    for (let i = 0; i < count; ++i) {
      await go(page, '/?month=2026-03', 'Overview');
      const figure = figures.nth(i);
      const said = await figure.locator('.num[title*="USD"]').first().getAttribute('title');
      await figure.locator('.why').click();
      await settled(page, 'Why');
      assert.equal(await total(page), said);
    }
  });
});
