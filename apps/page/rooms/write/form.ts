import type { Draft, Target } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { isJson, type Json, textOf } from "../../../shared/json.ts";
import type { Zone } from "../../../shared/zone.ts";
import { withWrittenPoll } from "./poll.ts";
import {
  fromDay,
  newRepeat,
  readRepeat,
  repeatOf,
  type RepeatForm,
  repeatProblems,
  turnsProblem,
} from "./repeat.ts";
import { fromWall, toWall } from "./wall.ts";

/** A picture, film, sound or document. `url` is empty until its bytes are stored. */
export interface Medium {
  readonly key: string;
  readonly url: string;
  readonly altText: string;
}

/** A post that follows. */
export interface Part {
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

export type When = "at" | "slot" | "repeat" | "now";

/** What is being written, as the fields on the page have it. */
export interface Form {
  readonly title: string;
  readonly caption: string;
  readonly media: readonly Medium[];
  /** Without what media, parts and texts of their own are for. */
  readonly metadata: Json;
  readonly parts: readonly Part[];
  readonly targets: readonly TargetForm[];
  readonly when: When;
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

/** The form of a draft. */
export function formOf(draft: Draft, now: number, zone: Zone): Form {
  const { scheduledAt } = draft;
  const fresh = emptyForm(now, zone);
  const empty = scheduledAt === null ? fresh : atTime(fresh, toWall(Date.parse(scheduledAt), zone));
  const metadata = draft.metadata ?? {};
  return {
    title: draft.title ?? "",
    caption: draft.caption ?? "",
    media: mediaOf(draft.mediaUrl, metadata),
    metadata: withoutMedia(metadata, "thread"),
    parts: partsOf(metadata),
    targets: draft.targets.map((target) => targetFormOf(target, zone)),
    when:
      draft.repeat !== null
        ? "repeat"
        : draft.slot !== null
          ? "slot"
          : draft.scheduledAt === null
            ? "now"
            : "at",
    at: empty.at,
    repeat: draft.repeat === null ? empty.repeat : readRepeat(draft.repeat),
    labels: draft.labels,
    note: draft.note ?? "",
  };
}

type PostContent = Pick<Post, "accountId" | "caption" | "mediaUrl" | "scheduledAt"> & {
  readonly metadata: Json | null;
};

/** The form of a post, on its one channel. */
export function formOfPost(post: PostContent, now: number, zone: Zone): Form {
  const empty = emptyForm(now, zone);
  const metadata = post.metadata ?? {};
  const at = Date.parse(post.scheduledAt);
  return {
    ...empty,
    caption: post.caption ?? "",
    media: mediaOf(post.mediaUrl, metadata),
    metadata: withoutMedia(metadata, "thread"),
    parts: partsOf(metadata),
    targets: [newTarget(post.accountId)],
    when: at > now ? "at" : "now",
    at: at > now ? toWall(at, zone) : empty.at,
  };
}

/** The form of another post like it: at its time, where that is ahead. */
export function copyOf(post: PostContent, labels: readonly string[], now: number, zone: Zone): Form {
  const form = formOfPost(post, now, zone);
  return { ...atTime({ ...form, at: emptyForm(now, zone).at }, form.at), when: "at", labels };
}

function targetFormOf(
  { accountId, caption, mediaUrl, metadata, scheduledAt }: Target,
  zone: Zone,
): TargetForm {
  const own = metadata ?? {};
  return {
    accountId,
    caption,
    media: mediaUrl === null ? null : mediaOf(mediaUrl, own),
    metadata: mediaUrl === null ? own : withoutMedia(own),
    at: scheduledAt === null ? null : toWall(Date.parse(scheduledAt), zone),
  };
}

function mediaOf(mediaUrl: string, metadata: Json): Medium[] {
  const more = Array.isArray(metadata["moreMedia"]) ? metadata["moreMedia"].filter(isJson) : [];
  const all = [{ url: mediaUrl, altText: metadata["altText"] }, ...more];
  return all.flatMap((one) => {
    const url = textOf(one["url"]);
    return url === "" ? [] : [{ key: newKey(), url, altText: textOf(one["altText"]) }];
  });
}

function partsOf({ thread }: Json): Part[] {
  const parts = Array.isArray(thread) ? thread.filter(isJson) : [];
  return parts.map((part) => {
    const url = textOf(part["mediaUrl"]);
    const medium = url === "" ? null : { key: newKey(), url, altText: textOf(part["altText"]) };
    return { key: newKey(), caption: textOf(part["caption"]), medium };
  });
}

function withoutMedia(metadata: Json, ...more: readonly string[]): Json {
  const taken = ["altText", "moreMedia", ...more];
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !taken.includes(key)));
}

/** What a save sends of the form. `known`: keys that the server has, which are taken away where the form has none. */
export function draftOf(form: Form, zone: Zone, known: readonly string[]): Json {
  return {
    title: orNull(form.title.trim()),
    caption: orNull(form.caption),
    mediaUrl: storedOf(form.media)[0]?.url ?? "",
    metadata: metadataOf(form, known),
    targets: form.targets.map((target) => targetOf(target, form, zone)),
    ...timeOf(form, zone),
    labels: form.labels,
    note: orNull(form.note.trim()),
  };
}

/** All metadata of a form; null for a key that is to go. Null: none at all. */
export function metadataOf(form: Form, known: readonly string[]): Json | null {
  const parts = form.parts.flatMap(({ caption, medium }) => {
    if (caption.trim() === "") return [];
    if (medium === null || medium.url === "") return [{ caption }];
    return [{ caption, mediaUrl: medium.url, ...altOf(medium) }];
  });
  const metadata = {
    ...withWrittenPoll(form.metadata),
    ...mediaFields(form.media),
    ...(parts.length > 0 && { thread: parts }),
  };
  if (Object.keys(metadata).length === 0) return null;
  const gone = known.filter((key) => !Object.hasOwn(metadata, key));
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...metadata };
}

function mediaFields(media: readonly Medium[]): Json {
  const [first, ...more] = storedOf(media);
  return {
    ...(first !== undefined && altOf(first)),
    ...(more.length > 0 && { moreMedia: more.map((one) => ({ url: one.url, ...altOf(one) })) }),
  };
}

function altOf({ altText }: Medium): Json {
  return altText.trim() === "" ? {} : { altText: altText.trim() };
}

function storedOf(media: readonly Medium[]): readonly Medium[] {
  return media.filter(({ url }) => url !== "");
}

function targetOf(target: TargetForm, form: Form, zone: Zone): Json {
  const { media } = target;
  const shared = mediaFields(form.media);
  // Other media do not take the texts and companions of the shared ones.
  const own =
    media === null
      ? {}
      : { ...Object.fromEntries(Object.keys(shared).map((key) => [key, null])), ...mediaFields(media) };
  const metadata = { ...withWrittenPoll(target.metadata), ...own };
  const at = form.when === "repeat" || target.at === null ? null : fromWall(target.at, zone);
  return {
    accountId: target.accountId,
    caption: target.caption,
    mediaUrl: media === null ? null : (storedOf(media)[0]?.url ?? ""),
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
    scheduledAt: at === null ? null : new Date(at).toISOString(),
  };
}

/** One of three, and null for the others. A time that is not whole yet changes nothing. */
function timeOf({ when, at, repeat }: Form, zone: Zone): Json {
  const none = { scheduledAt: null, slot: null, repeat: null };
  if (when === "slot") return { ...none, slot: "next" };
  if (when === "now") return none;
  if (when === "repeat")
    return repeatProblems(repeat).length > 0 ? {} : { ...none, repeat: repeatOf(repeat) };
  const ms = fromWall(at, zone);
  return ms === null ? {} : { ...none, scheduledAt: new Date(ms).toISOString() };
}

/** The content of a post as the form has it. A time that is not whole yet is left out. */
export function postChangeOf(form: Form, zone: Zone): Json {
  const ms = form.when === "at" ? fromWall(form.at, zone) : null;
  return {
    caption: form.caption,
    mediaUrl: storedOf(form.media)[0]?.url ?? "",
    metadata: metadataOf(form, []),
    ...(ms !== null && { scheduledAt: new Date(ms).toISOString() }),
  };
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
  if (form.when !== "at") return null;
  const ms = fromWall(form.at, zone);
  if (ms === null) return "Choose a day and a time.";
  return ms < now ? "That time has passed. Choose a later one." : null;
}

function orNull(text: string): string | null {
  return text === "" ? null : text;
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
