import { createZone, isZone } from "./zone.ts";

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

/** What people call a field: `metadata.boardId` is "board". */
export function nameOfField(path: string): string {
  const inner = path.replace(/^(?:(?:targets|posts)\[\d+\]\.)?(?:metadata\.)?/, "");
  const [key = ""] = inner.split(/[.[]/);
  return FIELDS[key] ?? wordsOfKey(key);
}

export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** As the server writes moments: for people with the zone, for agents with the offset. */
const MOMENT =
  /\b[A-Z]\w+day (\d{1,2} [A-Z][a-z]+ \d{4}, \d{2}:\d{2}) \(([\w/+-]+)\)|\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})/g;

let writeMoment: ((ms: number) => string) | null = null;

/** The page writes its times in one way, also where the server says them. Until then they stay as they are. */
export function writeMomentsBy(write: (ms: number) => string): void {
  writeMoment = write;
}

function inOurTime(moment: string, wall = "", zoneName = ""): string {
  if (writeMoment === null) return moment;
  if (wall === "") return writeMoment(Date.parse(moment));
  const written = new Date(`${wall} UTC`);
  if (Number.isNaN(written.getTime()) || !isZone(zoneName)) return moment;
  const day = written.toISOString().slice(0, 10);
  return writeMoment(
    createZone(zoneName).toMs({ day, minutes: written.getUTCHours() * 60 + written.getUTCMinutes() }),
  );
}

/** What others wrote and what a platform said stays as it is, and so do addresses. */
const KEPT = /"[^"]*"|“[^”]*”|`[^`]*`|https?:\/\/\S+/g;

/** The values that a sentence of the server holds, as people know them: moments, fields, choices, yes and no. */
export function withValues(sentence: string): string {
  const kept = sentence.match(KEPT) ?? [];
  return sentence
    .split(KEPT)
    .map((ours, at) => inWords(ours) + (kept[at] ?? ""))
    .join("");
}

function inWords(ours: string): string {
  return ours
    .replace(MOMENT, inOurTime)
    .replace(/(?<=\w):? true\b/g, " on")
    .replace(/(?<=\w):? false\b/g, " off")
    .replace(/(?<![\w/.@:-])metadata\.(\w+)/g, (_, key: string) => nameOfField(key))
    .replace(/(?<![\w/.@:-])[a-z]{2,20}(?:[A-Z][a-z]{1,20})+\b/g, nameOfField)
    .replace(/\b(?!POSTHORN|DATABASE)[A-Z]{2,20}(?:_[A-Z]{2,20})+\b/g, (value) => `“${wordsOfValue(value)}”`);
}
