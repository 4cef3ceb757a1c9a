import type { Sentence } from "../sentences.ts";

/*
 * What a sentence of the server holds, as people know it: names of fields, values, times, and no ids. What can be done
 * is worded by each face (`apps/words.ts`).
 */

/** Fields as calls name them, and as people do. A platform's own fields are named by their keys' words. */
const FIELDS: Readonly<Record<string, string>> = {
  accountId: "the channel",
  altText: "the alt text",
  caption: "the text",
  clientId: "the app id",
  clientSecret: "the app secret",
  csv: "the table",
  deliveryId: "the event",
  fileId: "the file",
  format: "the format",
  id: "it",
  ids: "the posts",
  instanceUrl: "the server's address",
  leadMinutes: "the lead time",
  mediaUrl: "a picture or video",
  metadata: "another field",
  name: "the name",
  minGapMinutes: "the shortest gap",
  moreMedia: "another picture or video",
  provider: "the platform",
  repeat: "the repetition",
  revision: "the draft",
  schedule: "the slots",
  scheduledAt: "the time",
  slot: "the slot",
  targets: "the channels",
  thread: "a thread part",
  thumbnailUrl: "the cover picture",
  timezone: "the time zone",
  url: "the address",
};

/** Items of a list that people know by their place. */
const ITEMS: Readonly<Record<string, { readonly one: string; readonly all: string }>> = {
  texts: { one: "text", all: "the texts" },
  "poll.options": { one: "answer", all: "the answers of the poll" },
};

/** `playlistId` as "playlist". */
export function wordsOfKey(key: string): string {
  return key
    .replace(/(Id|Url|Ms)$/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
}

/** A value such as `PUBLIC_TO_EVERYONE` or `followersOnly` in words. */
export function wordsOfValue(value: string): string {
  return upperFirst(
    value
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .replace(/[_-]+/g, " ")
      .toLowerCase(),
  );
}

/** What people call a field: `metadata.boardId` is "board", `repeat.texts[1]` is "text 2". */
export function nameOfField(path: string): string {
  const [, list = "", at] = /(texts|poll\.options)(?:\[(\d+)\])?$/.exec(path) ?? [];
  const items = ITEMS[list];
  if (items !== undefined) return at === undefined ? items.all : `${items.one} ${Number(at) + 1}`;
  const inner = path.replace(/^(?:(?:targets|posts)\[\d+\]\.)?(?:metadata\.)?/, "");
  const [key = ""] = inner.split(/[.[]/);
  return FIELDS[key] ?? wordsOfKey(key);
}

export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A day of the calendar: `2026-11-27` as "Fri 27 Nov 2026". What is none stays as it is. */
export function formatDay(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  const [weekday = "", number = "", month = "", year = ""] = date.toUTCString().split(" ");
  return `${weekday.replace(",", "")} ${Number(number)} ${month} ${year}`;
}

/** What begins with a verb has the field as its subject. */
const BEGINS_WITH_VERB =
  /^(?:is|are|has|have|must|may|can|cannot|takes|does|needs|names|holds|differs|means|goes|belongs?)\b/;

/** Of a sentence that says something of a field without naming it: the field's name in front. Null: it stands for itself. */
export function subjectOf({ field, what }: Pick<Sentence, "field" | "what">): string | null {
  return field !== null && BEGINS_WITH_VERB.test(what) ? upperFirst(nameOfField(field)) : null;
}

/** What others wrote and what a platform said stays as it is, and so do addresses. */
const QUOTED = /"[^"]*"|“[^”]*”|`[^`]*`|https?:\/\/\S+/g;

const ID = "(?:acc|con|dft|file|key|post|ser|ses|whk|dlv|evt)_[\\w…]+";
const GIVEN_ID = new RegExp(`(?<!says: )"(${ID})"`, "g");
const ABSENT = new RegExp(`\\bthere is no (\\w+) ${ID}`, "gi");
const IDS = new RegExp(` \\((?:\\w+ )?${ID}(?:, ${ID})*\\)| ?(?<![/.\\w])${ID}`, "g");

/** A sentence with its values as people know them. `inTime` words the times of what is not quoted. */
export function withValues(sentence: string, inTime: (ours: string) => string): string {
  const text = sentence.replace(GIVEN_ID, "$1");
  const quoted = text.match(QUOTED) ?? [];
  return text
    .split(QUOTED)
    .map((ours, at) => valuesInWords(inTime(ours)) + (quoted[at] ?? ""))
    .join("");
}

const MIME_TYPE = /\b(?:image|video|audio)\/[a-z0-9][\w.+-]*\w/g;
/** Those that people call otherwise than their types. */
const FORMATS: Readonly<Record<string, string>> = {
  "video/quicktime": "MOV",
  "video/x-matroska": "MKV",
  "audio/mpeg": "MP3",
  "audio/mp4": "M4A",
  "image/svg+xml": "SVG",
  "image/webp": "WebP",
  "video/webm": "WebM",
};

/** What people call files of this type: `image/jpeg` is "JPEG". */
export function nameOfType(mimeType: string): string {
  return FORMATS[mimeType] ?? (mimeType.split("/")[1] ?? mimeType).toUpperCase();
}

function valuesInWords(ours: string): string {
  return ours
    .replace(ABSENT, (said, what: string) => `${said.slice(0, 5)} is no such ${what}`)
    .replace(IDS, "")
    .replace(/(?<=\w):? true\b/g, " on")
    .replace(/(?<=\w):? false\b/g, " off")
    .replace(/(?<![\w/.@:-])metadata\.(\w+)/g, (_, key: string) => nameOfField(key))
    .replace(/(?<![-\w/.@:])metadata\b(?![.\w])/g, "other fields")
    .replace(MIME_TYPE, nameOfType)
    .replace(/(?<=\b(?:no|any) )[a-z]{2,20}(?:[A-Z][a-z]{1,20})+\b/g, (key) =>
      nameOfField(key).replace(/^(?:an?|the|another) /, ""),
    )
    .replace(/(?<![\w/.@:-])[a-z]{2,20}(?:[A-Z][a-z]{1,20})+\b/g, nameOfField)
    .replace(/\b(?!POSTHORN|DATABASE)[A-Z]{2,20}(?:_[A-Z]{2,20})+\b/g, (value) => `“${wordsOfValue(value)}”`);
}
