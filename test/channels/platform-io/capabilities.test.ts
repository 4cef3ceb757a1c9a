import { describe, expect, it } from "vitest";
import { z } from "zod";
import { showCapabilities } from "../../../src/domain/accounts/capabilities.ts";
import { captionLength } from "../../../src/domain/posts/caption.ts";
import { measure } from "../../../src/platforms/shared/mastodon/publish.ts";
import { definePlatform, type CheckedAt } from "../../../src/ports/platform.ts";
import type { PlatformAccount } from "../../../src/ports/platform-io.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import { capabilitiesFor } from "../../../src/channels/platform-io/connect-io.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { storeUpload } from "../../../src/files/file-uploads.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { createFileContext } from "../../support/file-context.ts";
import { fixture } from "../../support/media.ts";
import { addAccount, readPost } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

const publish = async () => ({ state: "live", platformPostId: "1", platformUrl: null }) as const;
const Limits = z.object({ maxCaption: z.int() });

/** A server that says how much it takes, and leaves more time for posts with a title. */
const perServer = scriptedPlatform({
  publish,
  capabilitiesOf: ({ limits }, post) => ({
    ...TEXT_CAPABILITIES,
    caption: { maxLength: Limits.safeParse(limits).data?.maxCaption ?? 300, unit: "characters" },
    leadMinutes: { min: 0, default: post?.metadata.title === undefined ? 0 : 30, max: 60 },
  }),
});

describe("what an account can do", () => {
  it("is what its own server said, where accounts are listed and posts are checked", async () => {
    await using ctx = await createTestContext({ platformList: [perServer] });
    const small = await addAccount(ctx, { limits: '{"maxCaption":10}', platform_account_id: "1" });
    const large = await addAccount(ctx, { limits: '{"maxCaption":20}', platform_account_id: "2" });
    const { accounts } = await listAccounts(callOf(ctx));
    expect(accounts.map(({ capabilities }) => capabilities.caption.maxLength).sort()).toEqual([10, 20]);
    const caption = "fifteen letters";
    await expect(schedulePost(callOf(ctx), { accountId: small.id, caption })).rejects.toThrow(
      "caption: has 15 characters, but Scripted takes at most 10. Shorten it by 5.",
    );
    await schedulePost(callOf(ctx), { accountId: large.id, caption });
  });

  it("depends on the kind of post that is meant", async () => {
    await using ctx = await createTestContext({ platformList: [perServer] });
    const { id: accountId } = await addAccount(ctx);
    const scheduledAt = new Date(ctx.clock.now() + 60 * 60_000).toISOString();
    const post = { accountId, caption: "Hello", scheduledAt };
    const plain = await schedulePost(callOf(ctx), post);
    const titled = await schedulePost(callOf(ctx), { ...post, metadata: { title: "T" } });
    const leadOf = async ({ id }: { id: string }) => {
      const row = await readPost(ctx, id);
      return row.scheduled_at - row.due_at;
    };
    expect([await leadOf(plain.post), await leadOf(titled.post)]).toEqual([0, 30 * 60_000]);
  });

  it("is nothing where the platform is not installed", async () => {
    await using ctx = await createTestContext({ platformList: [] });
    const account = await addAccount(ctx, { provider: "gone" });
    expect(showCapabilities(capabilitiesFor(ctx, account, null), false).media.maxItems).toBe(0);
  });

  it("is shown with what is derived, and without what only we need", () => {
    const accepts = [{ kind: "image", mimeTypes: ["image/jpeg"], maxItems: 1, fill: "blur" }] as const;
    const shown = (scheduling: "platform" | "ours" | "prepare" | "none") =>
      showCapabilities(
        {
          ...TEXT_CAPABILITIES,
          scheduling,
          fetchesMedia: ["image"],
          media: { required: true, maxItems: 1, accepts },
        },
        true,
      );
    expect(shown("none").remove).toEqual({ uploaded: false, published: true });
    expect(shown("ours").remove).toEqual({ uploaded: true, published: true });
    expect(shown("none").needsPublicMediaUrl).toBe(true);
    expect(shown("none").media.accepts).toEqual([
      {
        kind: "image",
        mimeTypes: ["image/jpeg"],
        maxItems: 1,
        maxBytes: null,
        maxSeconds: null,
        minAspectRatio: null,
        maxAspectRatio: null,
      },
    ]);
    expect(
      (["platform", "ours", "prepare", "none"] as const).map((one) => shown(one).nativeScheduling),
    ).toEqual([true, true, false, false]);
  });
});

describe("capabilities that a platform's file leaves out", () => {
  it("are none, in general and of an account", () => {
    const stated = {
      media: { required: false, maxItems: 0, accepts: [] },
      caption: { maxLength: 300, unit: "characters" },
      reconciles: "list",
    } as const;
    const { capabilities, capabilitiesOf } = definePlatform({
      ...scriptedPlatform({ publish }),
      capabilities: stated,
      capabilitiesOf: () => ({ ...stated, thumbnail: { set: true, replaceAfterPublish: false } }),
    });
    const none = {
      scheduling: "none",
      leadMinutes: { min: 0, default: 0, max: 0 },
      thumbnail: { set: false, replaceAfterPublish: false },
      editPublished: { fields: [] },
      analytics: { account: [], post: [] },
      fetchesMedia: [],
      quotas: [],
    };
    expect(capabilities).toEqual({ ...none, ...stated });
    const account = { limits: {} } as PlatformAccount;
    const thumbnail = { set: true, replaceAfterPublish: false };
    expect(capabilitiesOf?.(account, null)).toEqual({ ...none, ...stated, thumbnail });
  });
});

describe("a platform's own rules", () => {
  it("see the account, the figures of own files, and the time", async () => {
    const seen: CheckedAt[] = [];
    const accepts = [{ kind: "image", mimeTypes: ["image/png"], maxItems: 1 }] as const;
    const platform = definePlatform({
      ...scriptedPlatform({ publish }),
      capabilities: { ...TEXT_CAPABILITIES, media: { required: false, maxItems: 1, accepts } },
      check: (_post, at) => {
        seen.push(at);
        return { errors: [], warnings: ["Looked at."] };
      },
    });
    await using ctx = await createFileContext({ platformList: [platform] });
    const account = await addAccount(ctx, { limits: '{"maxSeconds":60}' });
    const { file } = await storeUpload(callOf(ctx), {
      name: "photo.png",
      altText: null,
      body: (await import("node:stream")).Readable.from([fixture("photo.png")]),
      sizeBytes: null,
    });
    const { warnings } = await schedulePost(callOf(ctx), { accountId: account.id, mediaUrl: file.id });
    expect(warnings).toContain("Looked at.");
    expect(seen[0]?.account.limits).toEqual({ maxSeconds: 60 });
    expect(seen[0]?.now).toBe(ctx.clock.now());
    expect(seen[0]?.media.get(file.id)).toMatchObject({ type: "image", mimeType: "image/png" });
  });
});

describe("the length of a caption", () => {
  it("counts each address as the platform does, and leaves the full stop after it", () => {
    const text = "See https://example.com/a/very/long/path?with=query. Or (http://b.example.org)!";
    expect(captionLength(text, { unit: "weighted", urlLength: 23 }, measure)).toBe(
      "See . Or ()!".length + 2 * 23,
    );
    expect(captionLength(text, { unit: "characters" }, undefined)).toBe(text.length);
  });

  it("is weighed by the platform, and shorter beside media where it says so", async () => {
    const platform = scriptedPlatform({
      publish,
      measure: (text) => text.length * 2,
      capabilities: {
        ...TEXT_CAPABILITIES,
        media: { required: false, maxItems: 1, accepts: [] },
        caption: { maxLength: 20, withMedia: 10, unit: "weighted" },
      },
    });
    await using ctx = await createTestContext({ platformList: [platform] });
    const { id: accountId } = await addAccount(ctx);
    await schedulePost(callOf(ctx), { accountId, caption: "ten chars!" });
    await expect(schedulePost(callOf(ctx), { accountId, caption: "eleven char" })).rejects.toThrow(
      "caption: has 22 characters, as the platform counts them, but Scripted takes at most 20.",
    );
    const mediaUrl = "https://media.example/a.jpg";
    const outbound = { assertAllowed: (_field: string, text: string) => new URL(text) } as never;
    await expect(
      schedulePost(callOf({ ...ctx, outbound }), { accountId, mediaUrl, caption: "sixsix" }),
    ).rejects.toThrow(
      "caption: has 12 characters, as the platform counts them, but Scripted takes at most 10 beside media.",
    );
  });
});
