import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

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

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(
      `There is no Chromium at ${executablePath}. Install it (apt-get install chromium), or set CHROMIUM_PATH to one.`,
    );
  }
  return chromium.launch({ executablePath, args: FLAGS });
}
