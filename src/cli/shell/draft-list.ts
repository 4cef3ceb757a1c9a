import {
  type SaidDraft,
  DRAFT_STATES,
  type DraftState,
  firstTextOf,
  type SaidDraftPage,
} from "../../domain/drafts/draft.ts";
import { join } from "../../domain/sentences.ts";
import { tellSeries } from "../../domain/drafts/tell-series.ts";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";
import { listDrafts } from "../../drafts/drafts.ts";
import { type Row, row } from "../command.ts";
import { toJsonText } from "../options.ts";
import { shortIds } from "./find-post.ts";
import { inShell, type Shell } from "./shell.ts";
import { forShell } from "./words.ts";
import { type Column, toTable } from "./table.ts";
import { toClock } from "./views.ts";

export const DRAFTS: Row = row({
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
export async function showDrafts(at: Shell, drafts: readonly SaidDraft[]): Promise<string> {
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
  const problems = (isDecided ? posts : checks).flatMap(({ accountId, error }) =>
    error === null ? [] : [join(`${name(accountId)}:`, error)],
  );
  const said = state === "open" && decision?.note ? [`${decision.by.name}: ${decision.note}`] : [];
  const series =
    repeat === null || isDecided
      ? []
      : [`${tellSeries(repeat)}.`, ...(repeat.texts ?? []).map((text, at) => `${at + 1}. ${text}`)];
  return [...series, ...problems.map((line) => forShell(line)), ...said].map(
    (line) => `  ${line.replaceAll(/\s+/g, " ")}`,
  );
}
