// Pictures of pages, to look at: node web/dev/shots.mjs URL FOLDER PAGE… , a PAGE being a path with
// its query. Each at two sizes and in both themes. Says what the console of the browser said.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const SIZES = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };
const [base, folder, ...pages] = process.argv.slice(2);
const only = (process.env.ONLY ?? "").split(",").filter(Boolean);
const scenario = process.env.SCENARIO;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [size, viewport] of Object.entries(SIZES)) {
  for (const theme of ["light", "dark"]) {
    if (only.length && !only.includes(`${size}-${theme}`)) continue;
    const context = await browser.newContext({ viewport, colorScheme: theme });
    if (scenario) await context.addCookies([{ name: "scenario", value: scenario, url: base }]);
    const page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && console.log(`${size} ${theme}: ${message.text()}`));
    page.on("pageerror", (error) => console.log(`${size} ${theme}: ${error.message}`));
    for (const path of pages) {
      await page.goto(base + path, { waitUntil: "load" });
      await page.waitForTimeout(1200);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) console.log(`${size} ${theme} ${path}: ${wide} px too wide`);
      const name = `${path.replace(/^\//, "").replace(/[^\w.-]+/g, "_").slice(0, 40) || "overview"}-${size}-${theme}.png`;
      await page.screenshot({ path: `${folder}/${name}`, fullPage: process.env.FULL !== "0" });
    }
    await context.close();
  }
}
await browser.close();
