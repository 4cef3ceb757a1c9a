import { spanInWords } from "../../domain/health/span-in-words.ts";
import { once } from "node:events";
import { Readable } from "node:stream";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import { Attempt, Post } from "../../domain/posts/post.ts";
import { SECOND, toIso } from "../../domain/time.ts";
import { plainCall } from "../../context.ts";
import { listAccounts } from "../../channels/accounts/accounts.ts";
import { storeUpload } from "../../files/file-uploads.ts";
import type { Host, Server } from "../host.ts";
import { localCaller } from "../../access/api-keys.ts";
import { demoPicture } from "./demo-picture.ts";

/** Until the post goes live: long enough to see it held, short enough to watch. */
const WAIT_MS = 8 * SECOND;

/** Past this something is wrong, and waiting longer does not help. */
const GIVE_UP_MS = 30 * SECOND;

const LOOK_EVERY_MS = 50;

const CAPTION =
  "Hello from Posthorn! This post was scheduled, prepared ahead, held back and published at its time.";

const STAYS_UP = "The page stays up until you press Ctrl-C. Then the temporary folder is removed.";
const OVER =
  "The demo is over and its folder removed. In a terminal, without --exit, its page stays up to be looked at.";

/** Shows the whole way of a post on a server of its own, in a folder that is removed again. */
export async function runDemo(host: Host, isShort: boolean): Promise<void> {
  const { terminal } = host;
  const folder = await host.makeTemporaryFolder();
  try {
    terminal.print(
      `\nPosthorn demo: one post with a picture, from its schedule to the built-in feed\nEverything happens in ${folder}. Your own data is not touched.\n\n`,
    );
    await using server = await host.startServer({ role: "cli", sandbox: folder });
    const { publicUrl } = server;
    const command = host.findCommand();
    const post = await watch(host, server, await schedule(host, server));
    const staysUp = !isShort && terminal.isInteractive;
    // Addresses of a server that ends would lead nowhere.
    const places = `
  See it       ${post.platformUrl ?? publicUrl}
  As a feed    ${publicUrl}/feed/${post.accountId}.json   (.rss, .html)
`;
    terminal.print(
      `${staysUp ? places : ""}
Next: ${command} serve runs it until you stop it. ${command} connect adds your channels.
${staysUp ? STAYS_UP : OVER}
`,
    );
    if (staysUp && !host.stopSignal.aborted) await once(host.stopSignal, "abort");
  } finally {
    await host.removeFolder(folder);
  }
}

async function schedule(host: Host, server: Server): Promise<Post> {
  const { ctx, toolbox } = server;
  const caller = localCaller();
  const call = plainCall(ctx, caller);
  const account = (await listAccounts(call)).accounts[0];
  if (account === undefined)
    throw new AppError(
      "unavailable",
      "The built-in feed is missing from this installation. Install Posthorn anew.",
    );
  const altText = "A golden post horn's curve over a night-blue sky";
  const body = Readable.from([demoPicture()]);
  const { file } = await storeUpload(call, { name: "posthorn-demo.png", body, altText });
  const args = {
    accountId: account.id,
    scheduledAt: toIso(ctx.clock.now() + WAIT_MS),
    mediaUrl: file.id,
    caption: CAPTION,
    metadata: { title: "Posthorn's first post", tags: ["posthorn", "demo"], altText },
    leadMinutes: 1,
  };
  const { result } = await toolbox.call("schedule_post", args, caller, { signal: host.stopSignal });
  return z.object({ post: Post }).parse(result).post;
}

const MEANING: Partial<Record<PostStatus, string>> = {
  scheduled: "waits, and may still be changed or cancelled",
  publishing: "taken up ahead of its time (leadMinutes)",
  uploaded: "on the platform, private until its time",
  published: "live",
};

const Looked = z.object({ post: Post, history: z.array(Attempt) });

async function watch(host: Host, { ctx, toolbox }: Server, { id, createdAt }: Post): Promise<Post> {
  const begin = Date.parse(createdAt);
  const shown = new Set<PostStatus>();
  const show = (status: PostStatus, at: number, more = ""): void => {
    if (shown.has(status)) return;
    shown.add(status);
    const seconds = (Math.max(0, at - begin) / SECOND).toFixed(1).padStart(5);
    host.terminal.print(`  ✔ ${seconds} s  ${status.padEnd(10)}  ${MEANING[status] ?? ""}${more}\n`);
  };
  show("scheduled", begin);
  for (;;) {
    const { result } = await toolbox.call("get_post", { id, history: true }, localCaller(), {
      signal: host.stopSignal,
    });
    const { post, history } = Looked.parse(result);
    // A state may last less than the time between two looks; the attempts remember it.
    if (history[0] !== undefined) show("publishing", Date.parse(history[0].startedAt));
    if (post.status === "uploaded") show("uploaded", ctx.clock.now());
    if (post.status === "published") {
      const liveAt = Date.parse(post.publishedAt ?? post.updatedAt);
      show("published", liveAt, `, within ${spanInWords(liveAt - Date.parse(post.scheduledAt))} of its time`);
      return post;
    }
    if (post.status === "failed")
      throw new AppError("unavailable", `The post failed: ${post.error ?? "no reason was given"}`);
    if (ctx.clock.now() - begin > GIVE_UP_MS)
      throw new AppError(
        "unavailable",
        `The post is still ${post.status} after ${GIVE_UP_MS / SECOND} seconds. "posthorn doctor" may tell why.`,
      );
    await ctx.clock.sleep(LOOK_EVERY_MS, host.stopSignal);
  }
}
