import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSignIn } from "../../../src/access/page-sessions.ts";
import { launchBrowser } from "../../support/browser.ts";
import { startCanary, type Canary } from "../../support/canary.ts";
import { newWindow } from "../../support/looks.ts";
import { evil, fillWithHostileTexts, MARK } from "./hostile-world.ts";
import { startPageHost, type PageHost } from "./page-host.ts";

/*
 * Whoever writes a caption, names a channel or answers as a platform writes into this page. It shows it, and does
 * nothing else with it.
 */

let browser: Browser;
let host: PageHost;
let ids: readonly string[];

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), startPageHost()]);
  ids = await fillWithHostileTexts(host);
});
afterAll(async () => {
  await browser?.close();
  await host?.[Symbol.asyncDispose]();
});

/** Notes whatever runs, is blocked, or leaves for elsewhere. */
async function watch(page: Page): Promise<readonly string[]> {
  const seen: string[] = [];
  await page.exposeFunction("report", (text: string) => void seen.push(text));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => report(`policy: ${event.violatedDirective} ${event.sourceFile}`))",
  );
  page.on("dialog", (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(host.address) && !url.startsWith("data:") && !url.startsWith("blob:"))
      seen.push(`request: ${url.slice(0, 200)}`);
  });
  page.on("pageerror", (error) => seen.push(`error: ${error.message.slice(0, 200)}`));
  page.on("popup", (popup) => seen.push(`window: ${popup.url()}`));
  return seen;
}

/** What is wrong with what stands there now. */
async function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const faults = [];
    if (window.ran !== undefined) faults.push("ran: " + window.ran);
    for (const one of document.querySelectorAll("[${MARK}], base, iframe, object, embed, script:not([src])"))
      faults.push("element: " + one.outerHTML.slice(0, 200));
    for (const one of document.querySelectorAll("*"))
      for (const { name, value } of one.attributes) {
        if (/^on/.test(name)) faults.push("event: " + name);
        const isAddress = /^(href|src|action|formaction|data|poster|xlink:href)$/.test(name);
        if (!isAddress) continue;
        const { protocol, origin } = new URL(value, location.href);
        const isOwn = origin === location.origin || protocol === "blob:";
        const isInstall = /^(cursor:\\/\\/anysphere\\.cursor-deeplink\\/|vscode:mcp\\/install\\?)/.test(value);
        const isLink = one.localName === "a" && ["http:", "https:", "mailto:"].includes(protocol);
        if (!isOwn && !isLink && !isInstall) faults.push("address: " + one.localName + " " + value.slice(0, 100));
        if (isLink && !isOwn && !/noopener/.test(one.rel)) faults.push("opener: " + value.slice(0, 100));
      }
    return [...new Set(faults)];
  })()`);
}

/** Of the window and of what lies above it: what reaches past their edges, where one would have to go sideways. */
const WIDER = `(() => {
  const roots = [document.documentElement, ...document.querySelectorAll("dialog[open], .sheet-body")];
  return roots.filter((root) => root.scrollWidth > root.clientWidth + 1).map((root) => {
    const edge = root.getBoundingClientRect().left + root.clientWidth + 1;
    const widest = [...root.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > edge).slice(0, 4);
    return [root, ...widest].map((one) => one.localName + "." + one.className).join(" > ") + " " + root.scrollWidth;
  });
})()`;

async function widthFaultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of [360, 1_280]) {
    await page.setViewportSize({ width, height: 800 });
    const wider: unknown = await page.evaluate(WIDER);
    if (Array.isArray(wider)) faults.push(...wider.map((one) => `wider than ${width}: ${one}`));
  }
  return faults;
}

/** Opens what is closed, and answers what is wrong. */
async function lookAt(page: Page, where: string): Promise<string[]> {
  await page.locator("h1").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.locator(".bones, [aria-busy=true]").first().waitFor({ state: "detached" });
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
  const faults = [...(await faultsOf(page)), ...(await widthFaultsOf(page))];
  return faults.map((fault) => `${where}: ${fault}`);
}

const TEXTS =
  "document.body.innerText + [...document.querySelectorAll('input, textarea')].map((one) => one.value).join()";

const DOORS = ["[aria-haspopup=dialog]", "[aria-label^=Revoke]", "[aria-label^=Delete]", "[aria-label^='Sign out']"];

async function openEachDialog(page: Page, where: string): Promise<string[]> {
  const faults: string[] = [];
  const doors = page.locator("main").locator(DOORS.map((door) => `button${door}`).join(", "));
  for (let at = 0, count = await doors.count(); at < count; at++) {
    await doors.nth(at).click();
    await page.locator("dialog[open]").first().waitFor();
    faults.push(...(await lookAt(page, `${where}, dialog ${at}`)));
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").first().waitFor({ state: "detached" });
  }
  return faults;
}

/** What has to stand in each room, else it was not attacked. */
const SEEN: Readonly<Record<string, readonly string[]>> = {
  plan: ["caption", "title", "error", "channel", "label", "note", "warning", "draft title"],
  write: ["caption", "channel", "thread part", "address", "draft title"],
  review: ["draft title", "channel", "check", "remark", "shown", "part", "decision", "draft label", "draft note"],
  trouble: ["error", "channel", "reason", "caption"],
  results: ["channel"],
  channels: ["channel", "handle", "reason"],
  settings: ["key", "hook"],
  nowhere: [],
};

const query = (params: Record<string, string>): string => new URLSearchParams(params).toString();
const word = evil("address", "");

/** Rooms by their addresses, and something that shows in each that the texts are there. */
const ROOMS: Readonly<Record<string, () => readonly string[]>> = {
  plan: () => [
    "/app/plan",
    "/app/plan?view=week",
    "/app/plan?view=list",
    "/app/plan?view=list&order=latest",
    ...["scheduled", "published", "failed", "cancelled", "publishing"].map((one) => `/app/plan?post=post_${one}`),
    `/app/plan?${query({ view: word, day: word, channel: word, state: word, label: word, search: word, post: word })}`,
    `/app/plan?${query({ view: "list", label: word, search: word })}`,
  ],
  write: () => [
    `/app/write?draft=${ids[2]}`,
    "/app/write?post=post_scheduled",
    "/app/write?copy=post_failed",
    `/app/write?${query({ title: word, text: word, url: "javascript:alert(1)", account: word, at: word })}`,
    `/app/write?${query({ draft: word })}`,
    `/app/write?${query({ post: word })}`,
  ],
  review: () => [
    "/app/review",
    "/app/review?show=decided",
    `/app/review?draft=${ids[2]}`,
    `/app/review?${query({ show: word, draft: word })}`,
  ],
  trouble: () => ["/app/trouble", `/app/trouble?${query({ a: word })}`],
  results: () => ["/app/results", `/app/results?${query({ from: word })}`],
  channels: () => [
    "/app/channels",
    `/app/channels?account=${ids[0]}`,
    "/app/channels?account=acc_lost",
    "/app/channels?connect=",
    ...["mastodon", "bluesky", "webhook"].map((one) => `/app/channels?connect=${one}`),
    "/app/channels?connect=bluesky&account=acc_lost",
    `/app/channels?${query({ account: word })}`,
    `/app/channels?${query({ connect: word, account: word })}`,
  ],
  settings: () => ["/app/settings", `/app/settings#${encodeURIComponent(word)}`],
  nowhere: () => [`/app/${encodeURIComponent(word.replaceAll("/", ""))}`, "/app//evil.example/", "/app/javascript:alert(1)"],
};

describe("texts of others", () => {
  it.each(Object.keys(ROOMS))("run nothing, call nothing and break nothing in the room %s", async (room) => {
    const page = await host.open(browser, { path: "/app/settings" });
    const seen = await watch(page);
    const faults: string[] = [];
    const texts: string[] = [];
    for (const address of ROOMS[room]?.() ?? []) {
      await page.goto(`${host.address}${address}`);
      faults.push(...(await lookAt(page, decodeURIComponent(address).slice(0, 60))));
      texts.push(String(await page.evaluate(TEXTS)));
    }
    faults.push(...(await openEachDialog(page, room)));
    const missing = (SEEN[room] ?? []).filter((where) => !texts.join("\n").includes(`${where} <img src=x`));
    expect([seen, faults, missing]).toEqual([[], [], []]);
    await page.context().close();
  });
});
