import { withFullStop } from "../../domain/text/plain-text.ts";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { Post, type SaidPost } from "../../domain/posts/post.ts";
import { MINUTE } from "../../domain/time.ts";
import { plainCall } from "../../context.ts";
import { isServerRunning } from "../../publishing/at-work.ts";
import { isDueNow, untilOut, USUAL_WAIT_MS, withoutOldWaits } from "../../posts/outcomes.ts";
import type { Host } from "../host.ts";
import type { Shell } from "./shell.ts";
import { shortIds } from "./find-post.ts";
import { forShell } from "./words.ts";
import { shellCaller } from "../../access/api-keys.ts";
import type { ConfirmOptions } from "../../toolkit/confirm.ts";

/** A long film takes its time; what is not out by then goes on with the next process that publishes. */
const OUT_WITHIN_MS = 15 * MINUTE;

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
  const warnings = z.array(z.string()).safeParse(result["warnings"]).data;
  const told = warnings === undefined ? {} : { warnings: withoutOldWaits(warnings, ended) };
  const now = (one: SaidPost): SaidPost => ended.find(({ id }) => id === one.id) ?? one;
  if (post !== undefined) return { ...result, ...told, post: now(post) };
  return {
    ...result,
    ...told,
    results: results.map((one) => ({ ...one, post: one.post === null ? null : now(one.post) })),
  };
}

/** Those of the posts that are due, as they are soon after. Where no other process publishes, this one does. */
export async function sendDue(
  { host, session }: Following,
  posts: readonly Pick<SaidPost, "id" | "status" | "scheduledAt">[],
): Promise<SaidPost[]> {
  // A dry run has posts without an id.
  const ids = posts.filter((post) => post.id !== "" && isDueNow(session, post)).map(({ id }) => id);
  if (ids.length === 0) return [];
  // Another process may publish them as well. The person wants to know what came of them.
  const isOurs = await session.startPublishing();
  if (host.terminal.isInteractive) host.terminal.tell("Publishing …\n");
  const { clock } = session.ctx;
  const call = plainCall(session.ctx, shellCaller());
  const { stopSignal: signal } = host;
  const end = clock.monotonic() + OUT_WITHIN_MS;
  for (;;) {
    const found = await untilOut(call, ids, { ms: USUAL_WAIT_MS, signal });
    // What this process alone works on would be broken off.
    const isOurTurn = isOurs && found.some(({ status, error }) => status === "publishing" && error === null);
    if (!isOurTurn || signal.aborted || clock.monotonic() > end) return found;
  }
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
