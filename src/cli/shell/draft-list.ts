import { type SaidDraft, DRAFT_STATES, firstTextOf, type SaidDraftPage } from "../../domain/drafts/draft.ts";
import { join } from "../../domain/sentences.ts";
import { tellSeries } from "../../domain/drafts/tell-series.ts";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";
import { namesOfAccounts } from "../../accounts/accounts.ts";
import { plainCall } from "../../context.ts";
import { listDrafts } from "../../drafts/drafts.ts";
import type { Host, Session } from "../host.ts";
import { toJsonText } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { shortIds } from "./find-post.ts";
import { forShell } from "./words.ts";
import { type Column, toTable } from "./table.ts";
import { toClock } from "./views.ts";

export interface DraftListOptions {
  readonly all?: true;
  readonly json?: true;
}

export async function printDrafts(
  host: Host,
  state: string | undefined,
  { all, json }: DraftListOptions,
): Promise<void> {
  if (state !== undefined && !DRAFT_STATES.some((known) => known === state))
    throw new AppError(
      "invalid",
      `state: ${quote(state)} is none. The states are ${DRAFT_STATES.join(", ")}.`,
    );
  await using session = await host.openSession();
  const isTable = host.terminal.isScreen && json !== true;
  if (isTable && state === undefined) return await listByNeed(host, session, all === true);
  const page = await pageOf(host, session, state === undefined ? null : [state]);
  host.terminal.print(isTable ? await showDrafts(host, session, page.drafts) : toJsonText(page));
}

function pageOf(host: Host, { ctx }: Session, states: readonly string[] | null): Promise<SaidDraftPage> {
  const call = plainCall(ctx, shellCaller(), host.stopSignal);
  const state = DRAFT_STATES.filter((known) => states?.includes(known));
  return listDrafts(call, { ...(states === null ? {} : { state }), limit: MOST_LISTED });
}

const MOST_LISTED = 100;

/** What is to be done comes first. Many decided ones would hide it. */
const BY_NEED = [
  { title: "Waiting for a decision (posthorn approve ID)", states: ["waiting"] },
  { title: "Open: being written", states: ["open"] },
] as const;

/** Each a page of its own, so that no others push them off it. */
async function listByNeed(host: Host, session: Session, isAll: boolean): Promise<void> {
  const { print } = host.terminal;
  const undecided: readonly string[] = BY_NEED.flatMap(({ states }) => states);
  const decided = {
    title: "Decided",
    states: DRAFT_STATES.filter((state) => !undecided.includes(state)),
  };
  let shown = 0;
  for (const { title, states } of isAll ? [...BY_NEED, decided] : BY_NEED) {
    const { drafts, nextCursor } = await pageOf(host, session, states);
    if (drafts.length === 0) continue;
    print(`${shown === 0 ? "" : "\n"}${title}\n${await showDrafts(host, session, drafts)}`);
    if (nextCursor !== null) print(`There are more than these ${drafts.length}.\n`);
    shown += drafts.length;
  }
  if (shown === 0) print(isAll ? "None.\n" : "No draft waits for a decision, and none is open.\n");
  const { drafts, nextCursor } = isAll ? NO_DRAFTS : await pageOf(host, session, decided.states);
  const many = nextCursor === null ? String(drafts.length) : `More than ${drafts.length}`;
  if (drafts.length > 0) print(`${many} decided: posthorn drafts --all\n`);
}

const NO_DRAFTS: SaidDraftPage = { drafts: [], nextCursor: null };

/** One line a draft, and below it what is in its way, or what a person said. */
export async function showDrafts(
  host: Host,
  { ctx }: Session,
  drafts: readonly SaidDraft[],
): Promise<string> {
  if (drafts.length === 0) return "None.\n";
  const { timezone } = ctx.settings;
  const names = await namesOfAccounts({ ctx, caller: shellCaller() });
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
    {
      title: "TEXT",
      of: (draft) => draft.title ?? firstTextOf(draft) ?? "",
      isCut: true,
    },
    { title: "ID", of: ({ id }) => ids.get(id) ?? id },
  ];
  const [head = "", ...lines] = toTable(columns, drafts, host.terminal.columns).split("\n");
  const rows = drafts.flatMap((draft, at) => [lines[at] ?? "", ...notesOf(draft, names)]);
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
): string[] {
  const name = (id: string): string => names.get(id) ?? id;
  const isDecided = posts.length > 0;
  const problems = isDecided
    ? posts.flatMap(({ accountId, error }) => (error === null ? [] : [join(`${name(accountId)}:`, error)]))
    : checks.flatMap(({ accountId, error }) => (error === null ? [] : [join(`${name(accountId)}:`, error)]));
  const said = state === "open" && decision?.note ? [`${decision.by.name}: ${decision.note}`] : [];
  const series =
    repeat === null || isDecided
      ? []
      : [`${tellSeries(repeat)}.`, ...(repeat.texts ?? []).map((text, at) => `${at + 1}. ${text}`)];
  return [...series, ...problems.map((line) => forShell(line)), ...said].map(
    (line) => `  ${line.replaceAll(/\s+/g, " ")}`,
  );
}
