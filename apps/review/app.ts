import { nameChannels } from "../../src/domain/accounts/channel-names.ts";
import type { Bridge, HostAbilities, ToolAnswer } from "../shared/bridge.ts";
import { isJson, type Json, jsonOf, textOf } from "../shared/json.ts";
import { now } from "../shared/clock.ts";
import { byUrgency, type Draft, readDraft } from "../shared/drafts.ts";
import { createFormats } from "../shared/formats.ts";
import { Host } from "../shared/host.ts";
import { zoneOf } from "../shared/host-context.ts";
import { createZone } from "../shared/zone.ts";
import type { Decision } from "../features/draft/decide-bar.tsx";
import { type Channel, findDraft, type State } from "./state.ts";

/** What the page shows. */
export interface Shown {
  /** Null: there are no drafts to show, and `text` says why. */
  readonly state: State | null;
  readonly text: string;
  /** A sentence that stays until it is closed. */
  readonly complaint: string | null;
  /** Told to those who do not see the change. */
  readonly said: string;
}

/** `focus`: the id of what gets the focus. */
type Draw = (app: App, shown: Shown, focus: string | null) => void;

/** What is said while it is done, when it is done, and to the model. */
const DECISIONS: Readonly<Record<Decision, { doing: string; said: string; told: string }>> = {
  approve: { doing: "Scheduling…", said: "Approved: its posts are scheduled.", told: "was approved" },
  changes: {
    doing: "Asking for changes…",
    said: "Changes are asked for.",
    told: "is to be changed, and list_drafts answers how (decision.note)",
  },
  discard: { doing: "Discarding…", said: "The draft is discarded.", told: "was discarded" },
  stop: { doing: "Ending the series…", said: "The series is ended.", told: "was ended" },
};

const NO_DRAFTS = "The answer holds no drafts.";

/** The id of the draft's heading. */
export const TITLE = "draft-title";

/** What the person does with the drafts, and what the server says to it. */
export class App {
  readonly #draw: Draw;
  readonly #host = new Host();
  #shown: Shown = { state: null, text: "Loading the drafts…", complaint: null, said: "" };
  /** Filters that the drafts were asked for with; they hold for further pages too. */
  #filters: Json = {};

  constructor(draw: Draw) {
    this.#draw = draw;
    this.#show({});
  }

  get #state(): State | null {
    return this.#shown.state;
  }

  begin(bridge: Bridge, abilities: HostAbilities, context: Json): void {
    this.#host.begin(bridge, abilities);
    this.takeContext(context);
  }

  takeContext(changes: Json): void {
    const layout = this.#host.takeContext(changes);
    this.update({ layout, ...this.#clocks(layout.locale) });
  }

  takeInput(args: Json): void {
    this.#filters = args;
  }

  takeResult(answer: ToolAnswer): void {
    const page = answer.isError ? null : readPage(answer);
    if (page === null) return this.showText(answer.isError ? answer.text : NO_DRAFTS);
    const layout = this.#host.takeContext({});
    const drafts = byUrgency(page.drafts);
    const state = {
      ...page,
      drafts,
      selected: drafts[0]?.id ?? null,
      channels: new Map(),
      asking: null,
      busy: new Map(),
      isLoading: false,
      layout,
      abilities: this.#host.abilities,
      now: now(),
      ...this.#clocks(layout.locale),
    };
    this.#show({ state });
    void this.#loadChannels();
    if (drafts[0] !== undefined) void this.#loadWhole(drafts[0].id);
  }

  takeCancellation(): void {
    if (this.#state === null) this.showText("The drafts were not loaded: the call was cancelled.");
  }

  showText(text: string): void {
    this.#show({ state: null, text });
  }

  complain(complaint: string | null): void {
    this.#show({ complaint });
  }

  say(said: string): void {
    this.#show({ said });
  }

  update(changes: Partial<State>, focus: string | null = null): void {
    if (this.#state !== null) this.#show({ state: { ...this.#state, ...changes } }, focus);
  }

  ask(asking: Decision): void {
    this.update({ asking });
  }

  /** Back to the button that asked. Answers whether something was asked. */
  leave(): boolean {
    const asking = this.#state?.asking ?? null;
    if (asking !== null) this.update({ asking: null }, `ask-${asking}`);
    return asking !== null;
  }

  select(id: string, focus: string | null = null): void {
    if (this.#state === null || findDraft(this.#state, id) === null) return;
    this.complain(null);
    this.update({ selected: id, asking: null }, focus);
    void this.#loadWhole(id);
  }

  /** The next page of the answer. */
  async more(): Promise<void> {
    const state = this.#state;
    if (state === null || state.nextCursor === null || state.isLoading) return;
    this.update({ isLoading: true });
    const answer = await this.#host.call("list_drafts", { ...this.#filters, cursor: state.nextCursor });
    const page = answer.isError ? null : readPage(answer);
    if (page === null) {
      this.complain(answer.isError ? answer.text : NO_DRAFTS);
      return this.update({ isLoading: false });
    }
    const { drafts, cut } = this.#state ?? state;
    const known = new Set(drafts.map(({ id }) => id));
    const fresh = page.drafts.filter(({ id }) => !known.has(id));
    this.update({
      drafts: byUrgency([...drafts, ...fresh]),
      cut: new Set([...cut, ...page.cut]),
      nextCursor: page.nextCursor,
      isLoading: false,
      selected: this.#state?.selected ?? fresh[0]?.id ?? null,
    });
    this.say(`${fresh.length} more drafts.`);
  }

  /** The decision goes with the revision that is on the screen. */
  async decide(
    decision: Decision,
    more: { readonly note?: string; readonly scheduledAt?: string } = {},
  ): Promise<void> {
    const draft = this.#state === null ? null : findDraft(this.#state, this.#state.selected);
    if (draft === null || this.#state?.busy.has(draft.id) === true) return;
    const { doing, said, told } = DECISIONS[decision];
    const { id, revision } = draft;
    this.complain(null);
    this.#busy(id, doing);
    const answer = await this.#host.call("decide_draft", { id, revision, decision, ...more });
    this.#busy(id, null);
    if (answer.isError) return this.#refuse(draft, answer.text);
    const decided = readDraft(answer.structured?.["draft"]);
    if (decided !== null) this.#replace(decided);
    this.update({ asking: null }, TITLE);
    this.say(said);
    this.#host.tellModel("In the review the person decided:", `${id} (revision ${revision}) ${told}`);
  }

  openLink(url: string): void {
    this.#host
      .openLink(url)
      .catch(() => this.complain("The application around this page did not open the link."));
  }

  async toggleFullscreen(): Promise<void> {
    const layout = this.#state?.layout;
    if (layout !== undefined) this.takeContext(await this.#host.toggleFullscreen(layout));
  }

  /** A person decides only about what they have seen: a draft that was changed meanwhile is shown first. */
  async #refuse(draft: Draft, sentence: string): Promise<void> {
    const { fresh } = await this.#load(draft.id);
    if (fresh === null || fresh.revision === draft.revision) return this.complain(sentence);
    this.#replace(fresh);
    this.update({ asking: null }, TITLE);
    this.complain(
      `Not done: the draft was changed meanwhile. This is version ${fresh.revision}. Look at it, then decide.`,
    );
  }

  /** Answers are cut to what a model can read; alone, a draft has all of that room. */
  async #loadWhole(id: string): Promise<void> {
    const state = this.#state;
    if (state === null || !state.cut.has(id) || !state.abilities.callsTools) return;
    const { fresh, isCut } = await this.#load(id);
    if (fresh === null || this.#state === null) return;
    const cut = new Set(this.#state.cut);
    if (!isCut) cut.delete(id);
    this.#replace(fresh, cut);
  }

  async #load(id: string): Promise<{ readonly fresh: Draft | null; readonly isCut: boolean }> {
    const answer = await this.#host.call("list_drafts", { id });
    const page = answer.isError ? null : readPage(answer);
    return { fresh: page?.drafts[0] ?? null, isCut: page?.cut.has(id) === true };
  }

  /** What the channels and their platforms are called; without it a draft's own words stand there. */
  async #loadChannels(): Promise<void> {
    if (this.#state === null || !this.#host.abilities.callsTools || this.#state.drafts.length === 0) return;
    const [accounts, platforms] = await Promise.all([
      this.#host.call("list_accounts", {}),
      this.#host.call("list_platforms", {}),
    ]);
    const titles = new Map(
      rowsOf(platforms, "platforms").map((one) => [textOf(one["provider"]), textOf(one["title"])]),
    );
    const titleOf = (provider: string): string => titles.get(provider) || provider;
    const rows = rowsOf(accounts, "accounts").map(({ id, name, provider, handle }) => {
      return {
        id: textOf(id),
        name: textOf(name),
        provider: textOf(provider),
        handle: textOf(handle) || null,
      };
    });
    const names = nameChannels(rows, titleOf);
    const channels = rows.map(({ id, name, provider }): [string, Channel] => [
      id,
      { name: names.get(id) ?? name, platform: titleOf(provider) },
    ]);
    this.update({ channels: new Map(channels) });
  }

  #replace(draft: Draft, cut?: ReadonlySet<string>): void {
    if (this.#state === null) return;
    const drafts = this.#state.drafts.map((one) => (one.id === draft.id ? draft : one));
    this.update({ drafts, ...(cut === undefined ? {} : { cut }) });
  }

  #show(changes: Partial<Shown>, focus: string | null = null): void {
    this.#shown = { ...this.#shown, ...changes };
    this.#draw(this, this.#shown, focus);
  }

  #busy(id: string, doing: string | null): void {
    const busy = new Map(this.#state?.busy);
    if (doing === null) busy.delete(id);
    else busy.set(id, doing);
    this.update({ busy });
  }

  /** The times of drafts tell no zone: they are shown in the person's. */
  #clocks(locale: string): Pick<State, "zone" | "formats"> {
    const name = zoneOf(this.#host.context);
    return { zone: createZone(name), formats: createFormats(locale, name) };
  }
}

type Page = Pick<State, "drafts" | "nextCursor" | "cut">;

function readPage({ structured, note }: ToolAnswer): Page | null {
  if (structured === null || !Array.isArray(structured["drafts"])) return null;
  const drafts = structured["drafts"].flatMap((draft: unknown) => readDraft(draft) ?? []);
  const isCut = /\bcut\b/.test(note ?? "");
  return {
    drafts,
    nextCursor: textOf(structured["nextCursor"]) || null,
    cut: new Set(isCut ? drafts.map(({ id }) => id) : []),
  };
}

function rowsOf({ isError, structured }: ToolAnswer, key: string): readonly Json[] {
  const rows = isError ? undefined : jsonOf(structured)[key];
  return Array.isArray(rows) ? rows.filter(isJson) : [];
}
