import { chromium, type Browser } from "playwright-core";
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

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null) {
    throw new Error(
      "There is no Chromium. Install it (apt-get install chromium-headless-shell), or set CHROMIUM_PATH to one.",
    );
  }
  return chromium.launch({ executablePath, args: FLAGS });
}
