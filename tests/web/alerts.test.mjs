// Alerts and forecasts on their pages: the bell counts what the API says, a silence holds at once and is lifted,
// a receiver is tested, and the fan's figures are the forecast's own.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, axe_in_themes, enter, go, launch, open, program, serve, settled, SIZES, too_wide, until} from './browser.mjs';

const COUNT = 'main table tbody tr';

describe('alerts', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('alerts');
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  async function somebody(t, name, more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await enter(page, name, server.people[name]);
    return page;
  }
  const answer = async (page, path) => (await page.request.get(`/api/v1${path}`)).json();
  // The server evaluates each second.
  async function alerts(page, holds) {
    const end = Date.now() + 60_000;
    for (;;) {
      const now = await answer(page, '/alerts');
      if (holds(now)) return now;
      assert.ok(Date.now() < end, JSON.stringify(now).slice(0, 1500));
      await page.waitForTimeout(200);
    }
  }
  const about = (now, subject) => now.alerts.filter((one) => one.subject === subject);

  test('the bell and the page show what holds, and a silence is put and lifted', async (t) => {
    const page = await somebody(t, 'admin');
    const holds = (now) => ['trial', 'nlp-trial'].every((name) => about(now, name).some((one) => !one.is_silent));
    const first = await alerts(page, holds);
    await go(page, '/alerts', 'Alerts');
    const loud = (now) => now.alerts.filter((one) => !one.is_silent).length;
    await until(page, (text) => document.querySelector('.bell-count')?.textContent === text, String(loud(first)));
    const exhausted = first.alerts.find((one) => one.rule === 'budget_exhausted' && one.subject === 'trial');
    assert.ok(exhausted, JSON.stringify(first.alerts.map(({rule, subject}) => [rule, subject])));
    const row = page.locator(COUNT, {hasText: exhausted.summary});
    assert.match(await row.innerText(), /critical/);

    // Without a reason or an end it is not put.
    await row.getByRole('button', {name: /Silence/}).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', {name: 'Silence'}).click();
    assert.ok(await dialog.isVisible(), 'a silence needs an end and a reason');
    const far = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    await dialog.getByLabel('Last day').fill('2020-01-01');
    await dialog.getByLabel('Reason').fill('Agreed with finance');
    await dialog.getByRole('button', {name: 'Silence'}).click();
    await dialog.getByText(/must be a date from/).waitFor();
    await dialog.getByLabel('Last day').fill(far);
    assert.deepEqual(await axe(page), []);
    await dialog.getByRole('button', {name: 'Silence'}).click();
    await dialog.waitFor({state: 'detached'});
    await page.locator('main section', {hasText: 'Silences'}).getByText('Agreed with finance').waitFor();
    const silent = await answer(page, '/alerts');
    assert.ok(about(silent, 'trial').find((one) => one.rule === 'budget_exhausted').is_silent, 'at once');
    assert.equal(silent.silences.length, 1);
    assert.deepEqual([silent.silences[0].by, silent.silences[0].to], ['admin', far]);
    await until(page, (text) => (document.querySelector('.bell-count')?.textContent ?? '0') === text, String(loud(silent)));

    await page.getByRole('button', {name: /^Lift/}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Lift'}).click();
    await until(page, () => ![...document.querySelectorAll('h2')].some((one) => one.textContent.startsWith('Silences')));
    assert.equal((await answer(page, '/alerts')).silences.length, 0);
    const log = await answer(page, '/audit?limit=1000');
    const actions = log.data.map(({action}) => action);
    assert.ok(actions.includes('alert.silence') && actions.includes('alert.lift'), actions.slice(0, 20).join());
    // Refused: a past day, and the page says so; the log has both of it.
    assert.deepEqual(await page.complaints(), []);
  });

  test('a receiver is tested', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/alerts', 'Alerts');
    const receiver = (name) => page.locator(COUNT, {has: page.locator('strong', {hasText: new RegExp(`^${name}$`)})});
    await receiver('hook').getByRole('button', {name: /test/i}).click();
    await receiver('hook').getByText('It has arrived.').waitFor();
    await receiver('nobody').getByRole('button', {name: /test/i}).click();
    await receiver('nobody').getByRole('status').getByText(/receiver 'nobody'/).waitFor();
    assert.deepEqual(await page.complaints(), []);
  });

  test('a scoped reader sees the own budgets, and changes nothing', async (t) => {
    const admin = await somebody(t, 'admin');
    await alerts(admin, (now) => ['trial', 'nlp-trial'].every((name) => about(now, name).length > 0));
    const page = await somebody(t, 'team-lead-web');
    const now = await answer(page, '/alerts');
    assert.deepEqual([...new Set(now.alerts.map((one) => one.subject))], ['nlp-trial']);
    assert.deepEqual([now.silences, now.receivers], [[], []]);
    await go(page, '/alerts', 'Alerts');
    assert.equal(await page.getByRole('button', {name: /Silence|Test|silence/}).count(), 0);
    assert.doesNotMatch(await page.locator('main').innerText(), /hook|nobody/);
  });

  // The lead does it without help, in the pages alone; five minutes are allowed.
  test('a lead sets a budget and is warned', async (t) => {
    const begin = Date.now();
    const page = await somebody(t, 'team-lead-web');
    await page.clock.install();
    await go(page, '/home', 'Home');
    await page.getByRole('link', {name: 'Budgets'}).first().click();
    await settled(page, 'Budgets');
    await page.getByRole('button', {name: 'New budget'}).click();
    const dialog = page.getByRole('dialog');
    assert.equal(await dialog.getByLabel('Scope').inputValue(), 'team=nlp', "the team's own scope is there already");
    await dialog.getByLabel('Name').fill('lead-trial');
    // Another team's costs are not the lead's to budget.
    await dialog.getByLabel('Scope').fill('team=cv');
    await dialog.getByLabel('Amount').fill('5 USD');
    await dialog.getByLabel('Period').selectOption('year');
    await dialog.getByRole('button', {name: 'Set budget'}).click();
    await dialog.getByText(/values of your scope/).waitFor();
    await dialog.getByLabel('Scope').fill('team=nlp');
    await dialog.getByRole('button', {name: 'Set budget'}).click();
    await dialog.waitFor({state: 'detached'});
    const now = await alerts(page, (all) => about(all, 'lead-trial').some((one) => one.rule === 'budget_exhausted'));
    const warned = about(now, 'lead-trial').find((one) => one.rule === 'budget_exhausted');
    const loud = String(now.alerts.filter((one) => !one.is_silent).length);
    // The bell asks each minute.
    await page.clock.fastForward(61_000);
    await until(page, (text) => document.querySelector('.bell-count')?.textContent === text, loud);
    await page.locator('.bell-count').click();
    await settled(page, 'Alerts');
    await page.locator(COUNT, {hasText: warned.summary}).waitFor();
    assert.ok(Date.now() - begin < 300_000, 'it took more than five minutes');
    console.log(`a lead is warned ${((Date.now() - begin) / 1000).toFixed(0)} s after signing in`);
    // A larger amount takes the warning back: it is kept for a while, as one that comes and goes.
    await go(page, '/budgets', 'Budgets');
    await page.getByRole('button', {name: 'Remove lead-trial'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click();
    await until(page, () => !document.querySelector('main').innerText.includes('lead-trial'));
  });

  test('an amount counts from a day, and always once that is cleared', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/budgets', 'Budgets');
    const dialog = page.getByRole('dialog');
    const set = async (fields) => {
      for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
      await dialog.getByRole('button', {name: 'Set budget'}).click();
      await dialog.waitFor({state: 'detached'});
      const {data} = await answer(page, '/budget-definitions?limit=1000');
      const {amount, amounts = []} = data.find(({budget}) => budget.name === 'dated').budget;
      return [amount ?? null, amounts.map((one) => `${one.from} ${one.amount}`)];
    };
    const change = async () => {
      await page.getByRole('button', {name: 'Change dated'}).click();
      return [await dialog.getByLabel('Amount').inputValue(), await dialog.getByLabel('Counts from').inputValue()];
    };
    await page.getByRole('button', {name: 'New budget'}).click();
    assert.deepEqual(await set({Name: 'dated', Amount: '5000 USD', 'Counts from': '2026-03-01'}), [null, ['2026-03-01 5000 USD']]);
    assert.deepEqual(await change(), ['5000 USD', '2026-03-01']);
    assert.deepEqual(await set({Amount: '7000 USD', 'Counts from': '2199-01-01'}), [null, ['2026-03-01 5000 USD', '2199-01-01 7000 USD']]);
    // What counts from a later day stays; the amount of today has always counted.
    assert.deepEqual(await change(), ['5000 USD', '2026-03-01']);
    assert.deepEqual(await set({'Counts from': ''}), ['5000 USD', ['2199-01-01 7000 USD']]);
    assert.deepEqual(await change(), ['5000 USD', '']);
    assert.deepEqual(await set({Amount: '6000 USD'}), ['6000 USD', ['2199-01-01 7000 USD']]);
    await page.getByRole('button', {name: 'Remove dated'}).click();
    await dialog.getByRole('button', {name: 'Remove'}).click();
    await until(page, () => !document.querySelector('main').innerText.includes('dated'));
    assert.deepEqual(await page.complaints(), []);
  });

  test('the pages in every size and theme', async (t) => {
    for (const size of Object.keys(SIZES)) {
      const page = await somebody(t, 'admin', {size});
      await alerts(page, (now) => about(now, 'trial').length > 0);
      for (const [path, title] of [['/alerts', 'Alerts'], ['/budgets', 'Budgets'], ['/forecast', 'Forecast'], ['/forecast?by=user&filter=team%3Dnlp&days=60', 'Forecast']]) {
        await go(page, path, title);
        assert.deepEqual(await axe_in_themes(page), [], `${path} ${size}`);
        assert.ok(await too_wide(page) <= 0, `${path} ${size}`);
      }
      assert.deepEqual(await page.complaints(), []);
    }
  });

  test("the fan is the forecast's own figures", async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/forecast', 'Forecast');
    await page.locator('.chart').getByRole('button', {name: 'Show as a table'}).click();
    const rows = await page.locator('.chart table tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    const titles = await page.locator('.chart table thead th').allInnerTexts();
    const {tables} = await answer(page, '/forecast?step=day&half=true&days=30');
    const cents = (text) => (text === null ? '–' : BigInt(Math.round(Number(text) * 100)));
    const shown = (text) => (text === '–' ? '–' : BigInt(text.replace(/[^\d.-]/g, '').replace('.', '')));
    assert.equal(tables[0].rows.length, 30);
    assert.equal(rows.length, 60, 'as many days before as after');
    const at = (name) => titles.findIndex((one) => one.trim().startsWith(name));
    tables[0].rows.forEach((row, i) => {
      const cells = rows[30 + i];
      for (const [title, name] of [['95 % from', 'low_95'], ['95 % to', 'high_95'], ['80 % from', 'low_80'], ['50 % from', 'low_50'], ['50 % to', 'high_50'], ['Forecast', 'forecast']]) {
        if (at(title) < 0) {
          assert.equal(row[name], null, `${title} is not shown`);
        } else {
          assert.equal(shown(cells[at(title)]), cents(row[name]), `${row.day} ${title}`);
        }
      }
    });
    // What was spent is what the report says.
    const costs = await answer(page, '/costs?by=cluster&step=day&from=2026-03-31&to=2026-03-31');
    assert.equal(shown(rows[29][at('Spent')]), cents(costs.tables[0].total.effective_cost));
    assert.deepEqual(await page.complaints(), []);
  });
});
