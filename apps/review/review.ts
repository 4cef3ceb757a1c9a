import { computed, signal } from "@preact/signals";
import { besidePlatform, nameChannels } from "../../src/domain/accounts/channel-names.ts";
import type { Decision } from "../features/draft/readiness.ts";
import type { ToolAnswer } from "../shared/bridge.ts";
import { byUrgency, type Draft, readDraft } from "../shared/drafts.ts";
import { Host } from "../shared/host.ts";
import { readLayout, zoneOf } from "../shared/host-context.ts";
import { isJson, type Json, jsonOf, textOf } from "../shared/json.ts";
import { locale, timezone } from "../shared/when.ts";

/* What the person does with the drafts, and what the server says to it. */

interface Page {
  readonly drafts: readonly Draft[];
  readonly nextCursor: string | null;
  /** Drafts whose texts came cut, because an answer is no longer than a model can read. */
  readonly cut: ReadonlySet<string>;
}

/** Said meanwhile, afterwards, and to the model. */
const DECISIONS: Readonly<Record<Decision, { doing: string; done: string; told: string }>> = {
  approve: { doing: "Scheduling…", done: "Approved: its posts are scheduled.", told: "was approved" },
  changes: {
    doing: "Asking for changes…",
    done: "Changes are asked for.",
    told: "is to be changed, and list_drafts answers how (decision.note)",
  },
  discard: { doing: "Discarding…", done: "The draft is discarded.", told: "was discarded" },
  stop: { doing: "Ending the series…", done: "The series is ended.", told: "was ended" },
};

const NO_DRAFTS = "The answer holds no drafts.";
/** The id of the draft's heading. */
const TITLE = "draft-title";

export const host = new Host();
export const layout = signal(readLayout({}));

/** Null: there is none, and `text` says why. */
export const page = signal<Page | null>(null);
export const text = signal("Loading the drafts…");
const selected = signal<string | null>(null);
/** The one that is shown. */
export const draft = computed(() => find(selected.value));
/** What the person is being asked. */
export const asking = signal<Decision | null>(null);
/** Drafts on their way to the server, with what is being done. */
export const busy = signal<ReadonlyMap<string, string>>(new Map());
export const isLoading = signal(false);
/** A sentence that stays until it is closed. */
export const complaint = signal<string | null>(null);
/** For screen readers. */
export const said = signal("");

/** Filters that the drafts were asked for with; they hold for further pages too. */
let filters: Json = {};
/** "Blog (Mastodon)", by ids. */
const channels = signal<ReadonlyMap<string, string>>(new Map());

/** Until the channels are known, a draft's own words stand there. */
export function channelName(id: string, given: string | null): string {
  return channels.value.get(id) ?? (given || id);
}

function find(id: string | null): Draft | null {
  return page.value?.drafts.find((one) => one.id === id) ?? null;
}

/** Once it is shown, which is in the next moment. */
function focusOn(id: string): void {
  setTimeout(() => document.getElementById(id)?.focus());
}

/** The times of drafts tell no zone: they are shown in the person's. */
export function takeContext(changes: Json): void {
  layout.value = host.takeContext(changes);
  locale.value = layout.value.locale;
  timezone.value = zoneOf(host.context);
}

export function takeInput(args: Json): void {
  filters = args;
}

export function takeResult(answer: ToolAnswer): void {
  const given = readPage(answer);
  if (typeof given === "string") return showText(given);
  page.value = { ...given, drafts: byUrgency(given.drafts) };
  selected.value = null;
  asking.value = null;
  void loadChannels();
  select(page.value.drafts[0]?.id ?? "");
}

export function takeCancellation(): void {
  if (page.value === null) showText("The drafts were not loaded: the call was cancelled.");
}

export function showText(sentence: string): void {
  page.value = null;
  text.value = sentence;
}

export function select(id: string, isToRead = false): void {
  if (find(id) === null) return;
  complaint.value = null;
  selected.value = id;
  asking.value = null;
  if (isToRead) focusOn(TITLE);
  void loadWhole(id);
}

/** Back to the button that asked. Answers whether something was asked. */
export function leave(): boolean {
  if (asking.value === null) return false;
  focusOn(`ask-${asking.value}`);
  asking.value = null;
  return true;
}

/** The next page of the answer. */
export async function loadMore(): Promise<void> {
  const cursor = page.value?.nextCursor ?? null;
  if (cursor === null || isLoading.value) return;
  isLoading.value = true;
  const given = readPage(await host.call("list_drafts", { ...filters, cursor }));
  isLoading.value = false;
  if (typeof given === "string") {
    complaint.value = given;
    return;
  }
  const { drafts = [], cut = [] } = page.value ?? {};
  const fresh = given.drafts.filter(({ id }) => find(id) === null);
  page.value = {
    drafts: byUrgency([...drafts, ...fresh]),
    cut: new Set([...cut, ...given.cut]),
    nextCursor: given.nextCursor,
  };
  selected.value ??= fresh[0]?.id ?? null;
  said.value = `${fresh.length} more drafts.`;
}

/** The decision goes with the revision that is on the screen. */
export async function decide(
  decision: Decision,
  more: { readonly note?: string; readonly scheduledAt?: string } = {},
): Promise<void> {
  const before = draft.value;
  if (before === null || busy.value.has(before.id)) return;
  const { id, revision } = before;
  const { doing, done, told } = DECISIONS[decision];
  complaint.value = null;
  busy.value = new Map([...busy.value, [id, doing]]);
  const answer = await host.call("decide_draft", { id, revision, decision, ...more });
  busy.value = new Map([...busy.value].filter(([one]) => one !== id));
  if (answer.isError) return refuse(before, answer.text);
  showDecided(readDraft(answer.structured?.["draft"]));
  said.value = done;
  host.updateModel("In the review the person decided:", `${id} (revision ${revision}) ${told}`);
}

function showDecided(fresh: Draft | null): void {
  if (fresh !== null) replace(fresh);
  asking.value = null;
  focusOn(TITLE);
}

/** A person decides only about what they have seen: a draft that was changed meanwhile is shown first. */
async function refuse({ id, revision }: Draft, sentence: string): Promise<void> {
  const fresh = (await load(id))?.drafts[0];
  complaint.value = sentence;
  if (fresh === undefined || fresh.revision === revision) return;
  showDecided(fresh);
  complaint.value = `Not done: the draft was changed meanwhile. This is version ${fresh.revision}. Look at it, then decide.`;
}

export function openLink(url: string): void {
  host.openLink(url).catch(() => {
    complaint.value = "The application around this page did not open the link.";
  });
}

export async function toggleFullscreen(): Promise<void> {
  takeContext(await host.toggleFullscreen(layout.value));
}

/** Answers are cut to what a model can read. A single draft has the whole of that room. */
async function loadWhole(id: string): Promise<void> {
  if (page.value?.cut.has(id) !== true || !host.abilities.callsTools) return;
  const given = await load(id);
  const [fresh] = given?.drafts ?? [];
  if (fresh !== undefined) replace(fresh, given?.cut.has(id) !== true);
}

async function load(id: string): Promise<Page | null> {
  const given = readPage(await host.call("list_drafts", { id }));
  return typeof given === "string" ? null : given;
}

function replace(fresh: Draft, isWhole = false): void {
  if (page.value === null) return;
  const { drafts, cut } = page.value;
  page.value = {
    ...page.value,
    drafts: drafts.map((one) => (one.id === fresh.id ? fresh : one)),
    cut: isWhole ? new Set([...cut].filter((id) => id !== fresh.id)) : cut,
  };
}

/** What the channels and their platforms are called. */
async function loadChannels(): Promise<void> {
  if (!host.abilities.callsTools || page.value?.drafts.length === 0) return;
  const [accounts, platforms] = await Promise.all([
    host.call("list_accounts", {}).then((answer) => rowsOf(answer, "accounts")),
    host.call("list_platforms", {}).then((answer) => rowsOf(answer, "platforms")),
  ]);
  const titles = new Map(platforms.map((one) => [textOf(one["provider"]), textOf(one["title"])]));
  const titleOf = (provider: string): string => titles.get(provider) || provider;
  const rows = accounts.map(({ id, name, provider, handle }) => ({
    id: textOf(id),
    name: textOf(name),
    provider: textOf(provider),
    handle: textOf(handle) || null,
  }));
  const names = nameChannels(rows, titleOf);
  channels.value = new Map(
    rows.map(({ id, name, provider }) => [
      id,
      besidePlatform(names.get(id) || name || id, titleOf(provider)),
    ]),
  );
}

/** The page, or why there is none. */
function readPage({ isError, text: sentence, structured, note }: ToolAnswer): Page | string {
  if (isError) return sentence;
  if (structured === null || !Array.isArray(structured["drafts"])) return NO_DRAFTS;
  const drafts = structured["drafts"].flatMap((one: unknown) => readDraft(one) ?? []);
  return {
    drafts,
    nextCursor: textOf(structured["nextCursor"]) || null,
    cut: new Set(/\bcut\b/.test(note ?? "") ? drafts.map(({ id }) => id) : []),
  };
}

function rowsOf({ isError, structured }: ToolAnswer, key: string): readonly Json[] {
  const rows = isError ? undefined : jsonOf(structured)[key];
  return Array.isArray(rows) ? rows.filter(isJson) : [];
}
