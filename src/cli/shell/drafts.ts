import * as z from "zod";
import type { Command } from "commander";
import { DecidedDraft, Draft, DRAFT_STATES } from "../../domain/drafts/draft.ts";
import type { Post } from "../../domain/posts/post.ts";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";
import { listAccounts } from "../../accounts/accounts.ts";
import { plainCall } from "../../context.ts";
import { listDrafts } from "../../drafts/drafts.ts";
import type { Host, Session } from "../host.ts";
import { collect, toJsonText } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { type DraftListOptions, printDrafts, showDrafts } from "./draft-list.ts";
import { addContentOptions, bringMedia, type ContentOptions, readMetadata } from "./content.ts";
import { readShortId, shortIds } from "./find-post.ts";
import { consentOf, findDue, untilOut, whyNotOut } from "./outcomes.ts";
import { forShell } from "./shell-words.ts";
import { readWhen, WHEN_HELP } from "../../domain/arguments/spoken-times.ts";

interface Common {
  readonly json?: true;
}

interface DraftOptions extends Common, ContentOptions {
  readonly on: readonly string[];
  readonly at?: string;
  readonly label: readonly string[];
  readonly note?: string;
  readonly submit?: true;
}

interface ApproveOptions extends Common {
  readonly at?: string;
  readonly changes?: string;
  readonly discard?: true;
  readonly stop?: true;
  readonly yes?: true;
}

export function addDraftCommands(program: Command, host: Host): void {
  program
    .command("drafts")
    .description("list the drafts that wait or are open, or those in one state, such as scheduled")
    .argument("[state]", DRAFT_STATES.join(", "))
    .option("--all", "the decided ones, too")
    .option("--json", "print JSON of all of them on a terminal, too")
    .action((state: string | undefined, options: DraftListOptions) => printDrafts(host, state, options));
  addContentOptions(
    program
      .command("draft")
      .description("write a draft for one channel or several, which a person approves")
      .argument("[text]", "what it says, or - to read that from standard input")
      .option("--on <channel>", "name, handle, id or platform of a channel (may be repeated)", collect, [])
      .option("--at <when>", "when (default: at once, when it is approved)"),
  )
    .option("--label <label>", "your own word to find it by (may be repeated)", collect, [])
    .option("--note <note>", "for people who plan")
    .option("--submit", "ask for a decision")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `\n${WHEN_HELP}\n\nExamples:\n  posthorn draft "Hello" --on Blog --on mastodon --submit`,
    )
    .action((text: string | undefined, options: DraftOptions) => write(host, text, options));
  program
    .command("approve")
    .description("decide about drafts: schedule all their posts, or send them back")
    .argument("<id...>", "an id, or as much of its end as drafts shows; several get one decision")
    .option("--at <when>", "another time for all of it")
    .option("--changes <note>", "send it back, with what is to be changed")
    .option("--discard", "put it away")
    .option("--stop", "end a series")
    .option("--yes", "do not ask")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText("after", APPROVE_EXAMPLES)
    .action((ids: readonly string[], options: ApproveOptions) => approve(host, ids, options));
}

const APPROVE_EXAMPLES = `
Examples:
  posthorn approve 4kq2zt
  posthorn approve 4kq2zt 7hw0ab
  posthorn approve 4kq2zt --changes "Shorter, and with a picture"`;

const Answer = z.looseObject({
  draft: Draft.optional(),
  results: z.array(DecidedDraft).optional(),
  warnings: z.array(z.string()).optional(),
});

async function write(host: Host, text: string | undefined, options: DraftOptions): Promise<void> {
  const caption = text === "-" ? (await host.terminal.readAll()).trimEnd() : text;
  await using session = await host.openSession();
  const { accounts } = await listAccounts(plainCall(session.ctx, shellCaller(), host.stopSignal));
  if (accounts.length === 0)
    throw new AppError("conflict", "There is no channel yet. Connect one with posthorn connect.");
  const at = timeOf(session, options.at);
  await using media = await bringMedia(host, session, options.media);
  const args = {
    ...(caption === undefined ? {} : { caption }),
    ...(at === undefined ? {} : { scheduledAt: at }),
    ...readMetadata(options, media.urls),
    targets: options.on.map((accountId) => ({ accountId })),
    ...(options.label.length === 0 ? {} : { labels: options.label }),
    ...(options.note === undefined ? {} : { note: options.note }),
    ...(options.submit === true ? { submit: true } : {}),
  };
  const { result } = await session.toolbox.call("save_draft", args, shellCaller(), {
    signal: host.stopSignal,
  });
  media.keep();
  await print(host, session, { result, json: options.json });
}

async function approve(host: Host, given: readonly string[], options: ApproveOptions): Promise<void> {
  const chosen = [options.changes !== undefined, options.discard === true, options.stop === true];
  if (chosen.filter(Boolean).length > 1)
    throw new AppError("invalid", "--changes, --discard, --stop: give one of them.");
  await using session = await host.openSession();
  const found = await Promise.all(given.map((one) => findDraft(host, session, one)));
  const drafts = found.map(({ id, revision }) => ({ id, revision }));
  const [only] = drafts;
  const at = timeOf(session, options.at);
  const decision =
    options.changes !== undefined
      ? "changes"
      : options.discard
        ? "discard"
        : options.stop
          ? "stop"
          : "approve";
  const args = {
    ...(drafts.length === 1 ? only : { drafts }),
    decision,
    ...(options.changes === undefined ? {} : { note: options.changes }),
    ...(at === undefined ? {} : { scheduledAt: at }),
  };
  const { result } = await session.toolbox.call("decide_draft", args, shellCaller(), {
    signal: host.stopSignal,
    ...consentOf(host, session, options.yes === true),
  });
  const { ended, shown } = await publishDrafts(host, session, Answer.parse(result));
  await print(host, session, { result: shown, json: options.json });
  host.stopSignal.throwIfAborted();
  const trouble = await whyNotOut({ host, session }, ended);
  if (trouble !== null) throw new AppError("unavailable", trouble);
}

interface Sending {
  readonly ended: readonly Post[];
  /** The answer as it is then. */
  readonly shown: z.infer<typeof Answer>;
}

/** Waits for the posts of approved drafts that go out at once. */
async function publishDrafts(host: Host, session: Session, answer: z.infer<typeof Answer>): Promise<Sending> {
  const { draft, results } = answer;
  const decided = [draft, ...(results ?? []).map((one) => one.draft)];
  const posts = decided.flatMap((one) => one?.posts ?? []);
  const due = await findDue({ host, session }, posts);
  if (due.length === 0) return { ended: [], shown: answer };
  await session.startPublishing();
  const ended = await untilOut({ host, session }, due);
  if (draft !== undefined)
    return { ended, shown: { ...answer, draft: await findDraft(host, session, draft.id) } };
  const fresh: DecidedDraft[] = [];
  for (const one of results ?? [])
    fresh.push(one.draft === null ? one : { ...one, draft: await findDraft(host, session, one.id) });
  return { ended, shown: { ...answer, results: fresh } };
}

function timeOf({ ctx }: Session, when: string | undefined): string | undefined {
  if (when === undefined) return undefined;
  const now = ctx.clock.now();
  return readWhen(when, { now, timezone: ctx.settings.timezone }) ?? new Date(now).toISOString();
}

const MOST_LOOKED_AT = 200;

/** The draft of this id, or of its end. Throws `invalid` for several, `not_found`. */
async function findDraft(host: Host, { ctx }: Session, given: string): Promise<Draft> {
  const text = readShortId(given, "dft_");
  const call = plainCall(ctx, shellCaller(), host.stopSignal);
  const { drafts } = await listDrafts(call, { limit: MOST_LOOKED_AT });
  const found = drafts.filter(({ id }) => id.endsWith(text));
  const [draft, ...others] = found;
  if (draft === undefined)
    throw new AppError(
      "not_found",
      `id: there is no draft ${quote(given)}. "posthorn drafts" shows the drafts.`,
    );
  if (others.length === 0) return draft;
  throw new AppError("invalid", `id: ${quote(given)} may be several drafts. Give more of it.`);
}

async function print(
  host: Host,
  session: Session,
  { result, json }: { readonly result: unknown; readonly json: true | undefined },
): Promise<void> {
  const { draft, results = [], warnings = [] } = Answer.parse(result);
  const { terminal } = host;
  const ids = shortIds(results.map(({ id }) => id));
  const errors = results.flatMap(({ id, error }) =>
    error === null ? [] : [`${ids.get(id) ?? id}: ${error}`],
  );
  const drafts = [draft, ...results.map((one) => one.draft)].filter(
    (one) => one !== undefined && one !== null,
  );
  if (!terminal.isScreen || json === true) terminal.print(toJsonText(result));
  else {
    if (drafts.length > 0) terminal.print(await showDrafts(host, session, drafts));
    for (const line of [...warnings, ...errors]) terminal.print(`${forShell(line)}\n`);
  }
  if (errors.length > 0)
    throw new AppError("conflict", `Nothing was done about ${errors.length} of ${results.length}.`);
}
