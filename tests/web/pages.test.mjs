// Every page at two sizes and in both themes: it shows its head, nothing is thrown, stopped by the
// content security policy or reported in red, it is no wider than the window, and axe finds nothing
// serious. The same for a first start, where every page has to say what to connect next. Each page is
// reached by a link on a phone, whose window then becomes a desk's; and loaded by its address on the desk, but for tabs and views
// of a page, and for the first start.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, axe_in_themes, enter, follow, go, launch, open, PAGES, program, serve, settled, SIZES, THEMES, too_wide} from './browser.mjs';

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
      assert.deepEqual(await page.complaints(), []);
    }

    // `more`: of open().
    async function signed_in(t, more) {
      const page = await open(browser, {url: server.url, ...more});
      t.after(() => page.context().close());
      const [[name, password]] = Object.entries(server.people);
      await enter(page, name, password);
      return page;
    }

    test('on a phone and on a desk', {timeout: 900_000}, async (t) => {
      const page = await signed_in(t, {size: 'phone'});
      await go(page, '/account', 'Account');
      for (const [path, title] of PAGES) {
        await t.test(path, async () => {
          await follow(page, path, title);
          for (const size of ['phone', 'desk']) {
            await page.setViewportSize(SIZES[size]);
            // A first start is looked at in one theme each: what is empty has the colours of what is not.
            if (what === 'empty') await page.emulateMedia({colorScheme: size === 'phone' ? 'light' : 'dark'});
            await settled(page);
            await look(page);
            assert.deepEqual(await (what === 'empty' ? axe(page) : axe_in_themes(page)), [], size);
          }
          await page.setViewportSize(SIZES.phone);
          if (what === 'empty' && program && /^\/(coverage|fleet|bills|invoices)$/.test(path)) {
            assert.ok(await page.locator('.empty').count() > 0, 'an empty page says what to connect next');
          }
        });
      }
    });

    if (what === 'empty') return;
    test('by its address', {timeout: 600_000}, async (t) => {
      const page = await signed_in(t);
      for (const [path, title] of PAGES.filter(([path]) => !path.includes('?'))) {
        await t.test(path, async () => {
          await go(page, path, title);
          await look(page);
        });
      }
    });
  });
}

test('axe sees what is wrong', async (t) => {
  const page = await open(browser, {url: 'http://127.0.0.1'});
  t.after(() => page.context().close());
  await page.setContent(`<html lang="en"><title>A page</title><main><h1>A page</h1><button></button><p style="color:#999">Pale</p><table>${'<tr><td>A row<td><img src="data:,">'.repeat(20)}</table></main>`);
  const found = (await axe(page)).map((line) => line.split(':')[0]).sort();
  assert.deepEqual(found, ['button-name', 'color-contrast', 'image-alt']);
});

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
