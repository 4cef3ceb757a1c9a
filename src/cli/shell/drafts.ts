import * as z from "zod";
import {
  DecidedDraft,
  Draft,
  DRAFT_STATES,
  type DraftState,
  firstTextOf,
  type SaidDecidedDraft,
  type SaidDraft,
  type SaidDraftPage,
} from "../../domain/drafts/draft.ts";
import { lateStartOf } from "../../domain/drafts/repeat.ts";
import { describeSeries } from "../../domain/drafts/tell-series.ts";
import { AppError } from "../../domain/errors.ts";
import { subjectOf, withValues } from "../../domain/posts/for-people.ts";
import { join, Message, type Said, sentencesIn } from "../../domain/sentences.ts";
import { toIso } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { listAccounts } from "../../channels/accounts/accounts.ts";
import { listDrafts } from "../../posts/drafts/drafts.ts";
import { withoutOldWaits } from "../../posts/outcomes.ts";
import { type CommandArgs, JSON_TOO, many, type Row, row } from "../command.ts";
import { toJsonText } from "../options.ts";
import { bringMedia, CONTENT, readMetadata, readText } from "./content.ts";
import { type Column, toTable } from "./table.ts";
import { readShortId, shortIds } from "./find-post.ts";
import { consentOf, sendDue, whyNotOut } from "./outcomes.ts";
import { worded } from "../../toolkit/words.ts";
import { inShell, type Shell } from "./shell.ts";
import { showWarnings, toClock } from "./views.ts";
import { forShell } from "./words.ts";
import { readWhen, WHEN_HELP } from "../../domain/arguments/spoken-times.ts";

const DRAFTS: Row = row({
  name: "drafts",
  about: "list the drafts that wait or are open, or those in one state, such as scheduled",
  takes: {
    "[state]": DRAFT_STATES.join(", "),
    "--all": "the decided ones, too",
    "--json": "print JSON of all of them on a terminal, too",
  },
  async run({ state, all, json }, host) {
    const states = DRAFT_STATES.filter((known) => state === undefined || known === state);
    if (states.length === 0)
      throw new AppError(
        "invalid",
        `state: ${quote(state ?? "")} is none. The states are ${DRAFT_STATES.join(", ")}.`,
      );
    await inShell(host, json, async (at) => {
      if (at.isRead && state === undefined) return listByNeed(at, all === true);
      const page = await pageOf(at, state === undefined ? null : states);
      at.terminal.print(at.isRead ? await showDrafts(at, page.drafts) : toJsonText(page));
    });
  },
});

function pageOf({ call }: Shell, states: readonly DraftState[] | null): Promise<SaidDraftPage> {
  return listDrafts(call, { ...(states !== null && { state: [...states] }), limit: MOST_LISTED });
}

const MOST_LISTED = 100;

/** What is to be done comes first. Many decided ones would hide it. */
const BY_NEED = [
  { title: "Waiting for a decision (posthorn approve ID)", states: ["waiting"] },
  { title: "Open: being written", states: ["open"] },
] as const;

/** Each a page of its own, so that no others push them off it. */
async function listByNeed(at: Shell, isAll: boolean): Promise<void> {
  const { print } = at.terminal;
  const undecided: readonly string[] = BY_NEED.flatMap(({ states }) => states);
  const decided = { title: "Decided", states: DRAFT_STATES.filter((state) => !undecided.includes(state)) };
  let shown = 0;
  for (const { title, states } of isAll ? [...BY_NEED, decided] : BY_NEED) {
    const { drafts, nextCursor } = await pageOf(at, states);
    if (drafts.length === 0) continue;
    print(`${shown === 0 ? "" : "\n"}${title}\n${await showDrafts(at, drafts)}`);
    if (nextCursor !== null) print(`There are more than these ${drafts.length}.\n`);
    shown += drafts.length;
  }
  if (shown === 0) print(isAll ? "None.\n" : "No draft waits for a decision, and none is open.\n");
  const { drafts, nextCursor } = isAll ? NO_DRAFTS : await pageOf(at, decided.states);
  const many = nextCursor === null ? String(drafts.length) : `More than ${drafts.length}`;
  if (drafts.length > 0) print(`${many} decided: posthorn drafts --all\n`);
}

const NO_DRAFTS: SaidDraftPage = { drafts: [], nextCursor: null };

/** One line a draft, and below it what is in its way, or what a person said. */
async function showDrafts(at: Shell, drafts: readonly SaidDraft[]): Promise<string> {
  if (drafts.length === 0) return "None.\n";
  const { timezone } = at;
  const names = await at.names();
  const ids = shortIds(drafts.map(({ id }) => id));
  const columns: readonly Column<SaidDraft>[] = [
    { title: "WHEN", of: (draft) => whenOf(draft, timezone) },
    { title: "STATE", of: ({ state, outcome }) => (outcome === null ? state : `${state}, ${outcome}`) },
    {
      title: "CHANNELS",
      of: ({ targets }) => targets.map(({ accountId }) => names.get(accountId) ?? accountId).join(", "),
      isCut: true,
      isName: true,
    },
    { title: "TEXT", of: (draft) => draft.title ?? firstTextOf(draft) ?? "", isCut: true },
    { title: "ID", of: ({ id }) => ids.get(id) ?? id },
  ];
  const [head = "", ...lines] = toTable(columns, drafts, at.terminal.columns).split("\n");
  const { now } = at.now();
  const rows = drafts.flatMap((draft, line) => [lines[line] ?? "", ...notesOf(draft, names, now)]);
  return `${[head, ...rows].join("\n")}\nTimes are in ${timezone}.\n`;
}

function whenOf({ scheduledAt, repeat, posts }: SaidDraft, timezone: string): string {
  if (repeat !== null)
    return `each ${repeat.every === 1 ? "" : `${repeat.every} `}${repeat.unit} ${repeat.time}`;
  const at = posts[0]?.scheduledAt ?? scheduledAt;
  return at === null ? "once approved" : toClock(at, timezone);
}

function notesOf(
  { state, repeat, checks, decision, posts }: SaidDraft,
  names: ReadonlyMap<string, string>,
  now: number,
): string[] {
  const name = (id: string): string => names.get(id) ?? id;
  const isDecided = posts.length > 0;
  const problems = (isDecided ? posts : checks).flatMap(({ accountId, error }) =>
    error === null ? [] : [join(`${name(accountId)}:`, forPeople(error))],
  );
  const said = state === "open" && decision?.note ? [`${decision.by.name}: ${decision.note}`] : [];
  const series =
    repeat === null || isDecided
      ? []
      : [
          `${describeSeries(repeat, state === "discarded" ? null : lateStartOf(repeat, now))}.`,
          ...(repeat.texts ?? []).map((text, at) => `${at + 1}. ${text}`),
        ];
  return [...series, ...problems.map((line) => forShell(line)), ...said].map(
    (line) => `  ${line.replaceAll(/\s+/g, " ")}`,
  );
}

/** Fields are told by the words that people have for them. */
function forPeople(error: Said): Message {
  return new Message(
    sentencesIn(error).map(({ field, what, next }) => ({
      field: null,
      what: withValues(
        [subjectOf({ field, what }), what].filter((part) => part !== null).join(" "),
        (ours) => ours,
      ),
      next,
    })),
  );
}

const DRAFT = {
  "[text]": "what it says, or - to read that from standard input",
  "--on <channel>": many("name, handle, id or platform of a channel (may be repeated)"),
  "--at <when>": "when (default: at once, when it is approved)",
  ...CONTENT,
  "--label <label>": many("your own word to find it by (may be repeated)"),
  "--note <note>": "for people who plan",
  "--submit": "ask for a decision",
  "--json": JSON_TOO,
} as const;

const APPROVE = {
  "<id...>": "an id, or as much of its end as drafts shows; several get one decision",
  "--at <when>": "another time for all of it",
  "--changes <note>": "send it back, with what is to be changed",
  "--discard": "put it away",
  "--stop": "end a series",
  "--yes": "do not ask",
  "--json": JSON_TOO,
} as const;

type Deciding = CommandArgs<typeof APPROVE>;

export const DRAFTING: readonly Row[] = [
  DRAFTS,
  row({
    name: "draft",
    about: "write a draft for one channel or several, which a person approves",
    takes: DRAFT,
    help: `\n${WHEN_HELP}\n\nExamples:\n  posthorn draft "Hello" --on Blog --on mastodon --submit`,
    async run(given, host) {
      const caption = await readText(host, given.text);
      await inShell(host, given.json, (at) => write(at, given, caption));
    },
  }),
  row({
    name: "approve",
    about: "decide about drafts: schedule all their posts, or send them back",
    takes: APPROVE,
    help: `
Examples:
  posthorn approve 4kq2zt
  posthorn approve 4kq2zt 7hw0ab
  posthorn approve 4kq2zt --changes "Shorter, and with a picture"`,
    async run(given, host) {
      const chosen = [given.changes, given.discard, given.stop].filter((one) => one !== undefined);
      if (chosen.length > 1) throw new AppError("invalid", "--changes, --discard, --stop: give one of them.");
      await inShell(host, given.json, (at) => approve(at, given));
    },
  }),
];

const Answer = z.looseObject({
  draft: Draft.optional(),
  results: z.array(DecidedDraft).optional(),
  warnings: z.array(z.string()).optional(),
});

async function write(
  at: Shell,
  given: CommandArgs<typeof DRAFT>,
  caption: string | undefined,
): Promise<void> {
  const { accounts } = await listAccounts(at.call);
  if (accounts.length === 0)
    throw new AppError("conflict", "There is no channel yet. Connect one with posthorn connect.");
  const time = timeOf(at, given.at);
  await using media = await bringMedia(at, given.media);
  const result = await at.use("save_draft", {
    ...(caption !== undefined && { caption }),
    ...time,
    ...readMetadata(given, media.urls),
    targets: given.on.map((accountId) => ({ accountId })),
    ...(given.label.length > 0 && { labels: given.label }),
    ...(given.note !== undefined && { note: given.note }),
    ...(given.submit === true && { submit: true }),
  });
  media.keep();
  await print(at, result);
}

async function approve(at: Shell, given: Deciding): Promise<void> {
  const found = await Promise.all(given.id.map((one) => findDraft(at, one)));
  const drafts = found.map(({ id, revision }) => ({ id, revision }));
  const { changes: note } = given;
  const args = {
    ...(drafts.length === 1 ? drafts[0] : { drafts }),
    decision: note !== undefined ? "changes" : given.discard ? "discard" : given.stop ? "stop" : "approve",
    ...(note !== undefined && { note }),
    ...timeOf(at, given.at),
  };
  const result = await at.use("decide_draft", args, consentOf(at, given.yes));
  const { ended, shown } = await publishDrafts(at, Answer.parse(result));
  await print(at, shown);
  at.host.stopSignal.throwIfAborted();
  const trouble = await whyNotOut(at, ended);
  if (trouble !== null) throw new AppError("unavailable", trouble);
}

/** Waits for the posts of approved drafts that go out at once. With the answer as it is then. */
async function publishDrafts(at: Shell, answer: z.infer<typeof Answer>) {
  const { draft, results = [] } = answer;
  const decided = [draft, ...results.map((one) => one.draft)];
  const ended = await sendDue(
    at,
    decided.flatMap((one) => one?.posts ?? []),
  );
  if (ended.length === 0) return { ended, shown: answer };
  const { warnings } = answer;
  const told = warnings === undefined ? answer : { ...answer, warnings: withoutOldWaits(warnings, ended) };
  if (draft !== undefined)
    return { ended, shown: worded({ ...told, draft: await findDraft(at, draft.id) }).result };
  const fresh: SaidDecidedDraft[] = [];
  for (const one of results)
    fresh.push(one.draft === null ? one : { ...one, draft: await findDraft(at, one.id) });
  return { ended, shown: worded({ ...told, results: fresh }).result };
}

function timeOf(at: Shell, when: string | undefined): { scheduledAt?: string } {
  const now = at.now();
  return when === undefined ? {} : { scheduledAt: readWhen(when, now) ?? toIso(now.now) };
}

const MOST_LOOKED_AT = 200;

/** The draft of this id, or of its end. Throws `invalid` for several, `not_found`. */
async function findDraft({ call }: Shell, given: string): Promise<SaidDraft> {
  const text = readShortId(given, "dft_");
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

async function print(at: Shell, result: object): Promise<void> {
  const { draft, results = [], warnings = [] } = Answer.parse(result);
  const ids = shortIds(results.map(({ id }) => id));
  const errors = results.flatMap(({ id, error }) =>
    error === null ? [] : [`${ids.get(id) ?? id}: ${at.words(error)}\n`],
  );
  const drafts = [draft, ...results.map((one) => one.draft)].filter(
    (one) => one !== undefined && one !== null,
  );
  const table = at.isRead && drafts.length > 0 ? await showDrafts(at, drafts) : "";
  at.terminal.print(at.isRead ? [table, showWarnings(at, warnings), ...errors].join("") : toJsonText(result));
  if (errors.length > 0)
    throw new AppError("conflict", `Nothing was done about ${errors.length} of ${results.length}.`);
}
