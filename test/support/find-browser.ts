import { existsSync } from "node:fs";

/** The first is the same browser without windows, and takes half the time. */
const PLACES = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** The path of a Chromium; null where there is none. */
export function findBrowser(): string | null {
  const given = process.env["CHROMIUM_PATH"];
  return (given === undefined ? PLACES : [given]).find((path) => existsSync(path)) ?? null;
}
