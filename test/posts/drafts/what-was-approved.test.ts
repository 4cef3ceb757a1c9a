import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { loadCatalog } from "../../../src/app/setup.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { commonMetadata } from "../../../src/domain/posts/common-metadata.ts";
import { DAY, HOUR } from "../../../src/domain/time.ts";
import { makeSeriesPosts } from "../../../src/posts/drafts/series.ts";
import { forgetUnnamed } from "../../../src/posts/drafts/taking-in.ts";
import { createToolbox, type Toolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf } from "../../support/context.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { rowsOf } from "../../support/handles.ts";
import { pngOf } from "../../support/media.ts";
import { addAccount, drain } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

/*
 * What is fetched from others between a person's look and the sending. Each address of a draft answers something else
 * after it was written, and nothing of that reaches a platform.
 */

const { tools } = await loadCatalog();

/* Widths that stand in no id by chance. */
const SEEN = 1_234;
const SWAPPED = 1_987;

let width: number;
let isDown: boolean;
/** Requests at the others' server. */
let asked: string[];
let server: Server;
let origin: string;

let ctx: FileContext;
let toolbox: Toolbox;
/** Whatever reached a platform: widths of pictures, texts of subtitles and cards, addresses that it is to fetch. */
let sent: string[];

const { title, description, link, altText, moreMedia, thread, subtitles, thumbnailUrl } = commonMetadata;
const metadata = z.strictObject({
  title,
  description,
  link,
  altText,
  moreMedia,
  thread,
  subtitles,
  thumbnailUrl,
});
const capabilities = {
  ...TEXT_CAPABILITIES,
  media: {
    required: false,
    maxItems: 4,
    accepts: [{ kind: "image" as const, mimeTypes: ["image/png"], maxItems: 4 }],
  },
};

type Content = { readonly mediaUrl: string; readonly metadata: z.infer<typeof metadata> };

function addressesOf({ mediaUrl, metadata: fields }: Content): string[] {
  const all = [
    mediaUrl,
    ...(fields.moreMedia ?? []).map(({ url }) => url),
    ...(fields.thread ?? []).map((part) => part.mediaUrl ?? ""),
    fields.thumbnailUrl ?? "",
  ];
  return all.filter((url) => url !== "");
}

/** Uploads bytes, and shows a card. */
const reading = scriptedPlatform({
  name: "reading",
  title: "Reading",
  capabilities,
  metadata: metadata as never,
  showsLinkCards: true,
  publish: async (post, io) => {
    const content = post as unknown as Content;
    for (const url of addressesOf(content)) sent.push(`${(await io.media.item(url)).facts.width}`);
    for (const { url } of content.metadata.subtitles ?? [])
      sent.push((await buffer((await io.media.item(url)).open())).toString("utf8"));
    sent.push(`${content.metadata.title} ${content.metadata.description}`);
    return { state: "live", platformPostId: "1", platformUrl: null };
  },
});

/** Is given addresses, and fetches by itself. */
const fetching = scriptedPlatform({
  name: "fetching",
  title: "Fetching",
  capabilities: { ...capabilities, fetchesMedia: ["image"] },
  metadata: metadata as never,
  publish: async (post, io) => {
    const content = post as unknown as Content;
    for (const url of addressesOf(content)) {
      const item = await io.media.item(url);
      sent.push(`${item.facts.width}`, await io.media.publicUrl(item, 10));
    }
    return { state: "live", platformPostId: "1", platformUrl: null };
  },
});

beforeEach(async () => {
  [width, isDown, asked, sent] = [SEEN, false, [], []];
  server = createServer((request, response) => {
    const { url = "" } = request;
    asked.push(url);
    if (isDown) return void response.writeHead(503).end();
    if (url.endsWith(".vtt"))
      return void response.writeHead(200).end(`WEBVTT\n\n00:00.000 --> 00:01.000\nwidth ${width}\n`);
    if (url.endsWith(".html"))
      return void response
        .writeHead(200, { "content-type": "text/html" })
        .end(
          `<title>Card ${width}</title><meta name="description" content="Text ${width}"><meta property="og:image" content="/card.png">`,
        );
    response.writeHead(200, { "content-type": "image/png" }).end(pngOf(width, 16));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ctx = await createFileContext({
    platformList: [reading, fetching],
    publicUrl: async () => "https://posthorn.example",
  });
  toolbox = createToolbox(ctx, tools);
  await addAccount(ctx, { id: "acc_r", name: "Reader", provider: "reading" });
  await addAccount(ctx, { id: "acc_f", name: "Fetcher", provider: "fetching" });
});

afterEach(async () => {
  await ctx[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const WRITER: Partial<Caller> = { keyId: "key_writer", permissions: ["read", "draft"] };

async function call(tool: string, args: object, caller: Partial<Caller> = {}): Promise<any> {
  return (await toolbox.call(tool, args, callerOf(caller))).result;
}

async function save(args: object, caller: Partial<Caller> = WRITER): Promise<any> {
  return (await call("save_draft", args, caller)).draft;
}

async function approve({ id, revision }: { id: string; revision: number }, caller?: Partial<Caller>) {
  return (await call("decide_draft", { id, revision, decision: "approve" }, caller)).draft;
}

function swap(): void {
  width = SWAPPED;
  asked = [];
}

const at = (path: string): string => `${origin}/${path}`;

/** Every place of a draft that an address can stand in, shared and of a target's own. */
const KINDS: Readonly<Record<string, () => Record<string, unknown>>> = {
  picture: () => ({ mediaUrl: at("a.png") }),
  "further pictures": () => ({ mediaUrl: at("a.png"), metadata: { moreMedia: [{ url: at("b.png") }] } }),
  thread: () => ({ metadata: { thread: [{ caption: "Next", mediaUrl: at("c.png") }] } }),
  thumbnail: () => ({ metadata: { thumbnailUrl: at("d.png") } }),
  subtitles: () => ({ metadata: { subtitles: [{ url: at("e.vtt"), language: "en" }] } }),
  card: () => ({ metadata: { link: at("page.html") } }),
};

const CASES = Object.keys(KINDS).flatMap((kind) =>
  ["acc_r", "acc_f"].flatMap((accountId) =>
    ["shared", "own"].map((place) => [kind, accountId, place] as const),
  ),
);

function draftWith(kind: string, accountId: string, place: string): object {
  const content = KINDS[kind]?.() ?? {};
  const shared = place === "shared";
  return {
    caption: "Hello",
    ...(shared ? content : {}),
    targets: [{ accountId, ...(shared ? {} : content) }],
  };
}

function expectOnlySeen(): void {
  const all = sent.join("\n");
  expect(all).not.toMatch(new RegExp(`^${SWAPPED}$|(width|Card|Text) ${SWAPPED}`, "m"));
  expect(all).not.toContain(origin);
  expect(asked).toEqual([]);
}

describe("what a person approved", () => {
  it.each(CASES)("is what goes out: %s on %s, %s", async (kind, accountId, place) => {
    const draft = await save({ ...draftWith(kind, accountId, place), submit: true });
    expect(JSON.stringify(draft)).not.toMatch(new RegExp(`${origin}/[a-e]\\.`));
    // Also once what was read is not remembered any more.
    await ctx.clock.advance(HOUR);
    swap();
    const { posts } = await approve(draft);
    await drain(ctx);
    expect((await call("get_post", { id: posts[0].id })).post.status).toBe("published");
    if (accountId === "acc_r") expect(sent.join("\n")).toContain(`${SEEN}`);
    expectOnlySeen();
  });

  it.each(CASES)("goes out in each time of a series: %s on %s, %s", async (kind, accountId, place) => {
    const repeat = { unit: "day", every: 10, time: "09:00", timezone: "UTC" };
    const draft = await save({ ...draftWith(kind, accountId, place), repeat, submit: true });
    const approved = await approve(draft);
    swap();
    for (let day = 0; day < 25; day += 1) {
      await ctx.clock.advance(DAY);
      await makeSeriesPosts(ctx, new AbortController().signal);
      await drain(ctx);
    }
    const { drafts } = await call("list_drafts", { id: approved.id });
    expect(drafts[0].posts.filter(({ status }: any) => status === "published").length).toBeGreaterThan(1);
    expectOnlySeen();
  });

  it.each(["picture", "card"])("is looked at once more where it was never asked for: %s", async (kind) => {
    const draft = await save(draftWith(kind, "acc_r", "shared"));
    await ctx.clock.advance(HOUR);
    if (kind === "picture") {
      await expect(approve(draft)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/^revision: .* as revision 2\. Look at the draft once more/),
      });
      await expect(approve(draft)).rejects.toMatchObject({ kind: "conflict" });
      const { drafts } = await call("list_drafts", { id: draft.id });
      expect(drafts[0]).toMatchObject({ revision: 2, mediaUrl: expect.stringMatching(/^r2:/) });
      swap();
      await approve(drafts[0]);
    } else {
      // Its picture was not stored then.
      await expect(approve(draft)).rejects.toMatchObject({ kind: "conflict" });
      swap();
      await approve({ id: draft.id, revision: 2 });
    }
    await drain(ctx);
    expect(sent.join("\n")).toContain(`${SEEN}`);
    expectOnlySeen();
  });

  it("needs no second look where nobody else wrote it, and stays as it was at the approval", async () => {
    const draft = await save(draftWith("picture", "acc_r", "shared"), {});
    const approved = await approve(draft);
    expect(approved.mediaUrl).toMatch(/^r2:/);
    swap();
    await drain(ctx);
    expect(sent).toContain(`${SEEN}`);
    expectOnlySeen();
  });

  it("cannot be approved while its media cannot be fetched", async () => {
    isDown = true;
    const { draft, warnings } = await call(
      "save_draft",
      { ...draftWith("picture", "acc_r", "own"), submit: true },
      WRITER,
    );
    expect(draft.state).toBe("waiting");
    expect(warnings).toEqual([
      expect.stringMatching(/^targets\[0\]\.mediaUrl: .*503.* can be approved once/),
      expect.stringMatching(/^It has no time, so it is published as soon as a person approves it\./),
    ]);
    await expect(approve(draft)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/^The draft cannot be approved before .*targets\[0\]\.mediaUrl: /),
    });
    expect(await rowsOf(ctx.store, "SELECT id FROM posts")).toEqual([]);
  });

  it("is decided with a key of those channels alone, which sees the pictures of others' keys", async () => {
    const draft = await save({ ...draftWith("picture", "acc_r", "shared"), submit: true });
    const person = { keyId: "key_person", accountIds: ["acc_r"] };
    expect(await approve(draft, person)).toMatchObject({ state: "scheduled" });
  });
});

describe("files that were taken in", () => {
  const files = (): Promise<any[]> => rowsOf(ctx.store, "SELECT id, storage_key FROM files");

  it("are not deleted while a person is to decide, or a series goes on", async () => {
    const draft = await save({ ...draftWith("card", "acc_r", "shared"), submit: true });
    const [{ id }] = await files();
    const refused = {
      kind: "conflict",
      message: expect.stringMatching(/^id: 1 draft that a person decides/),
    };
    await expect(call("delete_file", { id })).rejects.toMatchObject(refused);
    await call("decide_draft", { id: draft.id, decision: "discard" });
    expect(await call("delete_file", { id })).toMatchObject({ file: { id } });
  });

  it("go a day after nothing names them any more, and not before", async () => {
    const signal = new AbortController().signal;
    const draft = await save({ ...draftWith("picture", "acc_r", "shared"), submit: true });
    const kept = await save({ ...draftWith("picture", "acc_r", "own"), submit: true });
    const sentOut = await save({ ...draftWith("picture", "acc_f", "own"), submit: true });
    await approve(sentOut);
    await drain(ctx);
    await call("decide_draft", { id: draft.id, decision: "discard" });
    await forgetUnnamed(ctx, signal);
    expect(await files()).toHaveLength(3);
    await ctx.clock.advance(2 * DAY);
    await forgetUnnamed(ctx, signal);
    const left = await files();
    expect(left.map(({ storage_key: key }) => `r2://${key}`).toSorted()).toEqual(
      [kept.targets[0].mediaUrl, sentOut.targets[0].mediaUrl].toSorted(),
    );
    expect(await ctx.files.size(draft.mediaUrl.slice("r2://".length))).toBeNull();
  });

  it("of two that are submitted at once, one counts", async () => {
    const { id } = await save(draftWith("picture", "acc_r", "shared"));
    const both = await Promise.allSettled([1, 2].map(() => save({ id, revision: 1, submit: true })));
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    swap();
    await approve({ id, revision: 2 });
    await drain(ctx);
    expect(sent).toContain(`${SEEN}`);
    expectOnlySeen();
  });
});
