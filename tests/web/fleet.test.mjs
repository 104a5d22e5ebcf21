// The map of ten thousand GPUs stays fluent: it is there at once, and follows the mouse and the keys.
// The fleet is made up here and handed to the page in the API's place.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {address, axe, enter, go, launch, open, serve, until} from './browser.mjs';

const NODES = 1250;
const PAGE = 1000; // nodes of an answer
// Generous: the machine of a test has much else to do. A frame that drew each tile as an element
// would take seconds.
const DRAWN_MS = 8000;
const FRAME_MS = 400;

const node = (n) => ({
  cluster: n % 3 === 0 ? 'lab' : 'prod', node: `node-${n}`, instance_type: 'p5.48xlarge', region: 'eu-west-1', state: 'held',
  price_per_hour: '55.04', currency: 'USD',
  gpus: Array.from({length: 8}, (_, i) => {
    const held = (n * 7 + i) % 5 !== 0;
    return {index: i, uuid: `GPU-${n}-${i}`, model: 'NVIDIA H100 80GB HBM3', mig: n % 50 === 0 && i === 0 ? ['3g.40gb', '2g.20gb', '1g.10gb'] : [],
      held, busy: held ? (((n * 31 + i * 17) % 101) / 100).toFixed(2) : null, memory: null,
      holders: held ? [{workload: `job-${n}`, share: '1', owner: `team-${n % 12}`, placed: true}] : [], cost_per_hour: '6.88'};
  }),
});
const nodes = Array.from({length: NODES}, (_, n) => node(n));

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await serve('empty');
});
after(async () => {
  await browser.close();
  await server.stop();
});

async function fleet_page(size) {
  const page = await open(browser, {url: server.url, size});
  await page.route('**/api/v1/fleet*', (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const next = from + PAGE < NODES ? String(from + PAGE) : null;
    return route.fulfill({json: {at: '2026-03-19T20:15:00Z', clusters: [{cluster: 'lab', watched: true, last_held: null}, {cluster: 'prod', watched: true, last_held: null}], nodes: nodes.slice(from, from + PAGE), next}});
  });
  const [[name, password]] = Object.entries(server.people);
  await enter(page, name, password);
  return page;
}

test('ten thousand GPUs as tiles', {timeout: 300_000}, async () => {
  const page = await fleet_page('desk');
  const begun = Date.now();
  await go(page, '/fleet', 'Fleet');
  await until(page, () => document.querySelector('.fleet-map canvas')?.height > 100);
  const drawn = Date.now() - begun;
  assert.match(await page.locator('.figure').first().textContent(), /10,000/);
  // The longest frame while the mouse goes over the map.
  await page.evaluate(() => {
    window.longest = 0;
    let last = performance.now();
    const look = (now) => {
      window.longest = Math.max(window.longest, now - last);
      last = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  const box = await page.locator('.fleet-map canvas').first().boundingBox();
  await page.evaluate(() => (window.longest = 0));
  for (let i = 0; i < 30; ++i) await page.mouse.move(box.x + 20 + i * 25, box.y + 60 + i * 5);
  await page.mouse.move(box.x + 4, box.y + 30); // the first tile of the first cluster
  await page.locator('.fleet-tip').waitFor();
  const longest = await page.evaluate(() => window.longest);
  console.log(`10,000 GPUs: there after ${drawn} ms, the longest frame ${Math.round(longest)} ms`);
  assert.ok(drawn < DRAWN_MS, `there after ${drawn} ms`);
  assert.ok(longest < FRAME_MS, `a frame of ${longest} ms`);
  // The legend shows only those.
  await page.getByRole('button', {name: /^Free/}).click();
  assert.match(await address(page), /only=free/);
  if (process.env.PICTURE) await page.screenshot({path: process.env.PICTURE, fullPage: true});
  assert.deepEqual(await page.complaints(), []);
  await page.context().close();
});

test('the same as a list', {timeout: 300_000}, async () => {
  const page = await fleet_page('phone');
  await go(page, '/fleet?view=list', 'Fleet');
  const rows = await page.locator('main tbody tr').count();
  assert.ok(rows > 100 && rows <= 1000, `${rows} rows at once`);
  await page.getByRole('searchbox', {name: 'Search GPUs'}).fill('node-1249');
  await until(page, () => document.querySelectorAll('main tbody tr').length === 8);
  assert.deepEqual(await axe(page), []);
  await page.context().close();
});
