// One currency for all pages: the switch, what the server reports in, the rates beside it, and the same
// amount wherever the same cost is shown.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {after, before, describe, test} from 'node:test';
import {address, axe, enter, go, launch, open, PAGES, program, serve, settled, too_wide} from './browser.mjs';

const ticks = (text) => {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  return BigInt(sign + '1') * BigInt(whole + part.padEnd(18, '0'));
};
const RATE = 1_0821n; // of a euro on 2026-03-31, in ten thousandths

describe('currencies', {skip: !program && 'needs the program', timeout: 600_000}, () => {
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
  const api = async (page, path) => {
    const answer = await page.request.get(`/api/v1${path}`);
    assert.equal(answer.status(), 200, `${path}: ${await answer.text()}`);
    return answer.json();
  };

  test('every answer is in the report currency, or in the one asked for', async (t) => {
    const page = await somebody(t);
    const month = '2026-03';
    const billed = await api(page, `/costs?by=cluster&month=${month}&currency=original`);
    const of = Object.fromEntries(billed.tables.map((table) => [table.currency, table.total.effective_cost]));
    assert.deepEqual(Object.keys(of).sort(), ['EUR', 'USD']);
    const want = ticks(of.USD) + (ticks(of.EUR) * RATE) / 10_000n;
    const near = (text) => {
      const away = ticks(text) - want;
      assert.ok((away < 0n ? -away : away) < 100n, `${text} is ${away} ticks away`);
    };
    const summary = await api(page, `/summary?month=${month}`);
    const now = summary.months.filter((one) => one.month === month);
    assert.deepEqual(now.map((one) => one.currency), ['USD']);
    near(now[0].total);
    assert.deepEqual(summary.rates.filter((one) => one.includes('2026-03-31')), ['1 EUR = 1.0821 USD (2026-03-31, ecb)']);
    near((await api(page, `/costs?by=team&month=${month}`)).tables[0].total.effective_cost);
    const works = await api(page, `/workloads?month=${month}&limit=1000`);
    assert.deepEqual([...new Set(works.data.map((one) => one.currency))], ['USD']);
    assert.equal(works.next, null);
    const reported = await api(page, `/costs?by=cluster,workload&month=${month}`);
    const byName = new Map(reported.tables[0].rows.map((row) => [`${row.cluster}/${row.workload}`, row.effective_cost]));
    for (const one of works.data.filter(({cluster}) => cluster)) assert.equal(one.effective_cost, byName.get(`${one.cluster}/${one.workload}`), one.workload);
    const values = await api(page, `/dimensions/team/values?month=${month}`);
    assert.deepEqual([...new Set(values.data.map((one) => one.currency))], ['USD']);
    const detail = await api(page, `/workload?month=${month}&cluster=lab&workload=${works.data[0].workload}`);
    assert.deepEqual([...new Set(detail.days.map((one) => one.currency))], ['USD']);
    const coverage = await api(page, `/coverage?month=${month}`);
    assert.deepEqual([...new Set(coverage.tables.map((one) => one.currency))], ['USD']);
    for (const path of ['/summary?', '/costs?by=team&', '/workloads?', '/coverage?', '/dimensions/team/values?']) {
      const text = JSON.stringify(await api(page, `${path}month=${month}&currency=EUR`));
      assert.doesNotMatch(text, /"currency":"USD"/, path);
      assert.match(text, /"currency":"EUR"/, path);
      const refused = await page.request.get(`/api/v1${path}month=${month}&currency=CHF`);
      assert.ok(refused.status() >= 400 && (await refused.text()).includes('CHF'), `${path} without a rate`);
    }
  });

  test('each saving is converted', async (t) => {
    const page = await somebody(t);
    const read = async (currency) => (await api(page, `/advice?month=2026-03&currency=${currency}`)).tables;
    const billed = (await read('original')).flatMap((table) => table.rows.map((row) => [row.id, {...row, currency: table.currency}]));
    assert.ok(billed.length > 0);
    const [table, ...others] = await read('USD');
    assert.equal(others.length, 0, 'one table');
    assert.equal(table.currency, 'USD');
    assert.equal(table.rows.length, billed.length);
    for (const row of table.rows) {
      const {expected, currency} = Object.fromEntries(billed)[row.id];
      const away = ticks(row.expected) - (currency === 'EUR' ? (ticks(expected) * RATE) / 10_000n : ticks(expected));
      assert.ok((away < 0n ? -away : away) < 100n, `${row.id}: ${expected} ${currency} is ${row.expected} USD`);
    }
  });

  test('the switch is obeyed by every page and export', async (t) => {
    const page = await somebody(t);
    const figures = async (path, title) => {
      await go(page, path, title);
    };
    await figures('/?month=2026-03', 'Overview');
    const total = async () => (await page.locator('.figure', {hasText: 'Spend'}).first().locator('.num').first().getAttribute('title'));
    assert.match(await total(), /USD/);
    await page.getByText('1 EUR = 1.0821 USD (2026-03-31, ecb)').waitFor();
    assert.equal(await page.locator('main .figure', {hasText: 'Spend'}).count(), 1, 'no block of another currency');
    await page.getByLabel('Currency').selectOption('EUR');
    await settled(page, 'Overview');
    assert.match(await address(page), /currency=EUR/);
    assert.match(await total(), /EUR/);
    for (const name of ['Explore', 'Workloads', 'Coverage']) {
      await page.getByRole('navigation', {name: 'Pages'}).getByRole('link', {name}).click();
      await settled(page, name);
      assert.match(await address(page), /currency=EUR/, name);
      const main = await page.locator('main').evaluate((all) => {
        const copy = all.cloneNode(true);
        for (const rates of copy.querySelectorAll('.table-notes, .rates-note')) rates.remove();
        return copy.textContent;
      });
      assert.match(main, /EUR|€/, name);
      assert.doesNotMatch(main, /USD|\$/, name);
      const csv = page.locator('main a[href*="format=sheet"]').first();
      if (await csv.count() > 0) assert.match(await csv.getAttribute('href'), /currency=EUR/, name);
    }
    await page.getByLabel('Currency').selectOption('USD');
    await settled(page, 'Coverage');
    assert.doesNotMatch(await address(page), /currency=/);
    await page.getByLabel('Currency').selectOption('original');
    await figures('/?currency=original&month=2026-03', 'Overview');
    assert.equal(await page.locator('main .figure', {hasText: 'Spend'}).count(), 2, 'as billed: both');
    assert.deepEqual(await page.complaints(), []);
  });

  test('a replayed month is in it too, without another replay', async (t) => {
    const page = await somebody(t);
    await go(page, `/what-if?month=2026-03&currency=original&s=${encodeURIComponent('Half price|price=50%;fewest-nodes=600')}`, 'What if');
    await page.getByRole('button', {name: 'Run Half price'}).click();
    await page.locator('.what-if-scenarios .badge', {hasText: 'done'}).waitFor({timeout: 120_000});
    const cards = page.getByRole('region', {name: /Cost by team under each scenario/});
    await cards.first().waitFor();
    assert.equal(await cards.count(), 2, 'as billed: a table for each currency');
    const {data} = await api(page, '/what-if/runs?month=2026-03');
    const read = async (currency) => (await api(page, `/what-if/runs/${data[0].id}${currency && `?currency=${currency}`}`)).tables;
    const billed = Object.fromEntries((await read('original')).costs.map((table) => [table.currency, table.total]));
    assert.deepEqual(Object.keys(billed).sort(), ['EUR', 'USD']);
    const [table, ...others] = (await read('')).costs;
    assert.equal(others.length, 0, 'one table');
    assert.equal(table.currency, 'USD');
    for (const column of ['as_it_was', 'what_if']) {
      const away = ticks(table.total[column]) - ticks(billed.USD[column]) - (ticks(billed.EUR[column]) * RATE) / 10_000n;
      assert.ok((away < 0n ? -away : away) < 100n, `${column} is ${away} ticks away`);
      assert.equal(table.rows.reduce((sum, row) => sum + ticks(row[column]), 0n), ticks(table.total[column]), `${column}: rows add up`);
    }
    assert.ok(table.notes.some((note) => note.includes('1 EUR = 1.0821 USD (2026-03-31, ecb)')), `${table.notes}`);
    const {notes, ...fleets} = (await read('EUR')).fleets;
    assert.doesNotMatch(JSON.stringify(fleets), /USD/);
    assert.ok(notes.some((note) => note.startsWith('Converted at ')), `${notes}`);
    assert.match(await (await page.request.get(`/api/v1/what-if/runs/${data[0].id}/fleets?format=csv`)).text(), /USD/);
    assert.ok((await page.request.get(`/api/v1/what-if/runs/${data[0].id}?currency=CHF`)).status() >= 400, 'without a rate');
    await api(page, `/what-if/runs/${data[0].id}/moments?currency=CHF`); // has no amounts
    await page.getByLabel('Currency').selectOption('EUR');
    await page.getByText('EUR; below each, the difference to what was').first().waitFor(); // by team, and by tier
    const main = await page.locator('main').evaluate((all) => {
      const copy = all.cloneNode(true);
      for (const rates of copy.querySelectorAll('.rates-note')) rates.remove();
      return copy.textContent;
    });
    // Tables say at which rate; nothing else is in dollars.
    assert.doesNotMatch(main.replaceAll(/Converted at 1 USD = 0\.924129\d* EUR, the inverse of 1 EUR = 1\.0821 USD \(2026-03-31, ecb\)\./g, ''), /USD|\$/);
    assert.equal(await cards.count(), 1, 'in one currency: one table');
    assert.equal((await api(page, '/what-if/runs?month=2026-03')).data.length, data.length, 'nothing was replayed again');
    assert.deepEqual(await page.complaints(), []);
  });

  test('amounts of two currencies are not compared', async (t) => {
    const page = await somebody(t);
    await go(page, '/workload?month=2026-03&currency=original', 'Workloads');
    for (const way of ['descending', 'ascending']) {
      await page.getByRole('button', {name: 'Cost', exact: true}).click();
      assert.equal(await page.getByRole('columnheader', {name: 'Cost', exact: true}).getAttribute('aria-sort'), way);
      const shown = (await page.locator('main tbody tr td:nth-child(2) .num').evaluateAll((all) => all.map((one) => one.title))).map((text) => text.split(' '));
      const codes = shown.map(([, code]) => code);
      assert.deepEqual(codes, [...codes].sort(), `each currency by itself, ${way}`);
      assert.equal(new Set(codes).size, 2);
      for (const [i, [amount, code]] of shown.entries()) {
        const next = shown[i + 1];
        if (next?.[1] === code) assert.ok(way === 'descending' ? ticks(amount) >= ticks(next[0]) : ticks(amount) <= ticks(next[0]), `${amount} before ${next[0]}`);
      }
    }
    await go(page, '/?month=2026-03&currency=original', 'Overview');
    await page.locator('.figure', {hasText: 'Cost per hour now'}).first().waitFor();
    assert.equal(await page.locator('.figure', {hasText: 'Cost per hour now'}).count(), 1, 'a price per hour stands with its own currency');
    assert.deepEqual(await page.complaints(), []);
  });

  test('at a rate that is missing it says so, and offers the bill', async (t) => {
    const page = await somebody(t, {size: 'phone'});
    await go(page, '/explore?month=2026-03&currency=CHF', 'Explore');
    await page.getByText(/can't be shown in CHF/).waitFor();
    assert.deepEqual(await axe(page), []);
    assert.ok(await too_wide(page) <= 0);
    await page.getByRole('link', {name: 'Show them as billed'}).click();
    await settled(page, 'Explore');
    await page.locator('main tbody tr').first().waitFor();
  });
});

// What keeps its own currency on a page whose other amounts are converted: prices by the hour and budgets.
const OWN = ['.figure:has-text("Cost per hour now")', '[role=region]:has-text("per hour")', '.card:has-text("All budgets")'];

describe('currencies, reported in euros', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('euros');
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  test('no page says that it converts what it does not', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    let converted = 0;
    for (const [path, title] of PAGES) {
      await t.test(path, async () => {
        await go(page, `${path}${path.includes('?') ? '&' : '?'}month=2026-03`, title);
        const {notes, text} = await page.locator('main').evaluate((main, own) => {
          const copy = main.cloneNode(true);
          const notes = [...copy.querySelectorAll('.rates-note')].map((one) => one.textContent);
          for (const one of copy.querySelectorAll(['.rates-note', '.table-notes', 'select', ...own.filter((name) => !name.includes(':has-text'))].join(','))) one.remove();
          for (const name of own.filter((one) => one.includes(':has-text'))) {
            const [, selector, words] = /^(.*):has-text\("(.*)"\)$/.exec(name);
            for (const one of copy.querySelectorAll(selector)) if (one.textContent.includes(words)) one.remove();
          }
          return {notes, text: copy.textContent};
        }, OWN);
        const follows = await page.getByLabel('Currency', {exact: true}).count() > 0;
        if (notes.some((one) => one.startsWith('Converted to'))) assert.ok(follows, 'a page whose amounts are converted has the switch');
        if (!follows) return;
        ++converted;
        if (path === '/explain') return; // has the bill's amounts beside, and says so
        assert.doesNotMatch(text, /\$\s?\d|\d USD|USD −?\d/, `${path} has dollars: ${/.{60}(\$\s?\d|\d USD|USD −?\d).{40}/.exec(text)?.[0]}`);
      });
    }
    assert.ok(converted >= 10, `${converted} pages follow the switch`);
    assert.deepEqual(await page.complaints(), []);
  });

  test('a page, the API and the command line have the same figure', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    for (const currency of ['EUR', 'USD']) {
      const query = currency === 'EUR' ? '' : `&currency=${currency}`;
      // Amounts are converted row by row: the same grouping comes to the same last digit.
      for (const [path, title, label, by] of [['/', 'Overview', 'Spend', 'kind'], ['/home?view=finance', 'Home', 'Cost', 'kind'], ['/compare', 'Compare', 'Now', 'team']]) {
        const said = JSON.parse(execFileSync(program, ['report', '--by', by, '--month', '2026-03', '--format', 'json', ...(query ? ['--currency', currency] : [])], {cwd: server.folder, encoding: 'utf8'}));
        assert.deepEqual(said.map((one) => one.currency), [currency]);
        const sum = said[0].total.effective_cost;
        const answer = await (await page.request.get(`/api/v1/costs?by=${by}&month=2026-03${query}`)).json();
        assert.equal(answer.tables[0].total.effective_cost, sum);
        await go(page, `${path}${path.includes('?') ? '&' : '?'}month=2026-03${query}`, title);
        const shown = await page.locator('.figure', {has: page.getByText(label, {exact: true})}).locator('.num').first().getAttribute('title');
        assert.equal(shown, `${sum} ${currency}`, path);
      }
      const search = await (await page.request.get(`/api/v1/search?text=lab&month=2026-03${query}`)).json();
      assert.deepEqual([...new Set(search.data.map((one) => one.currency))], [currency]);
    }
  });
});
