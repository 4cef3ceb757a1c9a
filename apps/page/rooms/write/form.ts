import type { Json } from "../../../shared/json.ts";
import { fromWall, toWall, wallProblem } from "../../../shared/wall-time.ts";
import type { Zone } from "../../../shared/zone.ts";
import { withWrittenPoll } from "./poll.ts";
import { fromDay, newRepeat, type RepeatForm, repeatProblems, turnsProblem } from "./repeat.ts";

/** A picture, video, sound or document. `url` is empty until its bytes are stored. */
export interface Medium {
  readonly key: string;
  readonly url: string;
  readonly altText: string;
}

/** A post that follows. */
export interface ThreadPart {
  readonly key: string;
  readonly caption: string;
  readonly medium: Medium | null;
}

/** A channel, with what is different there. Null: as everywhere. */
export interface TargetForm {
  readonly accountId: string;
  readonly caption: string | null;
  readonly media: readonly Medium[] | null;
  readonly metadata: Json;
  /** As the input has it: `2026-11-27T09:00`. */
  readonly at: string | null;
}

/** What can be different on one channel. Null: as everywhere. */
export type OwnContent = Pick<TargetForm, "caption" | "media" | "at">;

export type TimeChoice = "at" | "slot" | "repeat" | "now";

/** What is being written, as the fields on the page have it. */
export interface Form {
  readonly title: string;
  readonly caption: string;
  readonly media: readonly Medium[];
  /** Without what media, parts and texts of their own are for. */
  readonly metadata: Json;
  readonly parts: readonly ThreadPart[];
  readonly targets: readonly TargetForm[];
  readonly when: TimeChoice;
  readonly at: string;
  readonly repeat: RepeatForm;
  readonly labels: readonly string[];
  readonly note: string;
}

let lastKey = 0;

/** Tells items of a list apart while they are moved. */
export function newKey(): string {
  lastKey += 1;
  return `item-${lastKey}`;
}

export function emptyForm(now: number, zone: Zone): Form {
  const at = toWall(now + 24 * 3_600_000, zone).slice(0, 11) + "09:00";
  return {
    title: "",
    caption: "",
    media: [],
    metadata: {},
    parts: [],
    targets: [],
    when: "at",
    at,
    repeat: newRepeat(at, zone.name),
    labels: [],
    note: "",
  };
}

/** At another time. A series that was not set otherwise begins then, too. */
export function atTime(form: Form, at: string): Form {
  const { repeat } = form;
  const [day, time] = [form.at.slice(0, 10), form.at.slice(11, 16)];
  const isSame = repeat.from === day && repeat.time === time;
  return {
    ...form,
    at,
    repeat: isSame ? { ...fromDay(repeat, at.slice(0, 10)), time: at.slice(11, 16) } : repeat,
  };
}

export function newTarget(accountId: string): TargetForm {
  return { accountId, caption: null, media: null, metadata: {}, at: null };
}

/** Whether there is anything worth keeping. A channel alone is not. */
export function isAnything(form: Form): boolean {
  return (
    [form.title, form.caption, form.note].some((text) => text.trim() !== "") ||
    form.media.some(({ url }) => url !== "") ||
    form.parts.some(({ caption }) => caption !== "") ||
    Object.keys(withWrittenPoll(form.metadata)).length > 0 ||
    form.targets.some(
      ({ caption, media, metadata }) =>
        (caption ?? "") !== "" || (media ?? []).length > 0 || Object.keys(metadata).length > 0,
    )
  );
}

/** The channels that take a slot and have none. */
export function slotless(form: Form, hasSlots: (accountId: string) => boolean): readonly string[] {
  if (form.when !== "slot") return [];
  return form.targets.flatMap(({ accountId, at }) =>
    at === null && !hasSlots(accountId) ? [accountId] : [],
  );
}

/** Why the form cannot be scheduled yet, where no server need be asked. */
export function timeProblem(form: Form, zone: Zone, now: number): string | null {
  if (form.when === "repeat") return repeatProblems(form.repeat)[0]?.text ?? turnsProblem(form.repeat);
  const unplanned = form.targets.flatMap(({ at }) => (at === null ? [] : (wallProblem(at) ?? [])));
  const problem = form.when === "at" ? wallProblem(form.at) : null;
  if (form.when !== "at" || problem !== null) return problem ?? unplanned[0] ?? null;
  const ms = fromWall(form.at, zone) ?? now;
  return ms < now ? "That time has passed. Choose a later one." : (unplanned[0] ?? null);
}

/** The list with one item moved by a number of places. */
export function moved<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const item = items[from];
  if (item === undefined || to < 0 || to >= items.length) return items;
  const rest = items.filter((_, at) => at !== from);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}

/** With one key set, or taken away where there is nothing in it. */
export function withField(metadata: Json, key: string, value: unknown): Json {
  const { [key]: _before, ...rest } = metadata;
  const isNothing = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  return isNothing ? rest : { ...rest, [key]: value };
}
