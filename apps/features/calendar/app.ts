import { signal } from "@preact/signals";
import type { HostAbilities, ToolAnswer } from "../../shared/bridge.ts";
import type { Json } from "../../shared/json.ts";
import { now } from "../../shared/clock.ts";
import { createFormats } from "../../shared/formats.ts";
import { countPosts } from "../../shared/texts.ts";
import { newestOf } from "../../shared/newest.ts";
import type { Host } from "../../shared/host.ts";
import type { Wire } from "../../shared/wire.ts";
import { certainPart, loadCalendar, NO_CALENDAR, NOTHING_LOADED } from "./load-calendar.ts";
import type { CalendarOptions } from "./options.ts";
import { readCalendar, type Calendar, type CalendarPost } from "./posts.ts";
import { createState, daysOf, firstHour, isLoaded, type State, type View } from "./state.ts";
import { addDays, addMonths, type Day } from "../../shared/zone.ts";

/** A message over the calendar, until it is closed. */
interface Message {
  readonly sentence: string;
  /** Nothing was refused, and something is good to know. */
  readonly isHint: boolean;
}

/** What the calendar shows, and the host that it shows it in. Components read its signals. */
export class App {
  /** Shown instead of the calendar until it is loaded, or if there is none. */
  readonly text = signal<string | null>("Loading the calendar…");
  readonly message = signal<Message | null>(null);
  /** For screen readers. A new object is read out even if its sentence is the same. */
  readonly said = signal({ sentence: "" });
  readonly #state = signal<State | null>(null);
  readonly #host: Host;
  #options: CalendarOptions;
  /** Filters that the calendar was asked for with; they hold for other months too. */
  #filters: Json = {};
  #loads = 0;
  /** How many changes of posts were answered. */
  #changes = 0;
  /** The last view that the server answered; shown again if the next one fails. */
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

  /** The `data-key` of the element that gets the focus after the next drawing. Cleared by this call. */
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
    if (answer.note !== null && !abilities.callsTools) this.complain(answer.note);
    if (answer.note !== null) void this.show(state.view, state.day);
  }

  /** Shows an empty calendar and loads it. `day` null: today. */
  start(timezone: string, view: View, day: Day | null): Promise<void> {
    const { abilities, context } = this.#host;
    const calendar = { ...NOTHING_LOADED, timezone };
    const state = createState({ calendar, abilities, context, now: now(), options: this.#options });
    // Shows the period that was asked for even if no answer comes.
    const shown = { ...state, view, day: day ?? state.zone.read(state.now).day };
    this.#draw(shown);
    return this.show(view, shown.day);
  }

  /** Reloads the days shown. `isQuiet`: no one asked for it, and nothing is shown of it but what is new. */
  reload(isQuiet = false): Promise<void> {
    const state = this.state;
    // What is being read may have been read before what it is reloaded for.
    if (isQuiet && state?.isLoading === true) this.#changes += 1;
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

  complain(sentence: string): void {
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
    const loaded = await this.#load(days, load);
    if (load !== this.#loads || this.state === null) return;
    if (loaded.calendar === null && isQuiet) return;
    if (loaded.calendar === null) {
      this.complain(loaded.sentence);
      const back = this.#settled ?? before;
      return this.update({ view: back.view, day: back.day, hour: back.hour, isLoading: false, move: null });
    }
    if (loaded.note !== null) this.complain(loaded.note);
    this.#takeLoaded(loaded.calendar, isQuiet);
    if (again === null) this.say(`${countPosts(loaded.calendar.posts.length)} loaded.`);
  }

  /** A post that was changed while the server read the calendar may be missing from it: it is read again. */
  async #load(days: readonly Day[], load: number): ReturnType<typeof loadCalendar> {
    const changes = this.#changes;
    const loaded = await loadCalendar((args) => this.#host.call("show_calendar", args), this.#filters, days);
    return changes === this.#changes || load !== this.#loads ? loaded : this.#load(days, load);
  }

  /** Shows posts as they are known to be by now, where an older answer has them otherwise. */
  takePosts(known: ReadonlyMap<string, CalendarPost>): void {
    if (this.state === null) return;
    const { busy, calendar } = this.state;
    const posts = calendar.posts.map((post) => (busy.has(post.id) ? post : newestOf(post, known)));
    const isNews = posts.some((post, at) => post !== calendar.posts[at]);
    if (isNews) this.update({ calendar: { ...calendar, posts } });
  }

  #takeLoaded(calendar: Calendar, isQuiet = false): void {
    if (this.state === null) return;
    // Posts that are being saved are newer here than in the answer; the post being moved is found by its old day.
    const { busy, move } = this.state;
    const isKept = ({ id }: CalendarPost): boolean => id === move?.id || busy.has(id);
    const kept = this.state.calendar.posts.filter(isKept);
    const posts = [...calendar.posts.filter((post) => kept.every(({ id }) => id !== post.id)), ...kept];
    const state = { ...this.state, calendar: { ...calendar, posts } };
    this.update({
      calendar: state.calendar,
      hour: state.view === "week" && !isQuiet ? firstHour(state) : state.hour,
      isLoading: false,
    });
  }

  /** Shows the warnings of a change that was made. */
  showWarnings(warnings: unknown): void {
    if (!Array.isArray(warnings) || warnings.length === 0) return;
    const sentence = warnings.map(String).join(" ");
    if (this.#options.onHint !== undefined) return this.#options.onHint(sentence);
    this.message.value = { sentence, isHint: true };
  }

  /** Calls a tool about a post. */
  async call(tool: string, args: Json): Promise<ToolAnswer> {
    const answer = await this.#host.call(tool, args);
    this.#changes += 1;
    return answer;
  }

  openLink(url: string): void {
    this.#host
      .openLink(url)
      .catch(() => this.complain("The application around this page did not open the link."));
  }

  async toggleFullscreen(): Promise<void> {
    const layout = this.state?.layout;
    if (layout !== undefined) this.takeContext(await this.#host.toggleFullscreen(layout));
  }

  updateModel(change: string): void {
    this.#host.updateModel("In the calendar the person changed:", change);
  }
}
