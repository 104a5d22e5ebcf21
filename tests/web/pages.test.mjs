// Every page at two sizes and in both themes: it shows its head, nothing is thrown, stopped by the
// content security policy or reported in red, it is no wider than the window, and axe finds nothing
// serious. The same for a first start, where every page has to say what to connect next.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, launch, open, PAGES, program, serve, settled, sign_in, SIZES, THEMES, too_wide} from './browser.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function look(page, path, title) {
  await page.goto(path);
  await settled(page, title);
  assert.equal(await page.locator('main h1').count(), 1, 'one h1');
  assert.equal(await page.locator('.note-bad').count(), 0, await page.locator('.note-bad').first().textContent({timeout: 1}).catch(() => ''));
  const wide = await too_wide(page);
  assert.ok(wide <= 0, `${wide} px wider than the window`);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(await page.complaints(), []);
}

for (const what of ['full', 'empty']) {
  describe(`a ${what} ledger`, () => {
    let server;
    before(async () => {
      server = await serve(what);
    });
    after(() => server.stop());
    for (const [size] of Object.entries(SIZES)) {
      for (const theme of THEMES) {
        // A first start is looked at once: what is empty does not depend on the theme.
        if (what === 'empty' && (size === 'desk') !== (theme === 'dark')) continue;
        test(`${size}, ${theme}`, {timeout: 600_000}, async (t) => {
          const page = await open(browser, {size, theme, url: server.url});
          const [[name, password]] = Object.entries(server.people);
          await sign_in(page, name, password);
          for (const [path, title] of PAGES) {
            await t.test(path, async () => {
              await look(page, path, title);
              if (what === 'empty' && program && /^\/(coverage|fleet|bills|invoices)$/.test(path)) {
                assert.ok(await page.locator('.empty').count() > 0, 'an empty page says what to connect next');
              }
            });
          }
          await page.context().close();
        });
      }
    }
  });
}

describe('without a sign-in', () => {
  let server;
  before(async () => {
    server = await serve('full');
  });
  after(() => server.stop());
  test('sees the sign-in, and nothing else', {skip: !program}, async () => {
    for (const theme of THEMES) {
      const page = await open(browser, {theme, url: server.url});
      await page.goto('/bills');
      await page.waitForURL(/\/signin/);
      await page.locator('input[type=password]').waitFor();
      assert.deepEqual(await axe(page), []);
      assert.deepEqual(await page.complaints(), []);
      await page.context().close();
    }
  });
});
