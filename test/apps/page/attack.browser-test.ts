import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSignIn } from "../../../src/access/page-sessions.ts";
import { startCanary, type Canary } from "../../support/canary.ts";
import { newWindow } from "../../support/looks.ts";
import { evil, fillWithHostileTexts, type HostileWorld, MARK } from "./hostile-world.ts";
import { startPageHost, type PageHost } from "./page-host.ts";

/*
 * Whoever writes a caption, names a channel or answers as a platform writes into this page. It shows it, and does
 * nothing else with it.
 */

let host: PageHost;
let world: HostileWorld;

beforeAll(async () => {
  host = await startPageHost();
  world = await fillWithHostileTexts(host);
});
afterAll(() => host?.[Symbol.asyncDispose]());

/** Notes whatever runs, is blocked, or leaves for elsewhere. */
async function watch(page: Page): Promise<readonly string[]> {
  const seen: string[] = [];
  await page.exposeFunction("report", (text: string) => void seen.push(text));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => report(`policy: ${event.violatedDirective} ${event.sourceFile}`))",
  );
  page.on("dialog", (dialog) => {
    // The page's own question before a text that is not kept yet is left.
    if (dialog.type() === "beforeunload") return void dialog.accept();
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

const DOORS = [
  "[aria-haspopup=dialog]",
  "[aria-label^=Revoke]",
  "[aria-label^=Delete]",
  "[aria-label^='Sign out']",
];

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
  plan: ["caption", "title", "error", "channel", "label", "note", "draft title"],
  write: ["caption", "channel", "thread part", "address", "draft title"],
  review: [
    "draft title",
    "channel",
    "check",
    "remark",
    "shown",
    "part",
    "decision",
    "draft label",
    "draft note",
  ],
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
    `/app/plan?post=${world.labelled}`,
    ...["scheduled", "published", "failed"].map((one) => `/app/plan?post=post_${one}`),
    `/app/plan?${query({ view: word, day: word, channel: word, state: word, label: word, search: word, post: word })}`,
    `/app/plan?${query({ view: "list", label: word, search: word })}`,
  ],
  write: () => [
    `/app/write?draft=${world.draft}`,
    "/app/write?post=post_scheduled",
    "/app/write?copy=post_failed",
    `/app/write?${query({ title: word, text: word, url: "javascript:alert(1)", account: word, at: word })}`,
    `/app/write?${query({ draft: word })}`,
    `/app/write?${query({ post: word })}`,
  ],
  review: () => [
    "/app/review",
    "/app/review?show=decided",
    `/app/review?draft=${world.draft}`,
    `/app/review?${query({ show: word, draft: word })}`,
  ],
  trouble: () => ["/app/trouble", `/app/trouble?${query({ a: word })}`],
  results: () => ["/app/results", `/app/results?${query({ from: word })}`],
  channels: () => [
    "/app/channels",
    `/app/channels?account=${world.feed}`,
    `/app/channels?account=${world.lost}`,
    "/app/channels?connect=",
    ...["mastodon", "bluesky", "webhook"].map((one) => `/app/channels?connect=${one}`),
    `/app/channels?connect=bluesky&account=${world.lost}`,
    `/app/channels?${query({ account: word })}`,
    `/app/channels?${query({ connect: word, account: word })}`,
  ],
  settings: () => ["/app/settings", `/app/settings#${encodeURIComponent(word)}`],
  nowhere: () => [
    `/app/${encodeURIComponent(word.replaceAll("/", ""))}`,
    "/app//evil.example/",
    "/app/javascript:alert(1)",
  ],
};

describe("texts of others", () => {
  it.each(Object.keys(ROOMS))("run nothing, call nothing and break nothing in the room %s", async (room) => {
    const page = await host.open({ path: "/app/settings" });
    const seen = await watch(page);
    const faults: string[] = [];
    const texts: string[] = [];
    for (const address of ROOMS[room]?.() ?? []) {
      await page.goto(`${host.address}${address}`);
      faults.push(...(await lookAt(page, decodeURIComponent(address).slice(0, 60))));
      texts.push(String(await page.evaluate(TEXTS)));
    }
    faults.push(...(await openEachDialog(page, room)));
    const missing = (SEEN[room] ?? []).filter((where) => !texts.join("\n").includes(`window.ran='${where}'`));
    expect([seen, faults, missing]).toEqual([[], [], []]);
    await page.context().close();
  });
});

describe("pages of others", () => {
  let elsewhere: Canary;

  beforeAll(async () => {
    elsewhere = await startCanary((_request, response) => {
      // Nothing that a page of ours fetches may be answered as ours.
      response.setHeader("Content-Type", "text/html");
      response.setHeader("Access-Control-Allow-Origin", "*");
      response.end("<!doctype html><title>elsewhere</title><h1>Elsewhere</h1>");
    });
  });
  afterAll(() => elsewhere[Symbol.asyncDispose]());

  /** Signed in, and then at another page: of the same machine at another port, and of another name of it. */
  async function strangers(): Promise<Page[]> {
    const page = await host.open({ path: "/app/settings" });
    const other = await page.context().newPage();
    await page.goto(`${elsewhere.origin}/`);
    await other.goto(`http://localhost:${elsewhere.port}/`);
    return [page, other];
  }

  it("hold none of ours in a frame, and reach none by a window that they opened", async () => {
    for (const page of await strangers()) {
      const inside: unknown = await page.evaluate(`(async () => {
        const frame = document.createElement("iframe");
        const loaded = new Promise((done) => frame.addEventListener("load", done));
        frame.src = "${host.address}/app/settings";
        document.body.append(frame);
        await loaded;
        try { return frame.contentDocument?.title ?? null } catch { return null }
      })()`);
      expect(inside).toBeNull();
      const framed = page.frames().find((frame) => frame !== page.mainFrame());
      expect(framed?.url()).not.toContain("/app/settings");
      const [opened] = await Promise.all([
        page.context().waitForEvent("page"),
        page.evaluate(`void (window.opened = window.open("${host.address}/app/settings"))`),
      ]);
      await opened.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
      expect([await opened.evaluate("opener"), await page.evaluate("opened.closed")]).toEqual([null, true]);
      await opened.close();
    }
  });

  it("do nothing and read nothing by requests of any kind, also with the cookie", async () => {
    const before = await stateOf();
    for (const page of await strangers()) {
      const got: any = await page.evaluate(`(async () => {
        const api = "${host.address}/app/api";
        const json = JSON.stringify({ caption: "theirs", accountId: "${world.feed}" });
        const read = [];
        const ask = (path, options) =>
          fetch(api + path, { credentials: "include", ...options })
            .then((answer) => answer.text())
            .then((text) => text !== "" && read.push(path + " " + text.slice(0, 80)), () => {});
        for (const mode of ["cors", "no-cors"])
          for (const path of ["/session", "/sessions", "/keys", "/tools", "/backup"]) await ask(path, { mode });
        for (const path of ["/tools/schedule_post", "/keys", "/session", "/welcome", "/files", "/push"])
          for (const options of [
            { mode: "no-cors", body: json },
            { mode: "no-cors", body: new URLSearchParams({ caption: "theirs" }) },
            { mode: "cors", body: json, headers: { "Content-Type": "application/json", "X-Posthorn-Page": "1" } },
            { mode: "cors", body: json, headers: { "X-HTTP-Method-Override": "DELETE" } },
          ])
            await ask(path, { method: "POST", ...options });
        await ask("/session", { method: "DELETE", mode: "cors" });
        navigator.sendBeacon(api + "/tools/schedule_post", json);
        const load = (name, address) =>
          new Promise((done) => {
            const element = document.createElement(name);
            element.onload = () => { read.push(name + " " + address); done() };
            element.onerror = done;
            element.src = address;
            document.body.append(element);
          });
        await load("img", "${host.address}/app/icon-192.png");
        await load("img", api + "/pictures?size=96&url=file");
        await load("script", api + "/session");
        await load("script", api + "/keys");
        return read;
      })()`);
      expect(got).toEqual([]);
      // A form that is sent takes the window there.
      for (const enctype of ["text/plain", "application/x-www-form-urlencoded"]) {
        await page.evaluate(`(() => {
          const form = document.createElement("form");
          Object.assign(form, { method: "post", enctype: "${enctype}", action: "${host.address}/app/api/tools/schedule_post" });
          form.innerHTML = '<input name=\\'{"accountId":"${world.feed}","caption":"theirs\\' value=\\'"}\\'>';
          document.body.append(form);
          form.submit();
        })()`);
        await page.waitForURL(/\/app\/api\//);
        expect(await page.textContent("body")).toContain("a page of another address asks");
        await page.goBack();
      }
    }
    expect(await stateOf()).toEqual(before);
  });

  async function stateOf(): Promise<unknown> {
    const { posts } = await host.call("list_posts", {});
    const { keys } = (await host.ask("GET /api/v1/tools")).json;
    return [posts.map(({ id }: { id: string }) => id), keys];
  }
});

it("the page's worker serves the page alone", async () => {
  const page = await host.open({ path: "/app/settings" });
  const register = (options: string): Promise<unknown> =>
    page.evaluate(
      `navigator.serviceWorker.register("/app/sw.js", ${options}).then(({ scope }) => scope, () => null)`,
    );
  for (const scope of ["/", "/api/", "/app"])
    expect([scope, await register(`{ scope: "${scope}" }`)]).toEqual([scope, null]);
  expect(await register("{}")).toBe(`${host.address}/app/`);
  // Nothing else that the server sends is a worker: a script of another address, or what someone uploaded.
  for (const script of [
    "/api/v1/docs",
    "/app/api/session",
    "https://evil.example/sw.js",
    "data:text/javascript,1",
  ])
    expect(
      await page.evaluate(`navigator.serviceWorker.register("${script}").then(() => "taken", () => null)`),
    ).toBeNull();
  await page.context().close();
});

it("a one-time address that was stolen after its use, or made up, signs no one in", async () => {
  const token = await makeSignIn(host.ctx);
  for (const [at, hash] of [
    token,
    token,
    evil("token", ""),
    "a".repeat(100_000),
    "../../api/session",
  ].entries()) {
    await using window = await newWindow({ width: 1_280 });
    const page = await window.newPage();
    const seen = await watch(page);
    await page.goto(`${host.address}/app/sign-in#${at > 1 ? encodeURIComponent(hash) : hash}`);
    await page.getByRole("heading", { name: at === 0 ? "Plan" : "Sign in", exact: true }).waitFor();
    if (at > 0) await page.getByRole("alert").waitFor();
    expect([page.url(), seen, await faultsOf(page)]).toEqual([
      `${host.address}/app/${at === 0 ? "plan" : "sign-in"}`,
      [],
      [],
    ]);
    expect(await page.evaluate("document.cookie + localStorage.length + sessionStorage.length")).toBe("00");
  }
});
