import { Readable } from "node:stream";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { Attempt, Post } from "../../domain/posts/post.ts";
import { SECOND, toIso } from "../../domain/time.ts";
import { plainCall } from "../../services/context.ts";
import { listAccounts } from "../../services/accounts/accounts.ts";
import { storeUpload } from "../../services/files/file-uploads.ts";
import { demoPicture } from "./demo-picture.ts";
import { createDemoView, type DemoView } from "./demo-view.ts";
import type { Host, Server } from "../host.ts";
import { localCaller } from "../local-caller.ts";
import { untilAborted } from "../until-aborted.ts";

/** Until the post goes live: long enough to see it held, short enough to watch. */
const WAIT_MS = 8 * SECOND;

/** Past this something is wrong, and waiting longer helps nobody. */
const GIVE_UP_MS = 30 * SECOND;

const LOOK_EVERY_MS = 50;

const CAPTION =
  "Hello from Posthorn! This post was scheduled, prepared ahead, held back and published at its time.";

/** Shows the whole way of a post on a server of its own, in a folder that is removed again. */
export async function runDemo(host: Host, options: { exit?: true }): Promise<void> {
  const folder = await host.makeTemporaryFolder();
  const view = createDemoView(host.terminal);
  try {
    view.begin(folder);
    await using server = await host.startServer({ role: "cli", sandbox: folder });
    const post = await schedule(host, server);
    const finished = await watch(host, server, { view, post });
    const staysUp = options.exit !== true && host.terminal.isInteractive;
    view.finish(finished, { publicUrl: server.publicUrl, staysUp });
    if (staysUp) await untilAborted(host.stopSignal);
  } finally {
    view.close();
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
  const { file } = await storeUpload(call, {
    name: "posthorn-demo.png",
    body,
    altText,
  });
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

const Looked = z.object({ post: Post, history: z.array(Attempt) });

async function watch(host: Host, server: Server, run: { view: DemoView; post: Post }): Promise<Post> {
  const { ctx, toolbox } = server;
  const { view, post } = run;
  const start = ctx.clock.now();
  view.scheduled(post);
  for (;;) {
    const { result } = await toolbox.call("get_post", { id: post.id, history: true }, localCaller(), {
      signal: host.stopSignal,
    });
    const seen = Looked.parse(result);
    view.look(seen, ctx.clock.now());
    if (seen.post.status === "published") return seen.post;
    if (seen.post.status === "failed")
      throw new AppError("unavailable", `The post failed: ${seen.post.error ?? "no reason was given"}`);
    if (ctx.clock.now() - start > GIVE_UP_MS) {
      throw new AppError(
        "unavailable",
        `The post is still ${seen.post.status} after ${GIVE_UP_MS / SECOND} seconds. "posthorn doctor" may tell why.`,
      );
    }
    await ctx.clock.sleep(LOOK_EVERY_MS, host.stopSignal);
  }
}
