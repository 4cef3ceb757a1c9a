import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSearch } from "../../../src/domain/text/compare-words.ts";
import { change } from "../../../src/store/engine/statements.ts";
import type { Tx } from "../../../src/store/engine/store.ts";
import { moveDatabase } from "../../../src/store/moving/move.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { readMeta, setMeta } from "../../../src/store/queries/meta.ts";
import { queryOf } from "../../support/handles.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { openPlace, type Place } from "./place.ts";

let place: Place;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

describe("a store", () => {
  it("is made once by several that open it together, and keeps what was written when it closes", async () => {
    const all = await Promise.all([1, 2, 3].map(() => place.open()));
    await all[0]!.write((tx) => setMeta(tx, "key", "value"));
    await all[0]![Symbol.asyncDispose]();
    expect(await readMeta(all[1]!, "key")).toBe("value");
    for (const store of all.slice(1)) await store[Symbol.asyncDispose]();
    await using again = await place.open();
    expect(await readMeta(again, "key")).toBe("value");
    expect([again.isPresent(), again.lost.aborted, again.writeTrouble()]).toEqual([true, false, null]);
    await again.tidy();
  });

  it("answers nothing once it is closed", async () => {
    const store = await place.open();
    await store[Symbol.asyncDispose]();
    await expect(readMeta(store, "key")).rejects.toThrow();
    await expect(store.write((tx) => setMeta(tx, "key", "value"))).rejects.toThrow();
  });

  it("is what its engine says of itself", async () => {
    await using store = await place.open();
    expect(store.name).not.toBe("");
    expect(store.file !== null).toBe(store.capabilities.backupFile);
    // What lies in one folder is worked on by one machine.
    expect(store.capabilities.inFolder && store.capabilities.manyHosts).toBe(false);
  });
});

describe("a schema", () => {
  it.each([
    [999, /written by a newer Posthorn \(schema 999, this one knows \d+\)\. Nothing was changed\./],
    [7, /written by an early Posthorn \(schema 7\)\. Nothing was changed\./],
  ])("of version %i is refused, and its database stays as it is", async (version, sentence) => {
    const store = await place.open();
    await store.write((tx) => setMeta(tx, "key", "value"));
    await store[Symbol.asyncDispose]();
    const newest = await place.readVersion();
    await place.setVersion(version);
    await expect(place.open()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(sentence),
    });
    expect(await place.readVersion()).toBe(version);
    await place.setVersion(newest);
    await using again = await place.open();
    expect(await readMeta(again, "key")).toBe("value");
  });
});

describe("a database that is replaced while it is open", () => {
  it("is lost: nothing is read or written any more, and it is told why", async () => {
    const store = await place.open();
    await store.write((tx) => setMeta(tx, "key", "value"));
    await place.replace();
    const refusal = { kind: "unavailable" };
    await expect(store.write((tx) => setMeta(tx, "key", "other"))).rejects.toMatchObject(refusal);
    expect(store.isPresent()).toBe(false);
    expect(store.lost.reason).toMatchObject(refusal);
    await expect(readMeta(store, "key")).rejects.toMatchObject({ message: store.lost.reason.message });
    await store[Symbol.asyncDispose]();
  });
});

describe("a database that another one is moved into", () => {
  it("has all of it, finds its posts, and numbers on", async () => {
    await using from = await openStore({ file: ":memory:" });
    await addAccount(from, { id: "acc_1" });
    const posts = Array.from({ length: 1_200 }, (_, n) => ({ id: `post_${n}`, caption: `Winter ${n}` }));
    await addPosts(from, posts);
    await from.write(async (tx) => {
      await setMeta(tx, "generation", randomUUID());
      await change(
        tx,
        `INSERT INTO webhooks (id, owner_id, address, events, status, secrets_enc, lease_until, created_at, updated_at)
          VALUES ('whk_1', 'default', 'https://hooks.example', '[]', 'active', '', 0, 1, 1)`,
      );
      await addEvent(tx, "evt_1", 500);
    });
    await using to = await place.open();
    const moved = { from, to, now: 1, begun: async () => {}, signal: new AbortController().signal };
    const counts = await moveDatabase({ ...moved, progress: () => {} });
    expect(counts.find(({ table }) => table === "posts")).toEqual({ table: "posts", rows: 1_200 });
    const { rows } = await to.search.page(
      { ...ALL, terms: parseSearch("winter 777") },
      { before: null, limit: 10, now: () => 0 },
    );
    expect(rows.map(({ id }) => id)).toEqual(["post_777"]);
    await to.write((tx) => addEvent(tx, "evt_2"));
    const numbers = await queryOf(to)
      .selectFrom("webhook_deliveries")
      .select("seq")
      .where("id", "in", ["evt_1", "evt_2"])
      .orderBy("id")
      .execute();
    expect(numbers.map(({ seq }) => seq)).toEqual([500, 501]);
  });
});

async function addEvent(tx: Tx, id: string, seq?: number): Promise<void> {
  const event = {
    id,
    owner_id: "default",
    webhook_id: "whk_1",
    event: "post.published",
    happened_at: 1,
    snapshot: "{}",
    status: "pending",
    tries: 0,
    next_at: 1,
    tried_at: null,
    http_status: null,
    error: null,
  } as const;
  await queryOf(tx)
    .insertInto("webhook_deliveries")
    .values(seq === undefined ? event : { ...event, seq })
    .execute();
}

const ALL = { ownerId: "default", accountIds: null, providers: null, statuses: null, from: null, to: null };

describe("a database that is one file", () => {
  it("is copied as it is at one moment", async () => {
    using folder = temporaryFolder();
    const copy = join(folder.path, "copy.db");
    await using store = await place.open();
    if (store.file === null) return;
    await store.write((tx) => setMeta(tx, "key", "value"));
    await store.file.copyTo(copy);
    await store.write((tx) => setMeta(tx, "key", "later"));
    await store.file.fold();
    expect(await store.file.isSound()).toBe(true);
    await using copied = await openStore({ file: copy });
    expect(await readMeta(copied, "key")).toBe("value");
  });
});
