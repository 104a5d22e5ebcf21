// Unusual days on their page: the figures are the API's, what explains them adds up, and a lead says that they were
// expected.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe_in_themes, enter, go, launch, open, program, serve, SIZES, too_wide, until} from './browser.mjs';

const DAY = '2026-03-24';
const ROWS = 'main .table-block table tbody tr.row-link';
const cents = (text) => BigInt(text.replace('−', '-').replace(/[^\d.-]/g, '').replace('.', ''));
const exactly = (text) => BigInt(Math.round(Number(text) * 100));

describe('anomalies', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('unusual');
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

  test('an incident, its days and what it is made of', async (t) => {
    const page = await somebody(t, 'admin');
    const {tables: [table]} = await answer(page, '/anomalies?by=team&cause=instance_type&impact=10');
    const known = table.rows.find((row) => row.team === 'nlp' && row.first === DAY);
    assert.ok(known, JSON.stringify(table.rows));
    await go(page, '/anomalies', 'Anomalies');
    assert.equal(await page.locator(ROWS).count(), table.rows.length);
    await page.locator(ROWS, {hasText: 'nlp'}).first().click();
    const card = page.locator('section.card', {hasText: 'What the difference is made of'});
    await card.waitFor();
    assert.ok(page.url().includes(encodeURIComponent(`nlp ${DAY}`)) || page.url().includes(`nlp+${DAY}`), page.url());
    const facts = await card.locator('dl.facts dd').allInnerTexts();
    ['volume', 'price', 'mix', 'rest'].forEach((name, i) => assert.equal(cents(facts[i]), exactly(known[name]), name));
    // Four times the usual cost is another price.
    assert.ok(Number(known.price) > 10 * Math.abs(Number(known.volume)), JSON.stringify(known));
    // The chart's figure of the day is what the report says.
    const {tables: [costs]} = await answer(page, `/costs?by=cluster&step=day&from=${DAY}&to=${DAY}&filter=team%3Dnlp`);
    await card.locator('.chart').getByRole('button', {name: 'Show as a table'}).click();
    const cells = await card.locator('.chart table tbody tr', {hasText: '24 Mar'}).locator('td, th').allInnerTexts();
    assert.ok(cells.slice(1).some((cell) => cell.trim() && cents(cell) === exactly(costs.total.effective_cost)), JSON.stringify(cells));
    assert.deepEqual(await page.complaints(), []);
  });

  test('a lead says that it was expected, and the next one is known', async (t) => {
    const page = await somebody(t, 'team-lead-web');
    await go(page, '/anomalies?by=team', 'Anomalies');
    await page.getByRole('button', {name: `Was it expected: nlp ${DAY}`}).click();
    const dialog = page.getByRole('dialog');
    assert.match(await dialog.innerText(), /half a year/);
    await dialog.getByLabel('Reason').fill('The yearly run');
    await dialog.getByRole('button', {name: 'Keep'}).click();
    await until(page, () => document.querySelector('main').innerText.includes('The yearly run'));
    const row = page.locator(ROWS, {hasText: 'The yearly run'}).first();
    assert.match(await row.innerText(), /expected.*team-lead-web/s);
    // Everybody sees it, and it is in the audit log.
    const admin = await somebody(t, 'admin');
    const {tables: [table]} = await answer(admin, '/anomalies?by=team');
    assert.match(table.rows.find((one) => one.team === 'nlp' && one.first === DAY).verdict, /^expected: The yearly run \(team-lead-web\)$/);
    const {data: [entry]} = await answer(admin, '/audit?limit=1&action=anomaly.verdict');
    assert.equal(entry.actor, 'team-lead-web');
    // Of other dimensions a lead sees a part.
    await go(page, '/anomalies?by=cluster', 'Anomalies');
    assert.equal(await page.getByRole('button', {name: /Was it expected/}).count(), 0);
    const {csrf} = await answer(page, '/session');
    for (const [body, status] of [[{by: 'cluster', key: 'lab', first: DAY, expected: true}, 403], [{by: 'team', key: 'cv', first: DAY, expected: true}, 404],
      [{by: 'team', key: 'nlp', first: 'yesterday', expected: true}, 422], [{by: 'team', key: 'nlp', first: DAY}, 422], [{by: 'team', key: 'nlp', first: DAY, expected: true, reason: 'x'.repeat(501)}, 422]]) {
      const refused = await page.request.post('/api/v1/anomalies/verdicts', {data: body, headers: {'X-CSRF-Token': csrf}});
      assert.equal(refused.status(), status, JSON.stringify(body));
    }
    assert.deepEqual(await page.complaints(), []);
  });

  test('a verdict is of the days as the list has them, which of a larger impact begin later', async (t) => {
    const page = await somebody(t, 'team-lead-web');
    const firsts = async (impact) => (await answer(page, `/anomalies?by=team&impact=${impact}`)).tables[0].rows.filter((row) => row.team === 'nlp').map((row) => row.first);
    assert.ok((await firsts(50)).includes(DAY) && !(await firsts(50)).includes('2026-03-28'), String(await firsts(50)));
    assert.ok((await firsts(400)).includes('2026-03-28'), String(await firsts(400)));
    await go(page, '/anomalies?by=team&impact=50', 'Anomalies');
    await page.getByRole('button', {name: `Was it expected: nlp ${DAY}`}).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Both runs');
    const put = page.waitForRequest((request) => request.url().endsWith('/anomalies/verdicts'));
    await page.getByRole('dialog').getByRole('button', {name: 'Keep'}).click();
    assert.equal((await put).postDataJSON().impact, 50);
    await until(page, () => document.querySelector('main').innerText.includes('Both runs'));
    const {csrf} = await answer(page, '/session');
    for (const [body, status] of [[{}, 404], [{impact: 50}, 404], [{impact: 400}, 201], [{impact: 0}, 422], [{impact: 1001}, 422], [{impact: 400, key: '(others)'}, 422]]) {
      const answered = await page.request.post('/api/v1/anomalies/verdicts', {data: {by: 'team', key: 'nlp', first: '2026-03-28', expected: true, ...body}, headers: {'X-CSRF-Token': csrf}});
      assert.equal(answered.status(), status, JSON.stringify(body));
    }
    assert.deepEqual(await page.complaints(), []);
  });

  test('columns hidden of one dimension stay those of another', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/anomalies?by=team&impact=25', 'Anomalies');
    const heads = () => page.locator('main thead th').allTextContents();
    const all = await heads();
    await page.getByText('Columns', {exact: true}).click();
    await page.getByLabel('Usual', {exact: true}).uncheck();
    assert.deepEqual(await heads(), all.filter((name) => name !== 'Usual'));
    await page.getByLabel('By', {exact: true}).selectOption('cluster');
    await page.getByRole('region', {name: 'Unusual days, by cluster'}).waitFor();
    assert.deepEqual(await heads(), all);
    await page.getByLabel('By', {exact: true}).selectOption('team');
    await page.getByRole('region', {name: 'Unusual days, by team'}).waitFor();
    assert.deepEqual(await heads(), all.filter((name) => name !== 'Usual'));
    assert.deepEqual(await page.complaints(), []);
  });

  test('the page in every size and theme', async (t) => {
    for (const size of Object.keys(SIZES)) {
      const page = await somebody(t, 'admin', {size});
      for (const path of ['/anomalies', `/anomalies?of=nlp+${DAY}`, '/anomalies?by=cluster&impact=50&cause=node']) {
        await go(page, path, 'Anomalies');
        assert.deepEqual(await axe_in_themes(page), [], `${path} ${size}`);
        assert.ok(await too_wide(page) <= 0, `${path} ${size}`);
      }
      assert.deepEqual(await page.complaints(), []);
    }
  });
});
