// A property: for random filters, cost, currency and period, each figure of Overview, Explore, Workloads, Coverage
// and Compare equals what `pennyweight report` says on the command line, digit by digit, and its explanation adds up
// to it. SEED and ROUNDS say which and how many; LEDGER=large or wide: a company of three clusters, six months and
// 20 or 479 teams (serve_for_pages.py).
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {after, before, describe, test} from 'node:test';
import {enter, follow, go, launch, open, program, serve, settled, until} from './browser.mjs';

const seed = Number(process.env.SEED ?? 7);
const EXPLAINED_MS = 10_000;
const ROUNDS = Number(process.env.ROUNDS ?? 2);
const LEDGER = process.env.LEDGER ?? 'currencies';

const ONE = 10n ** 18n;
const ticks = (text) => {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  return BigInt(sign + '1') * BigInt(whole + part.padEnd(18, '0'));
};
// As a page writes a sum: without trailing zeros.
const decimal = (value) => {
  const size = value < 0n ? -value : value;
  const fraction = String(size % ONE).padStart(18, '0').replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${size / ONE}${fraction ? '.' + fraction : ''}`;
};
// Mulberry32: the same numbers from the same seed.
const random = (state) => () => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};
const rng = random(seed);
const pick = (some) => some[Math.floor(rng() * some.length)];

let browser;
let server;
let page;

// The tables of `pennyweight report`, by currency. Nothing changes the ledger, so what was asked once is kept.
const reports = new Map();
function report(options) {
  const asked = options.join(' ');
  if (!reports.has(asked)) reports.set(asked, read_report(options));
  return reports.get(asked);
}
function read_report(options) {
  const said = execFileSync(program, ['report', ...options, '--format', 'json'], {cwd: server.folder, encoding: 'utf8', maxBuffer: 1 << 28});
  return Object.fromEntries(JSON.parse(said).map((table) => [table.currency, table.rows]));
}
const sum = (rows, column, holds = () => true) => decimal((rows ?? []).filter(holds).reduce((all, row) => all + ticks(row[column] ?? '0'), 0n));

const KINDS_OF_NOBODY = new Set(['unallocated', 'stranded', 'unavailable']);
const PERIODS = [{month: '2026-02'}, {month: '2026-03'}, {from: '2026-02-11', to: '2026-03-08'}, {from: '2026-03-05', to: '2026-03-19'}];
const NAMES = LEDGER === 'currencies' ? {team: 'nlp', other: 'vision', users: 'ana,bo', nodes: 'gpu-01,gpu-03', euros: 'gpu-03'}
  : {team: 'team-000', other: 'team-001', users: 'user-000-0,user-001-1', nodes: 'lab-gpu-01,edge-gpu-03', euros: 'edge-gpu-03'};
const FILTERS = [[], [], [`team=${NAMES.team}`], [`team!=${NAMES.team}`], ['kind=used,held_idle'], [`node=${NAMES.nodes}`], ['component=gpu'], ['team=', 'component=gpu'], [`user=${NAMES.users}`, `team!=${NAMES.other}`], ['category=Usage']];
const PARTS_OF_BILL = {'gpu spend': ['component=gpu'], 'cpu and memory': ['component=cpu,memory'], 'unused commitments': ['component=whole', 'kind=unallocated'], other: ['component=whole', 'kind=shared']};
const COSTS = ['effective', 'billed', 'list', 'contracted'];
const CURRENCIES = ['USD', 'EUR', 'original'];

const options = ({month, from, to}, {filters = [], cost, currency}) => [
  ...(month ? ['--month', month] : ['--from', from, '--to', to]), ...filters.flatMap((one) => ['--filter', one]),
  ...(cost ? ['--cost', cost] : []), '--currency', currency];
const query = (period, {filters = [], cost, currency, ...more}) => {
  const all = new URLSearchParams({...period, ...more, ...(cost ? {cost} : {}), currency});
  for (const one of filters) all.append('filter', one);
  return all;
};

// Every row of every table.
async function unfold() {
  for (const name of [/^Load more/, /^Show \d+ more/]) {
    const more = page.locator('main').getByRole('button', {name});
    while (await more.count() > 0) {
      await more.first().click();
      await settled(page);
    }
  }
}

async function look(path, asked, title) {
  await go(page, `${path}?${asked}`, title);
  await unfold();
  await page.waitForTimeout(150); // figures whose explanation is looked for
  return `SEED=${seed}, ${path}?${asked}`;
}
const titles = (of) => of.locator('.num[title]').evaluateAll((all) => all.map((one) => one.title));
// The rows of a table as [first cell, titles of its numbers]; `wide`: how many cells are the name.
const rows_of = (of, wide = 1) => of.locator('tbody tr').evaluateAll((all, wide) => all.map((row) => ({
  name: [...row.children].slice(0, wide).map((cell) => cell.querySelector('[title]')?.title || cell.textContent.trim()),
  numbers: [...row.querySelectorAll('.num[title]')].map((one) => one.title),
})), wide);

// What the page Why says of an address: its figure, and the sum of its terms where they are of one currency.
async function explained(href, amount, currency, what) {
  await follow(page, href, 'Why');
  // The explanation before may still be there.
  await until(page, (wanted) => [...document.querySelectorAll('.why-total .num')].some(({title}) => title === wanted), `${amount} ${currency}`, EXPLAINED_MS).catch(() => {});
  await settled(page);
  const said = await titles(page.locator('.why-total'));
  assert.ok(said.includes(`${amount} ${currency}`), `${said} is not ${amount} ${currency}: why of ${what}, ${href}`);
  const terms = (await titles(page.locator('.equation .term'))).map((one) => one.split(' ')).filter(([, code]) => code === currency);
  if (terms.length > 0 && terms.length === (await page.locator('.equation .term').count())) {
    assert.equal(decimal(terms.reduce((all, [one]) => all + ticks(one), 0n)), amount, `the terms add up: ${what}, ${href}`);
  }
}

// Some of the links to an explanation, each with the exact figure before it.
async function explain_some(figures, what, most = 2) {
  const left = figures.filter(({href}) => href);
  for (let i = 0; i < most && left.length > 0; ++i) {
    const [{href, amount, currency}] = left.splice(Math.floor(rng() * left.length), 1);
    await explained(href, amount, currency, what);
  }
}
const hrefs = (of) => of.evaluateAll((all) => all.map((one) => one.getAttribute('href')));

describe('figures are the report\'s', {skip: !program && 'needs the program', timeout: 850_000}, () => {
  before(async () => {
    browser = await launch();
    server = await serve(LEDGER);
    page = await open(browser, {url: server.url});
    await enter(page, 'admin', server.people.admin);
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  for (let round = 0; round < ROUNDS; ++round) {
    test(`Explore, round ${round}`, async () => {
      for (let i = 0; i < 3; ++i) {
        const [period, filters, cost, currency, by] = [pick(PERIODS), pick(FILTERS), pick(COSTS), pick(CURRENCIES), pick(['team', 'user', 'node', 'kind', 'team,kind', 'cluster,component'])];
        const what = await look('/explore', query(period, {filters, cost, currency, by, step: 'none'}), 'Explore');
        const said = report(['--by', by, ...options(period, {filters, cost, currency})]);
        const names = by.split(',');
        const regions = page.locator('main .card', {has: page.locator('.why')}).filter({has: page.locator('tbody')});
        const shown = [];
        const links = [];
        for (let at = 0; at < await regions.count(); ++at) {
          const code = (await regions.nth(at).locator('thead').innerText()).match(/\b(USD|EUR)\b/i)?.[0].toUpperCase();
          const found = await rows_of(regions.nth(at), names.length);
          const why = await hrefs(regions.nth(at).locator('tbody tr .why'));
          shown.push(...found.map(({name, numbers}) => `${code} ${name.join('/')} ${numbers[0].split(' ')[0]}`));
          if (why.length === found.length) links.push(...found.map(({numbers}, row) => ({href: why[row], amount: numbers[0].split(' ')[0], currency: code})));
        }
        const wanted = Object.entries(said).flatMap(([code, rows]) => rows.map((row) => `${code} ${names.map((name) => row[name]).join('/')} ${row[`${cost}_cost`]}`));
        assert.deepEqual(shown.sort(), wanted.sort(), what);
        await explain_some(links, what);
      }
    });

    test(`Overview, round ${round}`, async () => {
      const [month, currency, by] = [pick(['2026-02', '2026-03']), pick(CURRENCIES), pick(['team', 'user', 'cluster'])];
      const what = await look('/', query({month}, {currency, by}), 'Overview');
      const said = report(['--by', `${by},kind`, ...options({month}, {currency})]);
      // In another currency each row is converted alone, so a sum depends in its last digit on how rows are grouped.
      const by_kind = report(['--by', 'kind', ...options({month}, {currency})]);
      const blocks = page.locator('main .stack:has(> .grid-figures)');
      assert.equal(await blocks.count(), Object.keys(said).length, what);
      const links = [];
      for (let at = 0; at < await blocks.count(); ++at) {
        const block = blocks.nth(at);
        const code = (await block.locator('.grid-figures .num[title*=" "]').first().getAttribute('title')).split(' ')[1];
        const rows = said[code];
        const kinds = by_kind[code];
        const figure = (label) => block.locator('.figure', {has: page.getByText(label, {exact: true})}).first();
        const expected = {
          Spend: sum(kinds, 'effective_cost'), Used: sum(kinds, 'effective_cost', (row) => row.kind === 'used'),
          Unallocated: sum(kinds, 'effective_cost', (row) => KINDS_OF_NOBODY.has(row.kind)),
        };
        for (const [label, amount] of Object.entries(expected)) {
          assert.ok((await titles(figure(label))).includes(`${amount} ${code}`), `${label} is not ${amount} ${code}: ${await titles(figure(label))}, ${what}`);
          links.push({href: (await hrefs(figure(label).locator('.why')))[0], amount, currency: code});
        }
        const owners = new Set(rows.map((row) => row[by]));
        const table = block.getByRole('region', {name: `Spend by ${by}`});
        const shown = await rows_of(table);
        assert.deepEqual(shown.map(({name, numbers}) => `${name[0]} ${numbers[0]}`).sort(), [...owners].map((owner) => `${owner} ${sum(rows, 'effective_cost', (row) => row[by] === owner)}`).sort(), what);
        const why = await hrefs(table.locator('tbody tr .why'));
        if (why.length === shown.length) links.push(...shown.map(({numbers}, row) => ({href: why[row], amount: numbers[0], currency: code})));
      }
      await explain_some(links, what, 3);
    });

    test(`Workloads, round ${round}`, async () => {
      const [month, filters, currency] = [pick(['2026-02', '2026-03']), pick([[], [`team=${NAMES.team}`], [`team!=${NAMES.team}`], [`user=${NAMES.users.split(',')[0]}`], [`node=${NAMES.euros}`]]), pick(CURRENCIES)];
      const what = await look('/workload', query({month}, {filters, currency}), 'Workloads');
      const said = report(['--by', 'workload,cluster', ...options({month}, {filters: [...filters, 'kind=used,held_idle'], currency})]);
      const table = page.getByRole('region', {name: 'Workloads', exact: true});
      const shown = await rows_of(table);
      const several = Object.keys(said).length > 1;
      const wanted = Object.entries(said).flatMap(([code, rows]) => rows.map((row) => `${row.workload} ${row.effective_cost}${several ? ` ${code}` : ''}`));
      assert.deepEqual(shown.map(({name, numbers}) => `${name[0]} ${numbers[0]}`).sort(), wanted.sort(), what);
      const why = await hrefs(table.locator('tbody tr .why'));
      assert.equal(why.length, shown.length, `each workload is explained: ${what}`);
      const code = Object.keys(said)[0];
      await explain_some(shown.map(({numbers}, row) => ({href: why[row], amount: numbers[0].split(' ')[0], currency: numbers[0].split(' ')[1] ?? code})), what);
    });

    test(`Coverage, round ${round}`, async () => {
      const [month, currency, by] = [pick(['2026-02', '2026-03']), pick(CURRENCIES), pick(['team', 'user'])];
      const what = await look('/coverage', query({month}, {currency, by}), 'Coverage');
      // Each figure is one of the report's, converted as it is there: from the sum of its bill lines' shares.
      const of_gpus = (...more) => report(['--by', 'component', ...options({month}, {filters: ['component=gpu', ...more], currency})]);
      const all = of_gpus();
      const [none, some] = [of_gpus(`${by}=`), of_gpus(`${by}!=`)];
      const whole = report(['--by', 'kind', ...options({month}, {currency})]);  // as on the Overview
      const gpu = report(['--by', 'instance_type', ...options({month}, {filters: ['component=whole', 'kind=unallocated'], currency})]);
      const links = [];
      const cards = page.locator('main .card', {has: page.getByText('GPU spend reaches a', {exact: false})});
      assert.equal(await cards.count(), Object.keys(all).length, what);
      for (let at = 0; at < await cards.count(); ++at) {
        const card = cards.nth(at);
        const code = (await titles(card))[0].split(' ').at(-1);
        // The rented machines of this ledger name their type, and only unused commitments have none.
        assert.deepEqual((gpu[code] ?? []).map((row) => row.instance_type).filter((one) => !one.startsWith('(')), [], 'no machine is undivided');
        const [spend, gap, reached] = [all, none, some].map((tables) => sum(tables[code], 'effective_cost'));
        const headline = await titles(card.locator('.coverage-headline'));
        for (const amount of [spend, reached, ...(gap === '0' ? [] : [gap])]) assert.ok(headline.includes(`${amount} ${code}`), `${amount} ${code} is not among ${headline}: ${what}`);
        const stops = await card.locator('.stop-figures strong .num').evaluateAll((some) => some.map((one) => one.title.split(' ')[0]));
        assert.equal(decimal(stops.reduce((total, one) => total + ticks(one), 0n)), gap, `the reasons add up to the gap: ${what}`);
        for (const of of [card.locator('.coverage-headline'), card.locator('.stop-figures')]) {
          links.push(...await of.locator('.why').evaluateAll((some) => some.map((one) => {
            const [amount, currency] = one.previousElementSibling.title.split(' ');
            return {href: one.getAttribute('href'), amount, currency};
          })));
        }
        assert.equal(await card.locator('.stop-figures .why').count(), stops.filter((one) => one !== '0').length, `each reason is explained: ${what}`);
        const bill = page.getByRole('region', {name: 'GPU spend in the bill'}).nth(at);
        const parts = (await rows_of(bill)).map(({name, numbers}) => [name[0], numbers[0].split(' ')[0]]);
        for (const [part, filters] of Object.entries(PARTS_OF_BILL)) {
          const wanted = sum(report(['--by', 'month', ...options({month}, {filters, currency})])[code], 'effective_cost');
          const [, shown = '0'] = parts.find(([name]) => name.toLowerCase().startsWith(part)) ?? [];
          assert.equal(shown, wanted, `${part} of the bill is the report's: ${what}`);
        }
        const total = (await titles(bill.locator('tfoot')))[0].split(' ')[0];
        assert.equal(total, decimal(parts.reduce((all, [, amount]) => all + ticks(amount), 0n)), `the parts of the bill add up: ${what}`);
        // Each part is converted by itself, so that the sum may differ in its last digits from what is converted at once.
        const away = ticks(total) - ticks(sum(whole[code], 'effective_cost'));
        assert.ok(currency === 'original' ? away === 0n : away * away <= 100n, `${away} ticks from the report: ${what}`);
      }
      await explain_some(links, what, 3);
    });

    test(`Compare, round ${round}`, async () => {
      const [filters, cost, currency, by] = [pick([[], [`team=${NAMES.team}`], [`node=${NAMES.euros}`, 'kind=used,held_idle'], ['component=gpu']]), pick(COSTS), pick(CURRENCIES), pick(['team', 'user', 'node'])];
      const days = pick([null, {now: {from: '2026-03-03', to: '2026-03-17'}, before: {from: '2026-02-05', to: '2026-02-11'}}]);
      const now = days ? days.now : {month: '2026-03'};
      const before = days ? days.before : {month: '2026-02'};
      const what = await look('/compare', query({month: '2026-03', ...(days ? {...now, before_from: before.from, before_to: before.to} : {})}, {filters, cost, currency, by}), 'Compare');
      const column = `${cost}_cost`;
      const [a, b] = [before, now].map((period) => report(['--by', by, ...options(period, {filters, cost, currency})]));
      const codes = [...new Set([...Object.keys(a), ...Object.keys(b)])];
      const blocks = page.locator('main .stack:has(> .grid-figures)');
      assert.equal(await blocks.count(), codes.length, what);
      const links = [];
      for (let at = 0; at < codes.length; ++at) {
        const block = blocks.nth(at);
        const figures = await block.locator('.grid-figures .figure').evaluateAll((some) => some.map((one) => [one.querySelector('.num').title, one.querySelector('.why')?.getAttribute('href')]));
        const code = figures[0][0].split(' ')[1];
        const [x, y] = [sum(a[code], column), sum(b[code], column)];
        assert.deepEqual(figures.map(([title]) => title), [`${x} ${code}`, `${y} ${code}`, `${decimal(ticks(y) - ticks(x))} ${code}`], what);
        links.push({href: figures[0][1], amount: x, currency: code}, {href: figures[1][1], amount: y, currency: code});
        const steps = (await block.locator('.bridge .mover-sum .num').evaluateAll((some) => some.map((one) => one.title.split(' ')[0]))).map(ticks);
        assert.equal(decimal(steps.slice(0, -1).reduce((total, one) => total + one, 0n)), y, `the bridge adds up: ${what}`);
        const owners = new Set([...(a[code] ?? []), ...(b[code] ?? [])].map((row) => row[by]));
        const of = (rows, owner) => sum(rows, column, (row) => row[by] === owner);
        const shown = await block.getByRole('region', {name: `Costs by ${by} in both periods`}).locator('tbody tr').evaluateAll((some) => some.map((row) =>
          [row.children[0].querySelector('[title]')?.title, ...[1, 2].map((cell) => row.children[cell].querySelector('.num')?.title ?? '0')].join(' ')));
        assert.deepEqual(shown.sort(), [...owners].map((owner) => `${owner} ${of(a[code], owner)} ${of(b[code], owner)}`).sort(), what);
      }
      await explain_some(links, what);
    });
  }

  test('nothing complained', async () => assert.deepEqual(await page.complaints(), []));
});
