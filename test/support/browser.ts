import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { findBrowser } from "./find-browser.ts";

/** What headless Chromium needs as root in a container, and to leave the network alone. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** One for the whole process, which it ends with. */
let shared: Promise<Browser> | null = null;

export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  return (await (shared ??= launch())).newContext(options);
}

export async function closeBrowser(): Promise<void> {
  await (await shared)?.close();
  shared = null;
}

async function launch(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null) {
    throw new Error(
      "There is no Chromium. Install it (apt-get install chromium-headless-shell), or set CHROMIUM_PATH to one.",
    );
  }
  return chromium.launch({ executablePath, args: FLAGS });
}
