import type { Json } from "../../../shared/json.ts";
import { fromWall } from "../../../shared/wall-time.ts";
import type { Zone } from "../../../shared/zone.ts";
import type { Form, Medium, TargetForm } from "./form.ts";
import { withWrittenPoll } from "./poll.ts";
import { repeatOf, repeatProblems } from "./repeat.ts";

/* What the server takes, made of a form. */

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

/** `theirs`, and of `mine` what others left as it was `before`. */
export function mergedForm(theirs: Form, mine: Form, before: Json, zone: Zone): Form {
  const after = draftOf(theirs, zone, []);
  const from = (...keys: readonly string[]): Form =>
    keys.every((key) => JSON.stringify(after[key]) === JSON.stringify(before[key])) ? mine : theirs;
  const { media, metadata, parts } = from("mediaUrl", "metadata");
  const { when, at, repeat } = from("scheduledAt", "slot", "repeat");
  return {
    title: from("title").title,
    caption: from("caption").caption,
    targets: from("targets").targets,
    labels: from("labels").labels,
    note: from("note").note,
    media,
    metadata,
    parts,
    when,
    at,
    repeat,
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

function orNull(text: string): string | null {
  return text === "" ? null : text;
}
