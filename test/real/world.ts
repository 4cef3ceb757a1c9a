import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createContext } from "../../src/app/compose.ts";
import { readSetup } from "../../src/app/setup.ts";
import type { MediaSource } from "../../src/ports/media.ts";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import type { AppContext } from "../../src/context.ts";
import { createPlatformIo } from "../../src/connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../../src/publishing/publish-io.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import type { AccountRow } from "../../src/store/queries/accounts.ts";
import { createMemoryLogger } from "../support/context.ts";
import { createStageMedia } from "../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { publishKilled, type KillJob } from "./killing.ts";

const failures: string[] = [];

/** One line a scenario; what was seen where it is not right. */
export function tell(what: string, isRight: boolean, seen: unknown = ""): void {
  const shown = (seen instanceof Error ? seen.message : JSON.stringify(seen)).slice(0, 2_000);
  process.stdout.write(`${isRight ? "ok" : "DIFFERS"}  ${what}  ${isRight ? "" : shown}\n`);
  if (!isRight) failures.push(what);
}

/** Ends the script's report, and gives its exit code. */
export function conclude(): void {
  process.stdout.write(failures.length === 0 ? "Nothing differed.\n" : `${failures.length} differed.\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Until the address answers so that it is taken for ready; throws after that many seconds. */
export async function untilReady(
  url: string,
  isReady: (response: Response) => boolean,
  seconds: number,
): Promise<void> {
  for (let n = 0; n < seconds * 5; n += 1) {
    const response = await fetch(url).catch(() => null);
    if (response !== null && isReady(response)) return;
    await wait(200);
  }
  throw new Error(`Nobody answers at ${url}.`);
}

interface RealWorld {
  /** What the posts show; what a process of its own publishes is read from its address. */
  readonly media?: MediaSource;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Posthorn as it is, in a data folder of its own, with a door that lets it reach this machine. */
export async function openReal(platform: AnyPlatform, options: RealWorld = {}) {
  const folder = temporaryFolder();
  const env = { ...folder.env, ...options.settings, POSTHORN_ALLOWED_HOSTS: "127.0.0.1" };
  const log = createMemoryLogger();
  const setup = await readSetup(env);
  const ctx = await createContext(setup, { log, media: options.media ?? createStageMedia() });
  const { outbound } = ctx;
  return {
    ctx,
    log,
    outbound,
    /** Works on a post until nothing more is to come of it. */
    finish: (id: string, worker: AppContext = ctx) => finish(ctx, id, worker),
    publish: async (account: AccountRow, post: Partial<PostRow>, worker: AppContext = ctx) =>
      finish(ctx, (await addPost(ctx, account, post)).id, worker),
    /** A worker that dies after the first request of this kind was acted on, before it is written down. */
    dyingAfter: (isIt: (request: OutboundRequest) => boolean): AppContext => ({
      ...ctx,
      outbound: losing(outbound, isIt),
    }),
    /** Published by processes of their own, each killed at its moment; the last one is left alone. */
    async tellKilled(what: string, job: KillJob): Promise<PostRow> {
      const { post, found } = await publishKilled({ ctx, env }, job);
      const isOpen =
        found.length === job.kills.length && found.every(({ status }) => status === "publishing");
      const shown = await job.count();
      const isRight = isOpen && post.status === "published" && shown === 1;
      tell(`is there once where Posthorn was killed ${what}`, isRight, { found, shown, post });
      process.stdout.write(`    when it was dead: ${found.map((one) => one.shown).join(", ")} there\n`);
      return post;
    },
    remove: async (account: AccountRow, { id }: Pick<PostRow, "id">) => {
      const row = await readPost(ctx, id);
      const io = await createPlatformIo(ctx, account, AbortSignal.timeout(10_000));
      const results = await readStepResults(ctx, row);
      await platform.remove?.(toPlatformPost(platform, row), { ...io, ...results });
    },
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function finish(ctx: AppContext, id: string, worker: AppContext): Promise<PostRow> {
  for (let n = 0; n < 200; n += 1) {
    await drain(worker);
    const row = await readPost(ctx, id);
    if (row.next_at === null) return row;
    await wait(Math.max(50, Math.min(row.next_at - ctx.clock.now(), 5_000)));
  }
  return readPost(ctx, id);
}

/** The way out, on which the answer to the first request of this kind is lost: the process died before it was kept. */
export function losing(outbound: Outbound, isMeant: (request: OutboundRequest) => boolean): Outbound {
  let isLost = false;
  return {
    ...outbound,
    request: async (request) => {
      const response = await outbound.request(request);
      if (isLost || !isMeant(request)) return response;
      isLost = true;
      for await (const _chunk of response.body);
      throw new OutboundFailure("The process died before it was written down.", true);
    },
  };
}
