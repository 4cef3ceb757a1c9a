import { createReadStream } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeUpload } from "../../src/files/file-uploads.ts";
import type { Caller } from "../../src/domain/permissions.ts";
import { callOf, callerOf } from "../support/context.ts";
import type { Answer } from "../support/http.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";

const PHOTO = new URL("../fixtures/photo.png", import.meta.url);
const LATER = "2030-01-01T09:00:00Z";

let service: Service;
/** A limited key reaches these accounts, and not the other. */
let own: string;
let bluesky: string;
let other: string;
/** The limited key over HTTP, and as a caller. */
let key: string;
let limited: Caller;
const full = callerOf({ keyId: "key_full" });

beforeAll(async () => {
  service = await startService();
  [own, other] = [await service.addFeed(), await service.addFeed()];
  bluesky = (await addAccount(service.ctx, { provider: "bluesky" })).id;
  key = await service.keyFor("default", { accountIds: [own, bluesky] });
  limited = callerOf({ keyId: `key_${key.split("_")[1]}`, accountIds: [own, bluesky] });
});
afterAll(() => service[Symbol.asyncDispose]());

async function upload(caller: Caller = full) {
  const body = createReadStream(PHOTO);
  const { file } = await storeUpload(callOf(service.ctx, caller), { name: "sea.png", altText: null, body });
  return file;
}

/** A post with the file, made by a key that reaches everything. */
async function use(accountId: string, content: object): Promise<string> {
  const { post } = await service.call("schedule_post", {
    accountId,
    caption: "x",
    scheduledAt: LATER,
    ...content,
  });
  return post.id;
}

const ask = (target: string, json?: object): Promise<Answer> =>
  service.ask(target, { key, ...(json === undefined ? {} : { json }) });

async function isSeen(id: string): Promise<boolean> {
  const shown = (await ask(`GET /api/v1/files/${id}`)).status === 200;
  const pages = [
    await ask("GET /api/v1/files?limit=500"),
    await ask("GET /api/v1/files?limit=500&search=sea"),
    await ask("GET /api/v1/files?limit=500&type=image"),
    await ask("POST /api/v1/tools/list_files", { limit: 500 }),
  ];
  // One answer everywhere.
  for (const { text } of pages) expect(text.includes(id)).toBe(shown);
  return shown;
}

/** Every way in which a content names a file. */
const AADS: Readonly<Record<string, (address: string) => object>> = {
  mediaUrl: (address) => ({ mediaUrl: address }),
  thumbnailUrl: (address) => ({ thumbnailUrl: address }),
  "metadata.thumbnailUrl": (address) => ({ metadata: { thumbnailUrl: address } }),
  "metadata.moreMedia": (address) => ({
    mediaUrl: "https://example.com/a.png",
    metadata: { moreMedia: [{ url: address }] },
  }),
  "metadata.thread": (address) => ({
    accountId: bluesky,
    metadata: { thread: [{ caption: "y", mediaUrl: address }] },
  }),
};

describe("a key limited to accounts", () => {
  it("sees files that it brought, and those that posts of its accounts alone use", async () => {
    const brought = await upload(limited);
    const foreign = await upload();
    const [inOwn, inOther, inBoth] = [await upload(), await upload(), await upload()];
    const [more, thumbnail] = [await upload(), await upload()];
    await use(own, { mediaUrl: inOwn.id });
    await use(other, { mediaUrl: inOther.id });
    await use(own, { mediaUrl: inBoth.id });
    await use(other, { mediaUrl: inBoth.url });
    await use(own, { metadata: { moreMedia: [{ url: more.id }], thumbnailUrl: thumbnail.id } });
    const seen = [];
    for (const { id } of [brought, foreign, inOwn, inOther, inBoth, more, thumbnail])
      seen.push(await isSeen(id));
    expect(seen).toEqual([true, false, true, false, false, true, true]);
    // Its own files it sees whatever uses them; of those uses it hears of its own accounts' alone.
    await use(other, { mediaUrl: brought.id });
    await use(own, { mediaUrl: brought.id });
    expect((await ask(`GET /api/v1/files/${brought.id}`)).json.file).toMatchObject({ usedByPosts: 1 });
    expect((await service.ask(`GET /api/v1/files/${brought.id}`)).json.file).toMatchObject({
      usedByPosts: 2,
    });
  });

  it("brings no foreign file into a draft, in whatever form its address is written", async () => {
    const { id } = await upload();
    const written = { moreMedia: JSON.stringify([{ url: id }]) };
    for (const draft of [
      { metadata: written, targets: [{ accountId: own }] },
      { targets: [{ accountId: own, metadata: written }] },
    ]) {
      const args = { caption: "x", scheduledAt: LATER, ...draft };
      const saved = await service.call("save_draft", args, limited);
      const [{ error }] = saved.draft.checks;
      expect(error).toContain(`metadata.moreMedia[0].url: there is no file "${id}" here.`);
    }
  });

  it("sees pages that miss and repeat nothing, among many files of others", async () => {
    const wanted = [];
    for (let n = 0; n < 9; n++) {
      await upload();
      const file = await upload(n % 3 === 0 ? limited : full);
      if (n % 3 === 1) await use(own, { mediaUrl: file.id });
      if (n % 3 !== 2) wanted.unshift(file.id);
    }
    const found: string[] = [];
    for (let cursor = ""; ;) {
      const { json } = await ask(`GET /api/v1/files?limit=2${cursor}`);
      found.push(...json.files.map(({ id }: { id: string }) => id));
      if (json.nextCursor === null) break;
      cursor = `&cursor=${encodeURIComponent(json.nextCursor)}`;
    }
    expect(found).toEqual([...new Set(found)].sort().reverse());
    expect(found.slice(0, wanted.length)).toEqual(wanted);
  });

  it("finds the others' files as little as those that never were, in each place and form", async () => {
    const file = await upload();
    await use(other, { mediaUrl: file.id });
    const never = { id: `file_${"0".repeat(26)}`, url: `r2://${"0".repeat(16)}/${"0".repeat(26)}.png` };
    const waiting = await use(own, { mediaUrl: "https://example.com/a.png" });
    for (const form of ["id", "url"] as const) {
      const same = async (target: string, json: (address: string) => object): Promise<void> => {
        const [theirs, missing] = [await ask(target, json(file[form])), await ask(target, json(never[form]))];
        expect([target, theirs.status, theirs.text]).toEqual([
          target,
          404,
          missing.text.replaceAll(never[form], file[form]),
        ]);
      };
      for (const place of Object.values(AADS)) {
        await same("POST /api/v1/posts", (address) => ({
          accountId: own,
          caption: "x",
          scheduledAt: LATER,
          ...place(address),
        }));
        if (!("accountId" in place(""))) await same(`PATCH /api/v1/posts/${waiting}`, place);
        const batch = await ask("POST /api/v1/tools/schedule_posts", {
          posts: [{ accountId: own, caption: "x", scheduledAt: LATER, ...place(file[form]) }],
        });
        expect(batch.json.result.results[0]).toMatchObject({
          post: null,
          error: expect.stringContaining("there is no file"),
        });
      }
    }
    for (const method of ["GET", "DELETE"]) {
      const [theirs, missing] = [
        await ask(`${method} /api/v1/files/${file.id}`),
        await ask(`${method} /api/v1/files/${never.id}`),
      ];
      expect([theirs.status, theirs.text]).toEqual([404, missing.text.replaceAll(never.id, file.id)]);
    }
  });

  it("does not come by a file by writing its address where no media stand", async () => {
    const file = await upload();
    const answer = await ask("POST /api/v1/posts", {
      accountId: own,
      caption: file.url,
      scheduledAt: LATER,
      metadata: { title: file.url, tags: [file.url, file.id], altText: file.url },
    });
    expect(answer.status).toBe(201);
    expect(await isSeen(file.id)).toBe(false);
  });

  it("changes a post of its account whose file others use too, and leaves the file in it", async () => {
    const file = await upload();
    await use(other, { mediaUrl: file.id });
    const post = await use(own, { mediaUrl: file.id });
    const answer = await ask(`PATCH /api/v1/posts/${post}`, { caption: "Other words" });
    expect([answer.status, answer.json.post]).toMatchObject([
      200,
      { mediaUrl: file.url, caption: "Other words" },
    ]);
    expect(await isSeen(file.id)).toBe(false);
    // Taken out of it, it is none of the key's any more.
    expect((await ask(`PATCH /api/v1/posts/${post}`, { mediaUrl: "https://example.com/a.png" })).status).toBe(
      200,
    );
    expect((await ask(`PATCH /api/v1/posts/${post}`, { mediaUrl: file.url })).status).toBe(404);
  });

  it("puts no file beyond its reach into a post that is live", async () => {
    const file = await upload();
    await use(other, { mediaUrl: file.id });
    const account = await addAccount(service.ctx, { id: own + "_live", provider: "feed" });
    const post = await addPost(service.ctx, account, {
      status: "published",
      next_at: null,
      platform_post_id: "1",
    });
    const narrow = { accountIds: [account.id], keyId: "key_live" };
    const change = { id: post.id, metadata: { thumbnailUrl: file.url } };
    await expect(service.call("edit_published_post", change, narrow)).rejects.toThrow(
      /there is no file|cannot be changed|does not allow|does not take/,
    );
    const thumbnail = { id: post.id, thumbnailUrl: file.id };
    await expect(service.call("set_thumbnail", thumbnail, narrow)).rejects.toThrow(
      "thumbnailUrl: there is no file",
    );
    expect((await readPost(service.ctx, post.id)).metadata).toBeNull();
  });

  it("deletes what it sees, unless posts of other accounts use it", async () => {
    const [brought, inOwn, shared] = [await upload(limited), await upload(), await upload(limited)];
    const post = await use(own, { mediaUrl: inOwn.id });
    const waiting = await use(other, { mediaUrl: shared.id });
    expect((await ask(`DELETE /api/v1/files/${brought.id}`)).status).toBe(200);
    expect((await ask(`DELETE /api/v1/files/${inOwn.id}`)).json.error).toContain("1 waiting post uses");
    await service.call("cancel_post", { id: post });
    expect((await ask(`DELETE /api/v1/files/${inOwn.id}`)).status).toBe(200);
    for (const cancel of [false, true]) {
      if (cancel) await service.call("cancel_post", { id: waiting });
      const refused = await ask(`DELETE /api/v1/files/${shared.id}`);
      expect([refused.status, refused.json.error]).toEqual([
        409,
        expect.stringContaining("posts of channels that this key does not reach use this file"),
      ]);
    }
    expect((await service.ask(`DELETE /api/v1/files/${shared.id}`)).status).toBe(200);
  });

  it("uses what it was given an address to upload to", async () => {
    const { uploadUrl } = await service.call("upload_file", { name: "sea.png" }, limited);
    const { pathname, search } = new URL(uploadUrl);
    const { readFileSync } = await import("node:fs");
    const put = await service.ask(`PUT ${pathname}${search}`, {
      key: null,
      body: readFileSync(PHOTO),
      headers: { "Content-Type": "image/png" },
    });
    expect(await isSeen(put.json.file.id)).toBe(true);
    const narrower = await service.keyFor("default", { accountIds: [own] });
    expect((await service.ask(`GET /api/v1/files/${put.json.file.id}`, { key: narrower })).status).toBe(404);
  });
});

describe("a key that is not limited", () => {
  it("sees and uses every file of the owner, whoever brought it", async () => {
    const file = await upload(limited);
    const narrow = await service.keyFor("default", { permissions: ["read", "publish", "files"] });
    expect((await service.ask(`GET /api/v1/files/${file.id}`, { key: narrow })).status).toBe(200);
    const json = { accountId: other, mediaUrl: file.id, scheduledAt: LATER };
    expect((await service.ask("POST /api/v1/posts", { key: narrow, json })).status).toBe(201);
  });
});
