import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { FeedItem } from "../../../src/ports/feed-storage.ts";
import {
  CLOSED,
  NEWS,
  SPORT,
  startConsentService,
  type ConsentService,
} from "../../support/consent-fixtures.ts";
import { startService, type Service } from "../../support/service.ts";

const PICTURE = readFileSync(new URL("../../fixtures/photo.jpg", import.meta.url));

const LONG = "A very long name of a channel, Donaudampfschifffahrtsgesellschaftskapitänsmütze and more";
const HEBREW = "חדשות היום: סיפור על קרן יער";

/** What the pages are opened at: every platform and the built-in feed, and a platform that asks for consent. */
export interface World extends AsyncDisposable {
  readonly service: Service;
  readonly consent: ConsentService;
  readonly feed: string;
  readonly emptyFeed: string;
}

export async function startWorld(): Promise<World> {
  const service = await startService();
  const consent = await startConsentService();
  const feed = await service.addFeed();
  const { account } = await service.call("connect_channel", { provider: "feed", name: LONG });
  const answer = await service.ask("POST /api/v1/files?name=photo.jpg", {
    body: PICTURE,
    headers: { "Content-Type": "image/jpeg" },
  });
  const { file } = answer.json;
  const key = file.url.slice("r2://".length);
  const media: FeedItem["media"][number] = {
    ...{ key, mimeType: file.mimeType, sizeBytes: file.sizeBytes, sha256: file.sha256 },
    ...{ width: file.width, height: file.height, durationSeconds: null, altText: null },
  };
  const put = (id: string, entry: Partial<FeedItem>): Promise<void> =>
    service.ctx.feed.put({
      accountId: feed,
      id,
      title: null,
      text: null,
      link: null,
      tags: [],
      language: null,
      media: [],
      thumbnail: null,
      publishedAt: service.clock.now(),
      isPublic: true,
      ...entry,
    });
  await put("post_1", {
    title: LONG,
    text: `${LONG}\n\nSee https://example.com/a_(b).`,
    tags: ["news", HEBREW],
  });
  await put("post_2", { title: HEBREW, text: HEBREW, language: "he" });
  await put("post_3", {
    text: "Without a title, with pictures.",
    media: [media, { ...media, altText: "A lake" }, media],
  });
  await put("post_4", { media: [media] });
  return {
    service,
    consent,
    feed,
    emptyFeed: account.id,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await consent[Symbol.asyncDispose]();
    },
  };
}

interface Shown {
  readonly name: string;
  /** The function that draws it. */
  readonly view: string;
  open(page: Page, world: World): Promise<unknown>;
}

const at = ({ service }: World, path: string): string => `http://127.0.0.1:${service.port}${path}`;

async function form(page: Page, world: World, args: object): Promise<void> {
  const { url } = await world.service.call("connect_channel", args);
  await page.goto(at(world, new URL(url).pathname));
}

const submit = (page: Page) => page.locator("main button[type=submit]").first().click();

/** Every page there is, in every state that looks otherwise. */
export const PAGES: readonly Shown[] = [
  { name: "feed", view: "feedView", open: (page, world) => page.goto(at(world, `/feed/${world.feed}.html`)) },
  {
    name: "feed-empty",
    view: "feedView",
    open: (page, world) => page.goto(at(world, `/feed/${world.emptyFeed}.html`)),
  },
  {
    name: "entry",
    view: "entryView",
    open: (page, world) => page.goto(at(world, `/feed/${world.feed}/post_2.html`)),
  },
  {
    name: "entry-untitled",
    view: "entryView",
    open: (page, world) => page.goto(at(world, `/feed/${world.feed}/post_4.html`)),
  },
  {
    name: "nothing",
    view: "messageView",
    open: (page, world) => page.goto(at(world, `/feed/${world.feed}/post_9.html`)),
  },
  ...["bluesky", "webhook", "telegram", "matrix"].map((provider) => ({
    name: `connect-${provider}`,
    view: "formView",
    open: (page: Page, world: World) => form(page, world, { provider }),
  })),
  {
    name: "connect-ghost-server",
    view: "formView",
    open: (page, world) =>
      form(page, world, { provider: "ghost", instanceUrl: `https://${"long".repeat(12)}.example` }),
  },
  {
    name: "connect-webhook-wrong",
    view: "formView",
    async open(page, world) {
      await form(page, world, { provider: "webhook" });
      await page.getByLabel("Address").fill(`hooks.example/${"no-address".repeat(12)}`);
      await submit(page);
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "start",
    view: "startView",
    open: async (page, { consent }) => page.goto((await consent.connect()).url),
  },
  {
    name: "start-server",
    view: "startView",
    async open(page, world) {
      const { url } = await world.service.call("connect_channel", { provider: "misskey", way: "token" });
      await page.goto(`${at(world, new URL(url).pathname)}?way=miauth`);
      await page.getByLabel("Server").fill("10.0.0.1");
      await submit(page);
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "start-waiting",
    view: "startView",
    async open(page, { consent }) {
      const { url } = await consent.connect();
      await consent.goOn(url);
      await page.goto(url);
    },
  },
  {
    name: "set-up",
    view: "setupPageView",
    open: (page, world) => page.goto(at(world, "/connect/setup/linkedin")),
  },
  {
    name: "choice",
    view: "choiceView",
    async open(page, { consent }) {
      consent.parlor.channels = [
        { ...NEWS, name: LONG },
        { ...SPORT, name: HEBREW, handle: "sport" },
        CLOSED,
      ];
      const { url } = await consent.connect();
      await consent.agree(url);
      await page.goto(url);
      await submit(page);
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "connected",
    view: "connectedView",
    async open(page, { consent }) {
      const shownOnce = `whsec_${"c2VjcmV0".repeat(8)}`;
      consent.parlor.channels = [{ ...NEWS, notice: "Give this signing secret to the receiver.", shownOnce }];
      await page.goto((await consent.connect({ way: "bot" })).url);
      await page.getByLabel("Token").fill("token");
      await submit(page);
      await page.getByRole("heading", { name: "Connected" }).waitFor();
    },
  },
  {
    name: "closed",
    view: "closedView",
    open: (page, world) => page.goto(at(world, "/connect/unknown")),
  },
];
