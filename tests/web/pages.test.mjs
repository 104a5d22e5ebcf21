// Every page at two sizes and in both themes: it shows its head, nothing is thrown, stopped by the
// content security policy or reported in red, it is no wider than the window, and axe finds nothing
// serious. The same for a first start, where every page has to say what to connect next. On the desk each
// page is loaded by its address, on the phone each is reached by a link.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, axe_in_themes, enter, follow, go, launch, open, PAGES, program, serve, SIZES, THEMES, too_wide} from './browser.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const what of ['full', 'empty']) {
  describe(`a ${what} ledger`, () => {
    let server;
    before(async () => {
      server = await serve(what);
    });
    after(() => server.stop());

    async function look(page) {
      assert.equal(await page.locator('main h1').count(), 1, 'one h1');
      assert.equal(await page.locator('.note-bad').count(), 0, await page.locator('.note-bad').first().textContent({timeout: 1}).catch(() => ''));
      const wide = await too_wide(page);
      assert.ok(wide <= 0, `${wide} px wider than the window`);
      // A first start is looked at in one theme: what is empty has the colours of what is not.
      assert.deepEqual(await (what === 'empty' ? axe(page) : axe_in_themes(page)), []);
      assert.deepEqual(await page.complaints(), []);
    }

    for (const size of Object.keys(SIZES)) {
      test(size, {timeout: 600_000}, async (t) => {
        const page = await open(browser, {size, theme: what === 'empty' && size === 'desk' ? 'dark' : 'light', url: server.url});
        const [[name, password]] = Object.entries(server.people);
        await enter(page, name, password);
        if (size === 'phone') await go(page, '/account', 'Account');
        for (const [path, title] of PAGES) {
          await t.test(path, async () => {
            await (size === 'phone' ? follow : go)(page, path, title);
            await look(page);
            if (what === 'empty' && program && /^\/(coverage|fleet|bills|invoices)$/.test(path)) {
              assert.ok(await page.locator('.empty').count() > 0, 'an empty page says what to connect next');
            }
          });
        }
        await page.context().close();
      });
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
