import { createServer, type Server } from "node:http";
import type { Locator, Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import type { Outbound } from "../../../../src/ports/outbound.ts";
import type { AppContext } from "../../../../src/context.ts";
import { makeSignIn } from "../../../../src/access/page-sessions.ts";
import { newContext } from "../../../support/browser.ts";
import { FakeClock } from "../../../support/clock.ts";
import { runTick } from "../../../support/publishing.ts";
import { PHOTO_URL } from "../../../support/contract/stage-media.ts";
import { listen } from "../../../support/listen.ts";
import {
  BOT_ID,
  BOT_TOKEN,
  CHANNEL_ID,
  createFakeDiscord,
  GUILD_ID,
} from "../../../platforms/discord/fake.ts";
import { createInstagram } from "../../../platforms/instagram/fake.ts";
import { CLIENT } from "../../../platforms/instagram/meta-tokens.ts";
import { createFetchedMedia } from "../../../platforms/instagram/stage-kit.ts";
import { APP, createFakeLinkedIn } from "../../../platforms/linkedin/fake.ts";
import { createFakeMastodon, SERVER } from "../../../platforms/mastodon/fake.ts";
import { BOT_TOKEN as TELEGRAM_TOKEN, createFakeTelegram } from "../../../platforms/telegram/fake.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost | undefined;
let page: Page | undefined;
const closing: Server[] = [];
afterEach(async () => {
  await page?.context().close();
  await host?.[Symbol.asyncDispose]();
  for (const server of closing.splice(0)) server.close();
});

/** What a person does, counted: a click, a text that is typed or pasted, a file that is chosen. */
interface Person {
  readonly page: Page;
  readonly host: PageHost;
  readonly provider: string;
  click(target: Locator): Promise<void>;
  fill(target: Locator, text: string): Promise<void>;
  /** Presses the button that opens the page to connect, and answers that page. */
  openBeside(): Promise<Page>;
}

interface Platform {
  readonly provider: string;
  readonly outbound: Outbound;
  readonly overrides?: Partial<AppContext>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly picture?: string;
  /** What it takes a person who has the app or the token at hand, from signing in to the post. */
  readonly actions: number;
  /** From the platform's own place in the gallery to the channel that is connected. */
  connect(person: Person): Promise<void>;
  /** What the platform would have refused, and how many posts it shows. */
  seen(): { readonly wrong: readonly string[]; readonly posts: number };
}

/** The app's id and secret: first with a slip in the secret, which is told at once, then right. */
async function enterApp(
  person: Person,
  app: { readonly id: string; readonly secret: string },
): Promise<void> {
  const secret = person.page.getByLabel("App secret");
  const keep = person.page.getByRole("button", { name: "Save and continue" });
  await person.fill(person.page.getByLabel("App id"), app.id);
  await person.fill(secret, `${app.secret}x`);
  await person.click(keep);
  await person.page.getByRole("alert").getByText("does not take this id with this secret").waitFor();
  await person.fill(secret, app.secret);
  await person.click(keep);
  await person.page.getByRole("button", { name: "Open the page to connect" }).waitFor();
}

/**
 * The platform's own page of consent, at an address of this machine: a browser follows a redirect past all that a
 * test puts in its way. `real`: what the person's browser would show.
 */
async function startConsentPage(person: Person, real: string, back: (url: string) => string): Promise<void> {
  const server = createServer((request, response) => {
    const { search } = new URL(request.url ?? "/", real);
    const href = back(`${real}${search}`).replaceAll("&", "&amp;");
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<h1>Agree?</h1><a href="${href}">Agree</a>`);
  });
  const { origin } = await listen(server);
  closing.push(server);
  const name = `POSTHORN_${person.provider.toUpperCase()}_AUTH_URL`;
  Object.assign(person.host.ctx.settings.platformSettings, { [name]: `${origin}/` });
}

const withAnswer = (url: string, answer: Record<string, string>): string => {
  const redirect = new URL(new URL(url).searchParams.get("redirect_uri") ?? "");
  return `${redirect.href}?${new URLSearchParams(answer).toString()}`;
};

const PLATFORMS: Readonly<Record<string, (clock: FakeClock) => Platform>> = {
  mastodon: (clock) => {
    const fake = createFakeMastodon({ now: () => clock.now() });
    return {
      provider: "mastodon",
      actions: 11,
      outbound: fake.door,
      async connect(person) {
        await startConsentPage(person, `${SERVER}/oauth/authorize`, (url) =>
          withAnswer(url, fake.consents.consent(url)),
        );
        await person.fill(person.page.getByRole("textbox", { name: "Server" }), "social.example");
        // Straight to the server: what our own page would say was said beside.
        const beside = await person.openBeside();
        await person.click(beside.getByRole("link", { name: "Agree" }));
      },
      seen: () => ({ wrong: fake.wrong, posts: fake.posts.heads().length }),
    };
  },
  telegram: (clock) => {
    const fake = createFakeTelegram(clock);
    return {
      provider: "telegram",
      actions: 12,
      outbound: fake,
      async connect(person) {
        const beside = await person.openBeside();
        expect(await beside.locator("ol > li").count()).toBeGreaterThan(2);
        await person.fill(beside.getByLabel("Bot token"), TELEGRAM_TOKEN);
        await person.fill(beside.getByLabel("Channel or group"), "@hornnews");
        await person.click(beside.getByRole("button", { name: "Connect" }));
      },
      seen: () => ({ wrong: fake.state.wrong, posts: fake.state.messages.length }),
    };
  },
  discord: (clock) => {
    const fake = createFakeDiscord(clock);
    return {
      provider: "discord",
      actions: 14,
      outbound: fake,
      async connect(person) {
        const beside = await person.openBeside();
        await person.fill(beside.getByLabel("Bot token"), BOT_TOKEN);
        await person.click(beside.getByRole("button", { name: "Connect" }));
        // Its address, which the person would open.
        const invite = beside.getByRole("alert").getByRole("link");
        expect(await invite.getAttribute("href")).toContain(`client_id=${BOT_ID}&scope=bot&permissions=`);
        await person.fill(beside.getByLabel("Bot token"), BOT_TOKEN);
        await person.fill(
          beside.getByLabel("Channel"),
          `https://discord.com/channels/${GUILD_ID}/${CHANNEL_ID}`,
        );
        await person.click(beside.getByRole("button", { name: "Connect" }));
      },
      seen: () => ({ wrong: fake.state.wrong, posts: fake.state.messages.length }),
    };
  },
  linkedin: (clock) => {
    const fake = createFakeLinkedIn(clock);
    return {
      provider: "linkedin",
      actions: 15,
      outbound: fake.door,
      async connect(person) {
        await enterApp(person, APP);
        await startConsentPage(person, "https://www.linkedin.com/oauth/v2/authorization", (url) =>
          withAnswer(url, fake.agree(url)),
        );
        const beside = await person.openBeside();
        await person.click(beside.getByRole("link", { name: "Agree" }));
      },
      seen: () => ({ wrong: fake.wrong, posts: fake.posts.length }),
    };
  },
  // From home, where Instagram sends no person back to: the address is pasted.
  instagram: (clock) => {
    const media = createFetchedMedia();
    const fake = createInstagram({ clock, fetched: media.fetched });
    const back = "https://example.com/back";
    return {
      provider: "instagram",
      actions: 14,
      outbound: fake.door,
      overrides: { media },
      settings: { POSTHORN_INSTAGRAM_REDIRECT_URL: back },
      picture: PHOTO_URL,
      async connect(person) {
        await enterApp(person, CLIENT);
        await startConsentPage(person, "https://www.instagram.com/oauth/authorize", fake.tokens.consent);
        await person.page
          .context()
          .route("https://example.com/**", (route) => route.fulfill({ body: "Nothing" }));
        const beside = await person.openBeside();
        const ours = beside.url();
        await person.click(beside.getByRole("button", { name: "Go on to Instagram" }));
        await person.click(beside.getByRole("link", { name: "Agree" }));
        await beside.waitForURL(`${back}?**`);
        const address = beside.url();
        await beside.goto(ours);
        await person.fill(beside.getByLabel("Its address"), address);
        await person.click(beside.getByRole("button", { name: "Finish with this address" }));
      },
      seen: () => ({ wrong: fake.door.wrong, posts: fake.shelf.posts.length }),
    };
  },
};

async function writeNow(person: Person, accountId: string): Promise<void> {
  const { page: at } = person;
  await at.goto(`${person.host.address}/app/write?account=${accountId}`);
  await person.fill(at.getByLabel("Text", { exact: true }), "Hello from the hut");
  await person.click(at.getByRole("radio", { name: "Now" }));
  await person.click(at.getByRole("button", { name: "Publish now", exact: true }));
  await person.click(at.getByRole("dialog").getByRole("button", { name: "Publish now" }));
  await at.getByText(/^On its way to /).waitFor();
}

it.each(Object.entries(PLATFORMS))("from nothing to the first post on %s", async (_name, open) => {
  let actions = 0;
  const clock = new FakeClock();
  const { provider, outbound, overrides, settings, picture, actions: expected, connect, seen } = open(clock);
  host = await startPageHost("Europe/Berlin", { outbound, clock, ...overrides });
  Object.assign(host.ctx.settings.platformSettings, settings);
  page = await (await newContext({ viewport: { width: 1_280, height: 800 }, locale: "en-GB" })).newPage();
  await page.clock.setFixedTime(clock.now());
  const at = page;
  const person: Person = {
    page: at,
    host,
    provider,
    async click(target) {
      actions += 1;
      await target.click();
    },
    async fill(target, text) {
      actions += 1;
      await target.fill(text);
    },
    async openBeside() {
      const opening = at.context().waitForEvent("page");
      await person.click(at.getByRole("button", { name: "Open the page to connect" }));
      const beside = await opening;
      await beside.getByRole("heading").first().waitFor();
      return beside;
    },
  };
  await at.goto(`${host.address}/app/sign-in#${await makeSignIn(host.ctx)}`);
  await person.click(at.getByRole("navigation", { name: "Rooms" }).getByRole("link", { name: /^Channels/ }));
  await person.click(at.getByRole("link", { name: "Choose a platform" }));
  await person.fill(at.getByRole("searchbox", { name: "Search a platform" }), provider);
  await person.click(at.getByRole("link", { name: new RegExp(`^${provider}`, "i") }).first());
  await connect(person);
  await at.getByText(/^Connected: /).waitFor();
  const { accounts } = await host.call("list_accounts", {});
  const account = accounts.find((one: any) => one.provider === provider);
  expect(account).toMatchObject({ status: "connected" });

  if (picture === undefined) await writeNow(person, account.id);
  // A picture by its address, as assistants give it.
  else await host.call("schedule_post", { accountId: account.id, caption: "Hello", mediaUrl: picture });
  for (let turn = 0; turn < 5 && seen().posts === 0; turn += 1) {
    await runTick(host.ctx);
    clock.advance(60_000);
  }
  expect(seen()).toEqual({ wrong: [], posts: 1 });
  expect(host.log.text()).not.toContain("canary");
  expect(actions).toBe(expected);
});
