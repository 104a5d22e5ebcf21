// From a figure to its explanation: the same amount, all of its postings, and the way to the bill line,
// through what was spread.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, launch, open, program, serve, settled, sign_in, too_wide} from './browser.mjs';

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

describe('explanations', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  async function somebody(t, more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await sign_in(page, 'admin', server.people.admin);
    return page;
  }
  const go = async (page, path, title) => {
    await page.goto(path);
    await settled(page, title);
  };
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

  test('every posting can be reached, and the page has an address', async (t) => {
    const page = await somebody(t);
    await go(page, '/explain?by=kind&key=used&month=2026-03', 'Why');
    const list = page.getByRole('region', {name: 'Postings'});
    await page.getByRole('link', {name: /^Next \d+/}).click();
    await settled(page, 'Why');
    assert.match(page.url(), /offset=100/);
    await list.locator('tbody tr').nth(2).locator('a').first().click();
    await settled(page, 'Why');
    assert.match(page.url(), /posting=102/);
    await page.getByText('How posting 103 comes about').waitFor();
    await page.getByText('exact', {exact: true}).waitFor();
    await page.reload();
    await settled(page, 'Why');
    await page.getByText('How posting 103 comes about').waitFor();
    await page.getByRole('link', {name: 'All postings of the bill line'}).click();
    await settled(page, 'Why');
    assert.match(page.url(), /charge=[0-9a-f]{32}/);
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
    assert.match(page.url(), /charge=[0-9a-f]{32}/);
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
    assert.match(page.url(), /\/explain\?charge=/);
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
