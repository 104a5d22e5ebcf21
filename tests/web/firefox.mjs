// Debian's Firefox, driven by Marionette: Playwright's protocol needs a Firefox of its own. Only what a smoke test
// needs: go somewhere, run a script, type, open tabs, take a picture.
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const executable = process.env.FIREFOX || '/usr/bin/firefox-esr';
export const hasFirefox = fs.existsSync(executable);
const START_MS = 120_000;

async function connect(port, until) {
  for (;;) {
    const socket = net.connect(port, '127.0.0.1');
    const isOpen = await new Promise((done) => {
      socket.once('connect', () => done(true));
      socket.once('error', () => done(false));
    });
    if (isOpen) return socket;
    if (Date.now() > until) throw new Error('Firefox does not answer');
    await new Promise((done) => setTimeout(done, 200));
  }
}

async function free_port() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await new Promise((done) => probe.once('listening', done));
  const {port} = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

// {go, run, type, key, tab, shoot, errors, close}. `errors` are those of scripts of pages, from Firefox's own log.
export async function launch_firefox({width = 1440, height = 900} = {}) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'pennyweight-firefox-'));
  const port = await free_port();
  const prefs = {'marionette.port': port, 'browser.dom.window.dump.enabled': true, 'devtools.console.stdout.content': true,
    'datareporting.policy.dataSubmissionEnabled': false, 'app.update.disabledForTesting': true, 'browser.shell.checkDefaultBrowser': false,
    'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false, 'ui.prefersReducedMotion': 1,
    'services.settings.server': 'data:,', 'extensions.getAddons.cache.enabled': false, 'toolkit.telemetry.enabled': false};
  fs.writeFileSync(path.join(profile, 'user.js'), Object.entries(prefs).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
  const child = spawn(executable, ['--headless', '--marionette', '--no-remote', '--profile', profile, '--width', String(width), '--height', String(height)],
    {stdio: ['ignore', 'pipe', 'pipe'], env: {...process.env, MOZ_HEADLESS_WIDTH: String(width), MOZ_HEADLESS_HEIGHT: String(height)}});
  const errors = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      for (const line of text.split('\n')) if (/^JavaScript error: http|console\.error: .*(http|Error)/.test(line)) errors.push(line);
    });
  }
  const socket = await connect(port, Date.now() + START_MS);

  // A message is "LENGTH:JSON", of [0, id, command, parameters] and [1, id, error, result].
  let rest = Buffer.alloc(0);
  let last = 0;
  const waiting = new Map();
  socket.on('data', (some) => {
    rest = Buffer.concat([rest, some]);
    for (;;) {
      const colon = rest.indexOf(58);
      if (colon < 0) return;
      const end = colon + 1 + Number(rest.subarray(0, colon));
      if (rest.length < end) return;
      const message = JSON.parse(rest.subarray(colon + 1, end));
      rest = rest.subarray(end);
      if (!Array.isArray(message)) continue; // the greeting
      const [, id, error, result] = message;
      const {done, refuse} = waiting.get(id) ?? {};
      waiting.delete(id);
      if (error) refuse?.(new Error(`${error.error}: ${error.message}`));
      else done?.(result);
    }
  });
  const ask = (command, parameters = {}) => new Promise((done, refuse) => {
    const text = JSON.stringify([0, ++last, command, parameters]);
    waiting.set(last, {done, refuse});
    socket.write(`${Buffer.byteLength(text)}:${text}`);
  });

  await ask('WebDriver:NewSession', {capabilities: {alwaysMatch: {acceptInsecureCerts: true}}});
  await ask('WebDriver:SetTimeouts', {script: 60_000, pageLoad: 60_000});
  await ask('WebDriver:SetWindowRect', {width, height});
  const run = async (script, ...args) => (await ask('WebDriver:ExecuteScript', {script: `return (${script}).apply(null, arguments)`, args, sandbox: 'default'})).value;
  const find = async (selector) => Object.values((await ask('WebDriver:FindElement', {using: 'css selector', value: selector})).value)[0];
  return {
    errors,
    run,
    go: (url) => ask('WebDriver:Navigate', {url}),
    // Until a function of the page holds.
    until: async (script, ...args) => {
      const end = Date.now() + 60_000;
      while (!(await run(script, ...args))) {
        if (Date.now() > end) throw new Error(`waited in vain for ${script} ${args}`);
        await new Promise((done) => setTimeout(done, 100));
      }
    },
    type: async (selector, text) => ask('WebDriver:ElementSendKeys', {id: await find(selector), text}),
    click: async (selector) => ask('WebDriver:ElementClick', {id: await find(selector)}),
    tab: async () => {
      const {handle} = await ask('WebDriver:NewWindow', {type: 'tab', focus: true});
      await ask('WebDriver:SwitchToWindow', {handle});
    },
    shoot: async (file) => fs.writeFileSync(file, Buffer.from((await ask('WebDriver:TakeScreenshot', {full: false})).value, 'base64')),
    close: async () => {
      const ended = new Promise((done) => child.once('exit', done));
      await Promise.race([ask('Marionette:Quit', {flags: ['eForceQuit']}).catch(() => {}), ended]);
      await Promise.race([ended, new Promise((done) => setTimeout(done, 10_000))]);
      if (child.exitCode === null) child.kill('SIGKILL');
      socket.destroy();
      fs.rmSync(profile, {recursive: true, force: true, maxRetries: 5});
    },
  };
}
