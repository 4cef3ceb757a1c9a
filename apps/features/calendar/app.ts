import { signal } from "@preact/signals";
import type { HostAbilities, ToolAnswer } from "../../shared/bridge.ts";
import { type Json, jsonOf, textOf } from "../../shared/json.ts";
import { now } from "../../shared/clock.ts";
import { createFormats } from "../../shared/formats.ts";
import { countPosts } from "../../shared/texts.ts";
import type { Host } from "../../shared/host.ts";
import type { Wire } from "../../shared/wire.ts";
import { certainPart, loadCalendar, NO_CALENDAR, NOTHING_LOADED } from "./load-calendar.ts";
import type { CalendarOptions } from "./options.ts";
import { CHANGES, readCalendar, readPost, type Calendar, type CalendarPost } from "./posts.ts";
import {
  activeAt,
  createState,
  daysOf,
  findPost,
  firstHour,
  isLoaded,
  isMovable,
  when,
  type State,
  type View,
} from "./state.ts";
import { addDays, addMonths, type Day, type WallTime } from "../../shared/zone.ts";

/** What stands over the calendar until it is closed. */
interface Message {
  readonly sentence: string;
  /** Nothing was refused, and something is good to know. */
  readonly isHint: boolean;
}

/** What a tool does to a post, and what is said meanwhile. */
interface Work {
  readonly tool: string;
  readonly args: Json;
  readonly doing: string;
}

/** What the person does with the calendar, and what the server says to it. What is drawn reads its signals. */
export class App {
  /** What stands in the calendar's place before there is one, and when there is none. */
  readonly text = signal<string | null>("Loading the calendar…");
  readonly message = signal<Message | null>(null);
  /** Told to those who do not see the change. Another object is told anew. */
  readonly said = signal({ sentence: "" });
  readonly #state = signal<State | null>(null);
  readonly #host: Host;
  #options: CalendarOptions;
  /** Filters that the calendar was asked for with; they hold for other months too. */
  #filters: Json = {};
  #loads = 0;
  /** What was shown last that had come from the server: shown again where something else does not come. */
  #settled: Pick<State, "view" | "day" | "hour"> | null = null;
  #focus: string | null = null;
  /** From which day on months were turned, how many, and where to. */
  #stepped: { readonly day: Day; readonly months: number; readonly to: Day } | null = null;

  constructor(host: Host, options: CalendarOptions = {}) {
    this.#host = host;
    this.#options = options;
  }

  get state(): State | null {
    return this.#state.value;
  }

  /** The `data-key` of what the next drawing gives the focus to. Asked for once. */
  takeFocus(): string | null {
    const focus = this.#focus;
    this.#focus = null;
    return focus;
  }

  begin(wire: Wire, abilities: HostAbilities, context: Json): void {
    this.#host.begin(wire, abilities);
    this.takeContext(context);
  }

  takeOptions(changes: Partial<CalendarOptions>): void {
    this.#options = { ...this.#options, ...changes };
    this.update({ options: this.#options });
  }

  takeContext(changes: Json): void {
    const layout = this.#host.takeContext(changes);
    if (this.state !== null)
      this.update({ layout, formats: createFormats(layout.locale, this.state.zone.name) });
  }

  takeInput({ accountId }: Json): void {
    this.#filters = accountId === undefined ? {} : { accountId };
  }

  takeResult(answer: ToolAnswer): void {
    const calendar = answer.isError ? null : readCalendar(answer.structured);
    if (calendar === null) return this.showText(answer.isError ? answer.text : NO_CALENDAR);
    const { abilities, context } = this.#host;
    const state = createState({ calendar, abilities, context, now: now(), options: this.#options });
    this.#draw(answer.note === null ? state : { ...state, calendar: certainPart(calendar) });
    this.closeMessage();
    if (answer.note !== null && !abilities.callsTools) this.#complain(answer.note);
    if (answer.note !== null) void this.show(state.view, state.day);
  }

  /** Begins without an answer at hand; the first one is asked for. Null: today. */
  start(timezone: string, view: View, day: Day | null): Promise<void> {
    const { abilities, context } = this.#host;
    const calendar = { ...NOTHING_LOADED, timezone };
    const state = createState({ calendar, abilities, context, now: now(), options: this.#options });
    // What is asked for is what is shown, also where no answer comes.
    const shown = { ...state, view, day: day ?? state.zone.read(state.now).day };
    this.#draw(shown);
    return this.show(view, shown.day);
  }

  /** Asks anew for the days that are shown. `isQuiet`: no one asked for it, and nothing is shown of it but what is new. */
  reload(isQuiet = false): Promise<void> {
    const state = this.state;
    if (state === null || state.move !== null || (isQuiet && state.isLoading)) return Promise.resolve();
    return this.show(state.view, state.day, null, isQuiet ? "quietly" : "anew");
  }

  takeCancellation(): void {
    if (this.state === null) this.showText("The calendar was not loaded: the call was cancelled.");
  }

  update(changes: Partial<State>, focus: string | null = null): void {
    if (this.state === null) return;
    this.#focus = focus ?? this.#focus;
    this.#draw({ ...this.state, ...changes });
  }

  #draw(state: State): void {
    this.#state.value = state;
    this.text.value = null;
  }

  showText(text: string): void {
    this.text.value = text;
  }

  say(sentence: string): void {
    this.said.value = { sentence };
  }

  closeMessage(): void {
    this.message.value = null;
  }

  #complain(sentence: string): void {
    if (this.#options.onComplaint !== undefined) return this.#options.onComplaint(sentence);
    this.message.value = { sentence, isHint: false };
  }

  step(direction: 1 | -1): Promise<void> {
    const state = this.state;
    if (state === null) return Promise.resolve();
    if (state.view === "week") return this.show("week", addDays(state.day, 7 * direction));
    // From the 31st on and back again it is the 31st, although a month between has none.
    const from = this.#stepped?.to === state.day ? this.#stepped : { day: state.day, months: 0 };
    const months = from.months + direction;
    const to = addMonths(from.day, months);
    this.#stepped = { day: from.day, months, to };
    return this.show("month", to);
  }

  showToday(): Promise<void> {
    const state = this.state;
    return state === null ? Promise.resolve() : this.show(state.view, state.zone.read(now()).day);
  }

  /** Shows other days, and asks the server for them when they are not at hand. */
  async show(
    view: View,
    day: Day,
    focus: string | null = null,
    again: "anew" | "quietly" | null = null,
  ): Promise<void> {
    const before = this.state;
    if (before === null) return;
    const load = ++this.#loads;
    if (!before.isLoading) this.#settled = before;
    const days = daysOf({ ...before, view, day });
    const mustLoad = (again !== null || !isLoaded(before, days)) && this.#host.abilities.callsTools;
    const isQuiet = again === "quietly";
    const next = { ...before, view, day, panel: isQuiet ? before.panel : null, move: null };
    this.update(
      {
        ...next,
        hour: view === "week" && !isQuiet ? firstHour(next) : before.hour,
        isLoading: mustLoad && !isQuiet,
      },
      focus,
    );
    if (!mustLoad) return;
    const loaded = await loadCalendar((args) => this.#host.call("show_calendar", args), this.#filters, days);
    if (load !== this.#loads || this.state === null) return;
    if (loaded.calendar === null && isQuiet) return;
    if (loaded.calendar === null) {
      this.#complain(loaded.sentence);
      const back = this.#settled ?? before;
      return this.update({ view: back.view, day: back.day, hour: back.hour, isLoading: false, move: null });
    }
    if (loaded.note !== null) this.#complain(loaded.note);
    this.#takeLoaded(loaded.calendar, isQuiet);
    if (again === null) this.say(`${countPosts(loaded.calendar.posts.length)} loaded.`);
  }

  #takeLoaded(calendar: Calendar, isQuiet = false): void {
    if (this.state === null) return;
    // What is on its way to the server is newer here, and what is carried is looked for under its old day.
    const { busy, move } = this.state;
    const ids = new Set(calendar.posts.map(({ id }) => id));
    const isKept = ({ id }: CalendarPost): boolean => id === move?.id || (busy.has(id) && ids.has(id));
    const kept = this.state.calendar.posts.filter(isKept);
    const posts = [...calendar.posts.filter((post) => kept.every(({ id }) => id !== post.id)), ...kept];
    const state = { ...this.state, calendar: { ...calendar, posts } };
    this.update({
      calendar: state.calendar,
      hour: state.view === "week" && !isQuiet ? firstHour(state) : state.hour,
      isLoading: false,
    });
  }

  /** The post, unless something is being done to it. */
  #idle(id: string): CalendarPost | null {
    return this.state === null || this.state.busy.has(id) ? null : findPost(this.state, id);
  }

  /** True when the person may take the post up now. */
  mayMove(id: string): boolean {
    const post = this.#idle(id);
    return this.state !== null && post !== null && isMovable(this.state, post);
  }

  /** Shows the post at its new time at once, and takes that back when the server refuses. */
  async move(id: string, to: WallTime): Promise<void> {
    if (this.state !== null) await this.moveTo(id, this.state.zone.toMs(to));
  }

  async moveTo(id: string, scheduledAt: number): Promise<void> {
    const state = this.state;
    const post = this.#idle(id);
    if (state === null || post === null || !this.mayMove(id)) return;
    this.update(
      { move: null, ...activeAt(state, state.zone.read(scheduledAt)) },
      state.panel === null ? `chip:${id}` : null,
    );
    if (scheduledAt === post.scheduledAt) return;
    const time = new Date(scheduledAt).toISOString();
    const work = { tool: "update_post", args: { scheduledAt: time }, doing: "Saving…" };
    const answer = await this.#work(post, work, { ...post, scheduledAt });
    if (answer === null) return;
    const sentence = `Moved to ${when(state, scheduledAt)}.`;
    if (this.#options.onMoved === undefined) this.say(sentence);
    this.#options.onMoved?.(post, sentence, () => void this.moveTo(id, post.scheduledAt));
    this.#hint(answer["warnings"]);
    this.#tellModel(`${id} was moved to ${time}`);
  }

  /** Does what its button says. */
  async change(id: string, name: keyof typeof CHANGES): Promise<void> {
    const { from, said, ...work } = CHANGES[name];
    const post = this.#idle(id);
    if (post?.status !== from || !this.#host.abilities.callsTools) return;
    if ((await this.#work(post, work)) === null) return;
    this.say(said);
    this.#tellModel(`${id}: ${work.tool}`);
  }

  /** Opens the text of a post to be written anew: the whole of it, as it is now. */
  async write(id: string): Promise<void> {
    const post = this.#idle(id);
    if (post === null) return;
    const answer = await this.#work(post, { tool: "get_post", args: {}, doing: "Loading the text…" });
    const panel = this.state?.panel ?? null;
    const fresh = readPost(answer?.["post"]);
    const readAt = textOf(jsonOf(answer?.["post"])["updatedAt"]);
    if (fresh !== null && panel !== null)
      this.update(
        { panel: { ...panel, asking: null, writing: { id, text: fresh.caption ?? "", readAt } } },
        `text:${id}`,
      );
  }

  /** Saves the text of a waiting post, or sends a failed one again with it. */
  async reword(id: string, caption: string): Promise<void> {
    const post = this.#idle(id);
    if (post === null) return;
    const isFailed = post.status === "failed";
    // What was typed is there again where it is refused.
    const panel = this.state?.panel ?? null;
    const readAt = panel?.writing?.readAt ?? "";
    if (panel !== null) this.update({ panel: { ...panel, writing: { id, text: caption, readAt } } });
    const answer = await this.#work(post, {
      tool: isFailed ? "retry_post" : "update_post",
      args: { caption, ...(!isFailed && readAt !== "" && { ifUpdatedAt: readAt }) },
      doing: isFailed ? CHANGES.retry.doing : "Saving…",
    });
    if (answer === null) return this.#meet(id, readAt);
    if (this.state?.panel?.writing?.id === id)
      this.update({ panel: { ...this.state.panel, writing: null } }, "panel:title");
    this.say(isFailed ? CHANGES.retry.said : "The text is saved.");
    this.#hint(answer["warnings"]);
    this.#tellModel(`${id}: ${isFailed ? "retry_post with another text" : "another text"}`);
  }

  /** Says what others wrote meanwhile: it is replaced only by one who knows of it. */
  async #meet(id: string, readAt: string): Promise<void> {
    const { structured } = await this.#host.call("get_post", { id });
    const now = readPost(structured?.["post"]);
    const changedAt = textOf(jsonOf(structured?.["post"])["updatedAt"]);
    const writing = this.state?.panel?.writing ?? null;
    if (now?.status !== "scheduled" || changedAt === readAt || writing?.id !== id) return;
    const panel = this.state?.panel ?? null;
    if (panel !== null) this.update({ panel: { ...panel, writing: { ...writing, readAt: changedAt } } });
    this.#complain(
      `It was changed elsewhere meanwhile. Its text is now “${now.caption ?? ""}”. Save again to put yours in its place.`,
    );
  }

  /** `shown`: the post until the answer is there. Null: the server refused, and the post is as it was. */
  async #work(post: CalendarPost, { tool, args, doing }: Work, shown = post): Promise<Json | null> {
    this.closeMessage();
    this.#replace(shown, doing);
    const { isError, structured, text } = await this.#host.call(tool, { id: post.id, ...args });
    this.#replace(isError ? post : (readPost(structured?.["post"]) ?? shown));
    if (isError) this.#complain(text);
    return isError ? null : (structured ?? {});
  }

  /** What else is said of a change that was made. */
  #hint(warnings: unknown): void {
    if (!Array.isArray(warnings) || warnings.length === 0) return;
    const sentence = warnings.map(String).join(" ");
    if (this.#options.onHint !== undefined) return this.#options.onHint(sentence);
    this.message.value = { sentence, isHint: true };
  }

  openLink(url: string): void {
    this.#host
      .openLink(url)
      .catch(() => this.#complain("The application around this page did not open the link."));
  }

  async toggleFullscreen(): Promise<void> {
    const layout = this.state?.layout;
    if (layout !== undefined) this.takeContext(await this.#host.toggleFullscreen(layout));
  }

  #replace(post: CalendarPost, doing: string | null = null): void {
    if (this.state === null) return;
    const { calendar } = this.state;
    const busy = new Map(this.state.busy);
    if (doing === null) busy.delete(post.id);
    else busy.set(post.id, doing);
    this.update({
      busy,
      calendar: { ...calendar, posts: calendar.posts.map((one) => (one.id === post.id ? post : one)) },
    });
  }

  #tellModel(change: string): void {
    this.#host.tellModel("In the calendar the person changed:", change);
  }
}
