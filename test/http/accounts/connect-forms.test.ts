import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import { AppError } from "../../../src/domain/errors.ts";
import type { ConnectIo, SecretsWay } from "../../../src/ports/connect.ts";
import { NEWS, startConsentService, type ConsentService } from "../../support/consent-fixtures.ts";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const { platforms } = await loadCatalog();
const WAYS = [...platforms.values()].flatMap(({ name, connect }) =>
  connect.flatMap((way): [string, SecretsWay][] => (way.kind === "secrets" ? [[name, way]] : [])),
);

/** The page of a way, opened without script, with what a form sends it. */
async function open(provider: string, way: string, args: object = {}) {
  const { url } = await service.call("connect_channel", { provider, way, ...args });
  const address = `http://127.0.0.1:${service.port}${new URL(url).pathname}`;
  const read = async (answer: Response) => ({
    status: answer.status,
    text: (await answer.text()).replace(/<style>.*?<\/style>/s, ""),
  });
  return {
    ...(await read(await fetch(address))),
    post: async (fields: Record<string, string>) =>
      read(
        await fetch(`${address}?step=secrets&way=${way}`, {
          method: "POST",
          body: new URLSearchParams(fields),
        }),
      ),
  };
}

const inputOf = (text: string, name: string) => new RegExp(`<input[^>]*name="${name}"[^>]*>`).exec(text)?.[0];

/** Asks nobody: a platform that must know the server first says so before. */
const IO = new Proxy(
  { setting: () => null },
  {
    get: (target: object, name) =>
      Reflect.get(target, name) ??
      (() => {
        throw new Error("It went to the network.");
      }),
  },
) as ConnectIo;

describe.each(WAYS)("the form of %s", (provider, way) => {
  it(`(${way.name}) asks for the server where each channel has its own, and not otherwise`, async () => {
    const secrets = Object.fromEntries(way.fields.map(({ name }) => [name, "x"]));
    const input = { instanceUrl: null, handle: null, name: null, secrets, reconnecting: null };
    const error = await Promise.resolve()
      .then(() => way.connect(input, IO))
      .catch((thrown: unknown) => thrown);
    const isNeeded = error instanceof AppError && error.message.startsWith("instanceUrl: is required");
    expect(way.instance ?? "no").toBe(isNeeded ? "required" : "no");
    const { text } = await open(provider, way.name);
    expect(inputOf(text, "instanceUrl") !== undefined).toBe(isNeeded);
    const known = await open(provider, way.name, { instanceUrl: "https://social.example" });
    expect(inputOf(known.text, "instanceUrl")).toBeUndefined();
    if (way.place !== undefined) expect(known.text).toContain(`href="https://social.example${way.place}"`);
  });

  it(`(${way.name}) says nothing twice, links where to go, and names the platform rightly`, async () => {
    const { status, text } = await open(provider, way.name);
    expect(status).toBe(200);
    const shown = text.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");
    const sentences = shown.split(/(?<=[.!?]) /).filter((sentence) => sentence.trim().length > 25);
    expect(sentences.filter((sentence, at) => sentences.indexOf(sentence) !== at)).toEqual([]);
    for (const address of way.instructions.match(/https?:\/\/[^\s,)]+[^\s,).]/g) ?? [])
      expect(text).toContain(`href="${address}"`);
    expect(shown).not.toMatch(/does this|nobody but|UTC/);
  });
});

it.each([...platforms.values()].flatMap(({ name, connect }) => connect.map((way) => [name, way] as const)))(
  "what %s tells the person is understood in a chat as well",
  (_provider, { instructions }) => {
    expect(instructions).not.toMatch(/\b(here|below)\b/i);
  },
);

it.each([
  ["mastadon", "mastodon"],
  ["instagrm", "instagram"],
  ["twiter", "x"],
])("who asks for %s probably means %s", async (given, meant) => {
  const answer = await service.ask("POST /api/v1/tools/connect_channel", { json: { provider: given } });
  expect(answer.status).toBe(400);
  expect(answer.json.error).toContain(`Did you mean ${meant}?`);
});

it.each([
  ["Google My Business", "GOOGLE_BUSINESS"],
  ["insta", "INSTAGRAM"],
  ["fb", "FACEBOOK"],
  ["yt", "YOUTUBE"],
])("who asks for %s is told of the settings of %s", async (given, meant) => {
  const answer = await service.ask("POST /api/v1/tools/connect_channel", { json: { provider: given } });
  expect(answer.status).toBe(503);
  expect(answer.json.error).toContain(`POSTHORN_${meant}_CLIENT_ID`);
});

it("what a platform takes comes before the first step, on a page that needs no link", async () => {
  const answer = await service.ask("POST /api/v1/tools/connect_channel", { json: { provider: "threads" } });
  expect(answer.status).toBe(503);
  const [, path] = /http:\/\/[^/ ]+(\/connect\/setup\/threads)/.exec(answer.json.error) ?? [];
  const page = await fetch(`http://127.0.0.1:${service.port}${path}`);
  const text = (await page.text()).replace(/<style>.*?<\/style>/s, "");
  expect([page.status, page.headers.get("set-cookie")]).toEqual([200, null]);
  expect(text).toContain("<h1>Set up Threads</h1>");
  expect(text.indexOf("What it takes")).toBeLessThan(text.indexOf("Register an app"));
  expect(text).toContain("POSTHORN_THREADS_CLIENT_ID=\nPOSTHORN_THREADS_CLIENT_SECRET=");
  expect(text).not.toContain("localhost");
  for (const unknown of ["bluesky", "nowhere", "__proto__"])
    expect((await fetch(`http://127.0.0.1:${service.port}/connect/setup/${unknown}`)).status).toBe(404);
});

describe("what is entered on a form", () => {
  it("is the address of a webhook as one sees it, kept after an error, and not shown once it is stored", async () => {
    const { text, post } = await open("webhook", "webhook");
    expect(inputOf(text, "url")).toMatch(/type="text"[\s\S]*autocomplete="off"/);
    expect(inputOf(text, "secret")).toMatch(/type="password"/);
    const wrong = await post({ url: "hooks.example/?token=1", secret: "whsec_no" });
    expect(wrong.status).toBe(400);
    expect(inputOf(wrong.text, "url")).toContain('value="hooks.example/?token=1"');
    expect(wrong.text).not.toContain("whsec_no");
  });

  it("is the server, beside which its own fault is told", async () => {
    const { post } = await open("mastodon", "token");
    const empty = await post({ accessToken: "x" });
    expect(empty.status).toBe(400);
    expect(inputOf(empty.text, "instanceUrl")).toContain('aria-invalid="true"');
    const inward = await post({ instanceUrl: "10.0.0.1", accessToken: "x" });
    expect(inward.status).toBe(400);
    expect(inputOf(inward.text, "instanceUrl")).toMatch(/value="10\.0\.0\.1"[\s\S]*aria-invalid="true"/);
    expect(inputOf(inward.text, "accessToken")).not.toContain('value="x"');
    const away = await post({ instanceUrl: "social.example", accessToken: "x" });
    // Where there is no network, the server's name is nobody's fault.
    expect(away.text).toMatch(
      />Mastodon could not be reached: (no server of the name social\.example is found|this machine has no network)/,
    );
  });

  it("does not take a server where the link names one", async () => {
    const { post } = await open("mastodon", "token", { instanceUrl: "https://social.example" });
    const { status, text } = await post({ instanceUrl: "https://evil.example", accessToken: "x" });
    expect(status).toBe(400);
    expect(text).toContain("is not a field of Mastodon");
  });
});

describe("a consent on everybody's own server", () => {
  let at: ConsentService;
  beforeAll(async () => {
    at = await startConsentService({}, {}, { instance: "required" });
    at.parlor.channels = [NEWS];
  });
  afterAll(() => at[Symbol.asyncDispose]());

  it("begins with the server that is entered on the page, and ends there", async () => {
    const { url, connectId } = await at.connect({ way: "bot" });
    const page = new URL(url);
    page.searchParams.set("way", "oauth");
    expect(inputOf(await (await fetch(page)).text(), "instanceUrl")).toContain("required");
    page.searchParams.set("step", "consent");
    const send = (instanceUrl: string) =>
      fetch(page, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ instanceUrl }),
        headers: { "Sec-Fetch-Site": "same-origin" },
      });
    const refused = await send("http://u:p@127.0.0.1/");
    expect(refused.status).toBe(400);
    expect(inputOf(await refused.text(), "instanceUrl")).toContain('aria-invalid="true"');
    const away = await send(at.provider.origin);
    expect(away.status).toBe(303);
    const back = await at.decide(away.headers.get("location") ?? "");
    const Cookie = away.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const done = await fetch(back, { headers: { Cookie } });
    expect(await done.text()).toContain("<h1>Connected</h1>");
    expect((await at.check(connectId)).accounts).toHaveLength(1);
  });
});
