import { describe, expect, it } from "vitest";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import type { Platform } from "../../src/ports/platform.ts";
import { editPublishedPost } from "../../src/posts/live-posts.ts";
import { cancelPost, getPost, resolvePost } from "../../src/posts/posts.ts";
import { getStatus } from "../../src/reporting/health/status.ts";
import { askToCancel, askToEdit, askToResolve } from "../../src/posts/questions.ts";
import { agentsWords, agentsWordsFor } from "../../src/toolkit/words.ts";
import { takeOver } from "../../src/store/queries/publishing/release.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const URL_THERE = "https://platform.example/p/1";

interface World extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly post: PostRow;
  /** What the platform was asked, in order. */
  readonly asked: string[];
}

type Parts = Partial<Pick<Platform, "remove" | "insights" | "edit" | "capabilities">>;

/** A post with a follow-up that waits, on a platform that does as it is told. */
async function world(set: Partial<PostRow>, parts: (asked: string[]) => Parts): Promise<World> {
  const asked: string[] = [];
  const platform = scriptedPlatform({
    capabilities: { ...TEXT_CAPABILITIES, scheduling: "ours" },
    publish: async () => {
      asked.push("publish");
      return { state: "live", platformPostId: "1", platformUrl: URL_THERE };
    },
    ...(parts(asked) as object),
  });
  const ctx = await createTestContext({
    platformList: [platform],
    outbound: {
      assertAllowed: (_field, url) => new URL(url),
      request: () => Promise.reject(new Error("no")),
    },
    media: { forPost: () => ({}) as never, release: async () => {} },
  });
  const account = await addAccount(ctx, { profile_url: "https://platform.example/me" });
  const post = await addPost(ctx, account, {
    status: "published",
    platform_post_id: "1",
    platform_url: URL_THERE,
    published_at: ctx.clock.now(),
    next_at: ctx.clock.now() + 60_000,
    ...set,
  });
  return { ctx, post, asked, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

const takeDown = ({ ctx, post }: World) => cancelPost(callOf(ctx), { id: post.id, fromPlatform: true });

describe("taking a live post down", () => {
  it("keeps where and when it was live, and nothing follows it any more", async () => {
    await using at = await world({}, (asked) => ({ remove: async () => void asked.push("remove") }));
    const { post } = await takeDown(at);
    expect(post).toMatchObject({
      status: "cancelled",
      error: null,
      platformUrl: URL_THERE,
      platformPostId: "1",
    });
    expect(post.publishedAt).not.toBeNull();
    await at.ctx.clock.advance(3_600_000);
    await drain(at.ctx);
    expect(at.asked).toEqual(["remove"]);
  });

  it("says that it was begun where the process ends in the middle, and is done by the same call again", async () => {
    let isAlive = false;
    await using at = await world({}, (asked) => ({
      remove: async () => {
        asked.push("remove");
        // A process that ends here writes down nothing more.
        if (!isAlive) await new Promise(() => {});
      },
    }));
    void takeDown(at);
    await expect.poll(() => at.asked).toEqual(["remove"]);
    const left = await readPost(at.ctx, at.post.id);
    expect(left).toMatchObject({ status: "published", next_at: null });
    expect(left.error).toMatch(/was to be taken down.*Take it down again/);
    const warnings = async () => (await getStatus(callOf(at.ctx))).warnings?.map(String);
    expect(await warnings()).toBeUndefined();
    const worker = left.lease_worker ?? "";
    await at.ctx.store.write((tx) => takeOver(tx, worker, { now: at.ctx.clock.now(), arrivedAt: -Infinity }));
    expect(await warnings()).toEqual([
      expect.stringMatching(/: It was to be taken down, .* Take it down again/),
    ]);
    isAlive = true;
    expect((await takeDown(at)).post).toMatchObject({ status: "cancelled", error: null });
    expect(at.asked).toEqual(["remove", "remove"]);
  });

  it("says what was done, and where somebody had removed it there before", async () => {
    const live = { state: "live" as const, visibility: null, metrics: {} };
    for (const [insights, told] of [
      [
        async () => live,
        /^It was live, and was taken down on Scripted on Saturday 21 November 2026, 09:00 \(UTC\)\.$/,
      ],
      [
        async () => ({ ...live, state: "removed" as const }),
        /^It was not on Scripted any more: .* removed there already\.$/,
      ],
      [
        () => Promise.reject(new PlatformFault("transient", "It answers 503.")),
        /^It was live, and was taken down on/,
      ],
      [() => Promise.reject(new DOMException("late", "TimeoutError")), /^It was live, and was taken down on/],
    ] as const) {
      await using at = await world({}, () => ({ insights, remove: async () => {} }));
      expect((await takeDown(at)).warnings).toEqual([expect.stringMatching(told)]);
    }
  });

  it("is told later as it was found: what somebody else had removed was not taken down", async () => {
    const removed = { state: "removed" as const, visibility: null, metrics: {} };
    await using at = await world({ warnings: '["The first comment was refused."]' }, () => ({
      insights: async () => removed,
      remove: async () => {},
    }));
    const { warnings } = await takeDown(at);
    expect(warnings).toEqual([expect.stringMatching(/removed there already\.$/)]);
    expect((await getPost(callOf(at.ctx), { id: at.post.id })).warnings).toEqual(warnings);
    await expect(takeDown(at)).rejects.toThrow(
      /^The post is cancelled already \(found removed from its platform already on .*\)\. Nothing is to be done\.$/,
    );
  });

  it("is not needed where it was removed there, which get_post says", async () => {
    const removed = { state: "removed" as const, visibility: null, metrics: {} };
    await using at = await world({ warnings: '["The first comment was refused."]' }, () => ({
      insights: async () => removed,
    }));
    const { post, warnings } = await getPost(callOf(at.ctx), { id: at.post.id, insights: true });
    expect(post.status).toBe("published");
    expect(warnings).toEqual([
      "The first comment was refused.",
      "It is not on Scripted any more: it was removed there.",
    ]);
  });

  it("keeps the reason when the platform does not do it, says where a person does, and may be repeated", async () => {
    let isWilling = false;
    await using at = await world({}, (asked) => ({
      remove: async () => {
        asked.push("remove");
        if (!isWilling) throw new PlatformFault("rejected", "It is older than two days.");
      },
    }));
    await expect(takeDown(at)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /Scripted did not delete it, and it is there still: It is older than two days\..*not sent any more.*deletes it at https:\/\/platform\.example\/p\/1/,
      ),
    });
    const row = await readPost(at.ctx, at.post.id);
    expect(row).toMatchObject({ status: "published", next_at: null, lease_worker: null });
    expect(row.error).toMatch(/It is older than two days/);
    await at.ctx.clock.advance(3_600_000);
    await drain(at.ctx);
    expect(at.asked).toEqual(["remove"]);
    isWilling = true;
    expect((await takeDown(at)).post).toMatchObject({ status: "cancelled", error: null });
  });

  it("says that it is not known whether it is gone, where the platform does not tell", async () => {
    await using at = await world({}, () => ({
      remove: () => Promise.reject(new PlatformFault("transient", "It answers 503.")),
    }));
    await expect(takeDown(at)).rejects.toThrow(
      /^It is not known whether it was deleted: It answers 503\. .*Look at https:\S+\. Where it is there still, take/,
    );
  });

  it("says the same of a change whose answer was lost, or that took too long", async () => {
    const edit = (error: Error) => async () => {
      const capabilities = { ...TEXT_CAPABILITIES, editPublished: { fields: ["caption"] } };
      await using at = await world({}, () => ({ capabilities, edit: () => Promise.reject(error) }));
      await editPublishedPost(callOf(at.ctx), { id: at.post.id, caption: "Other" });
    };
    const unknown = (why: string): string =>
      `It is not known whether it was changed: ${why} Look at ${URL_THERE}. Where it is as it was, make the change again.`;
    await expect(edit(new PlatformFault("transient", "It answers 503."))).rejects.toThrow(
      unknown("It answers 503."),
    );
    await expect(edit(new DOMException("Late.", "TimeoutError"))).rejects.toThrow(
      unknown("Scripted did not answer in time."),
    );
    await expect(edit(new PlatformFault("rejected", "It is too old."))).rejects.toThrow(
      "Scripted did not take the change: It is too old.",
    );
  });

  it("of which nobody knew is over once the post is seen there, changed, or settled by a person", async () => {
    const live = { state: "live" as const, visibility: null, metrics: {} };
    const parts = {
      capabilities: { ...TEXT_CAPABILITIES, editPublished: { fields: ["caption"] } },
      remove: () => Promise.reject(new PlatformFault("transient", "It answers 503.")),
      insights: async () => live,
      edit: async () => ({}),
    };
    const over: Readonly<Record<string, (at: World) => Promise<unknown>>> = {
      seen: ({ ctx, post: { id } }) => getPost(callOf(ctx), { id, insights: true }),
      changed: ({ ctx, post: { id } }) => editPublishedPost(callOf(ctx), { id, caption: "Other" }),
      settled: ({ ctx, post: { id } }) => resolvePost(callOf(ctx), { id, outcome: "published" }),
    };
    for (const [way, end] of Object.entries(over)) {
      await using at = await world({}, () => parts);
      await expect(takeDown(at)).rejects.toThrow(/^It is not known whether it was deleted/);
      const before = await getPost(callOf(at.ctx), { id: at.post.id });
      expect(agentsWords(before.post.error ?? "")).toMatch(
        /^It is not known whether it was deleted: .* Call resolve_post .* or "not_published" where it is not\.$/,
      );
      expect((await getStatus(callOf(at.ctx))).warnings?.map(agentsWords)).toEqual([
        expect.stringMatching(
          /^“[^”]+” \(post_\w+\): It is not known whether it was deleted: .* take it down again\. Call resolve_post with id "post_\w+"/,
        ),
      ]);
      await end(at);
      expect((await readPost(at.ctx, at.post.id)).error, way).toBeNull();
      expect((await getStatus(callOf(at.ctx))).warnings, way).toBeUndefined();
    }
    await using at = await world({}, () => parts);
    await expect(takeDown(at)).rejects.toThrow(/^It is not known/);
    const gone = await resolvePost(callOf(at.ctx), { id: at.post.id, outcome: "not_published" });
    expect(gone.post).toMatchObject({ status: "cancelled", error: null });
  });

  it("asks nobody and tries nothing where the post's id there is not known, and says what adds it", async () => {
    await using at = await world({ platform_post_id: null }, (asked) => ({
      capabilities: { ...TEXT_CAPABILITIES, editPublished: { fields: ["caption"] } },
      remove: async () => void asked.push("remove"),
      insights: async () => ({ state: "live" as const, visibility: null, metrics: {} }),
      edit: async () => {
        asked.push("edit");
        return {};
      },
    }));
    const call = callOf(at.ctx);
    const { id } = at.post;
    const told = `Its id on Scripted is not known, so it can be neither changed nor taken down there, nor asked about. Call resolve_post with id "${id}" and outcome "published", with platformPostId, its id there.`;
    const { insights } = await getPost(call, { id, insights: true });
    expect(agentsWords(insights?.reason ?? "")).toBe(told);
    for (const work of [
      () => takeDown(at),
      () => editPublishedPost(call, { id, caption: "Other" }),
      () => askToCancel(call, { id, fromPlatform: true }),
      () => askToEdit(call, { id, caption: "Other" }),
    ])
      expect(agentsWordsFor(await work().catch((error: unknown) => error))).toBe(told);
    expect(at.asked).toEqual([]);
    const place = { id, outcome: "published" as const, platformPostId: "7" };
    expect(await askToResolve(call, place)).toMatch(/^Have you seen the post .* on the channel as 7\?/);
    const { post, warnings } = await resolvePost(call, place);
    expect([post.platformPostId, warnings]).toEqual(["7", undefined]);
    await expect(resolvePost(call, place)).rejects.toThrow(
      /is known \(published\)\. If it is not there after all, it can be sent only as a new post\./,
    );
    await takeDown(at);
    expect(at.asked).toEqual(["remove"]);
  });

  it("keeps a change whose answer was lost as a warning, until the platform takes one", async () => {
    let isWilling = false;
    await using at = await world({ warnings: '["The first comment was refused."]' }, (asked) => ({
      capabilities: { ...TEXT_CAPABILITIES, editPublished: { fields: ["caption"] } },
      edit: async () => {
        asked.push("edit");
        if (!isWilling) throw new PlatformFault("transient", "It answers 503.");
        return {};
      },
    }));
    const call = callOf(at.ctx);
    const { id, caption } = at.post;
    const edit = (text: string | null) => editPublishedPost(call, { id, caption: text ?? "" });
    for (const text of ["Other", "Third"]) await expect(edit(text)).rejects.toThrow(/^It is not known/);
    expect((await getPost(call, { id })).warnings).toEqual([
      "The first comment was refused.",
      expect.stringMatching(/^It is not known whether it was changed: It answers 503\. Look at/),
    ]);
    isWilling = true;
    // It may say there what was sent, so what is kept here is a change, too.
    await edit(caption);
    expect(at.asked).toEqual(["edit", "edit", "edit"]);
    expect((await getPost(call, { id })).warnings).toEqual(["The first comment was refused."]);
  });

  it("names what the platform keeps, and a part of which nobody knows", async () => {
    await using at = await world({}, () => ({ remove: async () => ({ left: "A draft stays there." }) }));
    const effect = {
      post_id: at.post.id,
      run: 1,
      fence: 1,
      effect_key: "k",
      request_hash: "h",
      asked: 0,
      sent: 1,
    };
    const times = { handle_enc: null, started_at: 1, finished_at: null, http_status: null, result: null };
    await queryOf(at.ctx.store)
      .insertInto("effects")
      .values({ ...effect, ...times, step: "status 3", state: "intent" })
      .execute();
    const { post } = await takeDown(at);
    expect(post.error).toBe(
      `It was taken down. A draft stays there. Whether a further part of it (status 3) went out is not known. Look at ${URL_THERE}.`,
    );
  });

  it("is refused where no app may delete, with the address where a person does, and nothing is stopped", async () => {
    await using at = await world({}, () => ({}));
    await expect(takeDown(at)).rejects.toThrow(
      `Scripted lets no app delete a post. A person deletes it at ${URL_THERE}.`,
    );
    expect(await readPost(at.ctx, at.post.id)).toMatchObject({
      status: "published",
      next_at: at.post.next_at,
    });
  });

  it("waits for a publisher that works on what follows it", async () => {
    await using at = await world({ lease_worker: "wrk_other" }, () => ({ remove: async () => {} }));
    await expect(takeDown(at)).rejects.toThrow(/being worked on right now/);
  });
});

describe("taking an uploaded post back", () => {
  const uploaded = { status: "uploaded", published_at: null } as const;

  it("leaves one alone that went live meanwhile", async () => {
    await using at = await world(uploaded, (asked) => ({
      remove: async () => void asked.push("remove"),
      insights: async () => ({ state: "live", visibility: null, metrics: {} }),
    }));
    await expect(takeDown(at)).rejects.toThrow(/went live on Scripted a moment ago/);
    expect(at.asked).toEqual([]);
    expect(await readPost(at.ctx, at.post.id)).toMatchObject({ status: "uploaded", lease_worker: null });
  });

  it("is found by the publisher again when the platform does not do it", async () => {
    await using at = await world(uploaded, () => ({
      remove: async () => Promise.reject(new PlatformFault("transient", "It is busy.")),
    }));
    await expect(takeDown(at)).rejects.toThrow(/It is busy/);
    expect((await readPost(at.ctx, at.post.id)).next_at).toBe(at.post.next_at);
  });
});
