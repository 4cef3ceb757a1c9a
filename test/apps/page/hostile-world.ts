import { queryOf } from "../../support/handles.ts";
import { pngOf } from "../../support/media.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import type { PageHost } from "./page-host.ts";

/** A word as long as a text may be. */
const LONG = "W".repeat(100_000);

/** What no element of the page may carry: then a text was taken for HTML. */
export const MARK = "data-taken-for-html";

/**
 * A text that tries all there is: elements, events, an address that runs, Markdown, directions that turn the rest
 * around, and control characters. `where` says in a failure whose text it was.
 */
export function evil(where: string, tail = "W".repeat(300)): string {
  const run = `window.ran='${where}'`;
  return [
    `${where} <img src=x ${MARK} onerror="${run}">`,
    `"><script ${MARK}>${run}</script><svg ${MARK} onload="${run}">`,
    `<iframe ${MARK} srcdoc="<script>parent.${run}</script>"></iframe><base ${MARK} href="https://evil.example/">`,
    `<style ${MARK}>@import "https://evil.example/a.css"</style></title></textarea></template>`,
    `[here](javascript:${run}) ![](https://evil.example/a.png) <javascript:${run}>`,
    "\u202Egnp.exe\u2066\u0001\u0007\u0008\u001b[31m\u009b\uFEFF\u2028",
    tail,
  ].join(" ");
}

const RUNS = "javascript:window.ran='address'";

/** Ids of what is opened by its address. */
export interface HostileWorld {
  readonly feed: string;
  readonly lost: string;
  readonly draft: string;
  readonly labelled: string;
}

/** One text in each place that others write into; past the server's own checks, as a page must not rely on them. */
export async function fillWithHostileTexts(host: PageHost): Promise<HostileWorld> {
  const ids = await addRows(host);
  const db = queryOf(host.ctx.store);
  await db
    .updateTable("posts")
    .set({
      caption: evil("caption", LONG),
      error: evil("error", LONG),
      platform_url: RUNS,
      platform_post_id: evil("platform post"),
      metadata: JSON.stringify({
        title: evil("title"),
        altText: evil("alt text"),
        firstComment: evil("comment"),
        link: RUNS,
        thread: [{ caption: evil("thread part"), mediaUrl: RUNS, altText: evil("part alt") }],
        [evil("field")]: evil("value"),
      }),
      warnings: JSON.stringify([evil("warning")]),
    })
    .execute();
  await db
    .updateTable("post_plans")
    .set({ labels: JSON.stringify([evil("label")]), note: evil("note", LONG) })
    .execute();
  await db
    .updateTable("post_labels")
    .set({ label: evil("label") })
    .execute();
  await db
    .updateTable("accounts")
    .set({
      name: evil("channel"),
      handle: evil("handle"),
      profile_url: RUNS,
      avatar_url: RUNS,
      status_reason: evil("reason", LONG),
    })
    .execute();
  await db
    .updateTable("files")
    .set({ name: evil("file"), alt_text: evil("alt") })
    .execute();
  await db
    .updateTable("api_keys")
    .set({ name: evil("key") })
    .execute();
  await db
    .updateTable("webhooks")
    .set({ address: `https://evil.example/${evil("hook")}`, status_reason: evil("hook reason") })
    .execute();
  const said = {
    what: "changes",
    keyId: "key_gone",
    at: "2026-11-20T09:00:00.000Z",
    revision: 1,
    note: evil("decision", LONG),
  };
  for (const { id, checks } of await db.selectFrom("drafts").select(["id", "checks"]).execute()) {
    const seen = JSON.parse(checks).map((check: any) => ({
      ...check,
      error: evil("check"),
      warnings: [evil("remark")],
      preview: previewOf(check.preview),
    }));
    await db
      .updateTable("drafts")
      .set({
        title: evil("draft title"),
        caption: evil("draft", LONG),
        note: evil("draft note"),
        labels: JSON.stringify([evil("draft label")]),
        metadata: JSON.stringify({
          title: evil("draft field"),
          thread: [{ caption: evil("draft part") }],
          link: RUNS,
          [evil("key")]: evil("field"),
        }),
        checks: JSON.stringify(seen),
        decision: JSON.stringify(said),
      })
      .where("id", "=", id)
      .execute();
  }
  return ids;
}

function previewOf(preview: any): object {
  const { count, media } = preview;
  return {
    ...preview,
    text: evil("shown", LONG),
    parts: [{ text: evil("part"), count, media: [{ url: RUNS, type: "image", change: evil("change") }] }],
    media: [...media, { url: RUNS, type: "video", change: evil("change") }],
    link: RUNS,
    note: evil("shown note"),
  };
}

/** A post in each state, drafts, a lost channel, a file, notices and keys: what they say is put over them. */
async function addRows(host: PageHost): Promise<HostileWorld> {
  const { store } = host.ctx;
  const feed = await host.addFeed();
  await addAccount(store, { id: "acc_lost", provider: "bluesky" });
  await queryOf(store)
    .updateTable("accounts")
    .set({ status: "reconnect_required" })
    .where("id", "=", "acc_lost")
    .execute();
  const body = pngOf(20, 20);
  const image = { headers: { "Content-Type": "image/png" }, body };
  const { file } = (await host.ask("POST /api/v1/files?name=a.png", image)).json;
  const states = ["scheduled", "published", "failed", "cancelled", "publishing"] as const;
  const posts = states.map((status, at) => ({
    id: `post_${status}`,
    status,
    accountId: feed,
    scheduledAt: host.clock.now() + (at - 2) * 60 * 60_000,
  }));
  await addPosts(store, posts);
  const planned = { accountId: feed, caption: "x", scheduledAt: "2026-11-22T09:00:00Z" };
  const { post } = await host.call("schedule_post", { ...planned, labels: ["a"], note: "x" });
  const draft = {
    caption: "x",
    mediaUrl: file.id,
    targets: [{ accountId: feed }, { accountId: "acc_lost" }],
  };
  await host.call("save_draft", { ...draft, repeat: { unit: "day", time: "09:00" } });
  const { draft: waiting } = await host.call("save_draft", {
    ...draft,
    targets: [{ accountId: feed, caption: evil("target") }],
    scheduledAt: "2026-11-23T09:00:00Z",
    submit: true,
  });
  const settings = { url: "https://8.8.8.8/hook", events: ["post.failed"] };
  await host.call("create_webhook", settings);
  await host.keyFor("default");
  return { feed, lost: "acc_lost", draft: waiting.id, labelled: post.id };
}
