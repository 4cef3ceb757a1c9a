import { withFullStop } from "../../domain/text/plain-text.ts";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { Post, type SaidPost } from "../../domain/posts/post.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { plainCall } from "../../context.ts";
import { isServerRunning } from "../../publishing/at-work.ts";
import { getPost } from "../../posts/posts.ts";
import type { Host, Session } from "../host.ts";
import type { Shell } from "./shell.ts";
import { shortIds } from "./find-post.ts";
import { forShell } from "./words.ts";
import { shellCaller } from "../../access/api-keys.ts";
import type { ConfirmOptions } from "../../toolkit/confirm.ts";

const LOOK_EVERY_MS = SECOND / 5;
/** What still waits by then is held up by more than a moment, such as a platform that is down. */
const TAKEN_UP_WITHIN_MS = MINUTE;
/** A long film takes its time; what is not out by then goes on with the next process that publishes. */
const OUT_WITHIN_MS = 15 * MINUTE;

/** After so many tries that did not succeed, the command waits no longer. */
const TRIES = 2;

const OVER: readonly SaidPost["status"][] = ["published", "failed", "cancelled"];

/** What tools answer that make or change one post or several. */
const Sending = z.looseObject({
  post: Post.optional().catch(undefined),
  results: z
    .array(z.looseObject({ post: Post.nullable() }))
    .optional()
    .catch(undefined),
});

type Result = Readonly<Record<string, unknown>>;
type Following = Pick<Shell, "host" | "session">;

/** The result once its due posts went out. */
export async function publishDue(at: Following, result: Result): Promise<Result> {
  const { post, results = [] } = Sending.parse(result);
  const posts = post === undefined ? results.flatMap((one) => one.post ?? []) : [post];
  const ended = await sendDue(at, posts);
  if (ended.length === 0) return result;
  const now = (one: SaidPost): SaidPost => ended.find(({ id }) => id === one.id) ?? one;
  if (post !== undefined) return { ...result, post: now(post) };
  return {
    ...result,
    results: results.map((one) => ({ ...one, post: one.post === null ? null : now(one.post) })),
  };
}

/** Those of the posts that are due, once they went out. Where no other process publishes, this one does. */
export async function sendDue(
  at: Following,
  posts: readonly Pick<SaidPost, "id" | "status" | "scheduledAt">[],
): Promise<SaidPost[]> {
  const due = await findDue(at, posts);
  if (due.length === 0) return [];
  // Another process may publish them as well. The person wants to know what came of them.
  await at.session.startPublishing();
  return untilOut(at, due);
}

/** Those that a publisher takes up at once, as they are now. A dry run leaves none. */
async function findDue(
  { session }: Following,
  posts: readonly Pick<SaidPost, "id" | "status" | "scheduledAt">[],
): Promise<SaidPost[]> {
  const now = session.ctx.clock.now();
  const candidates = posts.filter(
    ({ status, scheduledAt }) => !OVER.includes(status) && Date.parse(scheduledAt) <= now,
  );
  const found = await Promise.all(candidates.map(({ id }) => readPost(session, id)));
  return found.filter((post) => post !== null);
}

/** The posts when each has gone out or failed, when it takes too long, or when the process shall end. */
async function untilOut({ host, session }: Following, posts: readonly SaidPost[]): Promise<SaidPost[]> {
  const { clock } = session.ctx;
  const start = clock.monotonic();
  const tell = (text: string): void => {
    if (host.terminal.isInteractive) host.terminal.tell(`${text}\n`);
  };
  tell("Publishing …");
  const told = new Set<string>();
  for (;;) {
    const found = await Promise.all(
      posts.map(async (before) => ({ before, post: (await readPost(session, before.id)) ?? before })),
    );
    const ended = found.map(({ post }) => post);
    const waited = clock.monotonic() - start;
    if (found.every(({ before, post }) => OVER.includes(post.status) || waited > limitOf(post, before)))
      return ended;
    // A person who does not want to wait is told how far it has come.
    if (host.stopSignal.aborted) return ended;
    for (const { id, error, status } of ended) {
      if (error === null || told.has(String(error)) || OVER.includes(status)) continue;
      told.add(String(error));
      tell(forShell(error, id));
    }
    await clock.sleep(LOOK_EVERY_MS, host.stopSignal).catch(() => {});
  }
}

function limitOf({ status, attempts }: SaidPost, before: SaidPost): number {
  // A server that is down is no matter of seconds.
  if (attempts - before.attempts > TRIES) return 0;
  return status === "scheduled" ? TAKEN_UP_WITHIN_MS : OUT_WITHIN_MS;
}

type PostOutcome = Pick<SaidPost, "id" | "status" | "error">;

/**
 * What a person is told of posts that are due and did not go out, a line each; null where all did. On a terminal they
 * stand in a table right above, with the reasons.
 */
export async function whyNotOut(
  { host, session }: Following,
  posts: readonly PostOutcome[],
  json?: true,
): Promise<string | null> {
  const missing = posts.filter(({ status }) => status !== "published");
  if (missing.length === 0) return null;
  const isServed = await isServerRunning(session.ctx);
  const isShown = host.terminal.isScreen && json !== true;
  const ids = shortIds(posts.map(({ id }) => id));
  return missing
    .map((post) =>
      whyMissing(isShown ? { ...post, id: ids.get(post.id) ?? post.id, error: null } : post, isServed),
    )
    .join("\n");
}

function whyMissing({ id, status, error }: PostOutcome, isServed: boolean): string {
  const why = error === null ? "" : ` ${withFullStop(forShell(error, id))}`;
  if (status === "failed") return `${id} failed.${why}`;
  if (status === "cancelled") return `${id} was cancelled.`;
  const next = isServed
    ? `The server that runs here goes on with it. "posthorn show ${id}" tells what became of it.`
    : 'It goes out while a Posthorn runs. "posthorn service install" keeps one running.';
  return `${id} is ${status === "publishing" ? "under way" : "not out yet"}.${why} ${next}`;
}

async function readPost({ ctx }: Session, id: string): Promise<SaidPost | null> {
  try {
    return (await getPost(plainCall(ctx, shellCaller()), { id })).post;
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return null;
    throw error;
  }
}

/** Asks the person at a terminal, unless they said yes before. Scripts go on by default. */
export function consentOf({ host, session }: Following, isYes: true | undefined): ConfirmOptions {
  if (isYes === true) return { isConfirmed: true };
  return host.terminal.isInteractive ? { ask: askAt(host) } : alwaysAsked({ host, session });
}

/** Asks where POSTHORN_CONFIRM says always. */
export function alwaysAsked({ host, session }: Following): ConfirmOptions {
  return session.ctx.settings.confirm === "always" ? { ask: askAt(host) } : {};
}

/** Asks the person at the terminal. Throws `conflict` without a yes. */
export function askAt({ terminal, stopSignal }: Host): NonNullable<ConfirmOptions["ask"]> {
  return async ({ text }) => {
    if (!terminal.isInteractive)
      throw new AppError(
        "conflict",
        "Nothing was done: with POSTHORN_CONFIRM=always a person must say yes at a terminal.",
      );
    const answer = await terminal.ask(`${text} (y/N) `, { isHidden: false, signal: stopSignal });
    if (/^y(es)?$/i.test(answer.trim())) return "yes";
    throw new AppError("conflict", "Nothing was done.");
  };
}
