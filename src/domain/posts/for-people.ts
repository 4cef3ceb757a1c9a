/*
 * What the server says to agents, for people: no field, id, tool or argument of a call. What is quoted, others wrote,
 * and stays as it is.
 */

/** A tool's name, for an expression. */
export const TOOL =
  "(?:cancel|change|check|connect|create|decide|delete|disconnect|edit|get|import|list|replay|resolve|retry|save|schedule|set|show|test|update|upload)_[a-z_]+";

/** Fields as calls name them, and as the page does. A platform's own fields are named by their keys' words. */
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
  thread: "a part",
  thumbnailUrl: "the cover picture",
  timezone: "the time zone",
  url: "the address",
};

/** A field at the beginning of a sentence, as in `metadata.tags[0]: …`. */
const LED_BY_FIELD = new RegExp(
  `(?<=^|[.!?] )((?:metadata|${Object.keys(FIELDS).join("|")}|[a-z]{2,20}[A-Z]\\w{0,30})(?:[.[][^\\s:]{0,100})?): `,
  "g",
);

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

/** What is said of one field. `path`: as calls name it; "": of none. */
export interface FieldSentence {
  readonly path: string;
  readonly text: string;
}

/** What the server says, by the fields that it names. `inWords` puts what it says of one into words. */
export function splitByField(
  said: string,
  { begin, inWords }: { begin(ours: string): string; inWords(path: string, said: string): string },
): readonly FieldSentence[] {
  const { bare, whole } = keepQuotes(said, begin);
  const starts = [...bare.matchAll(LED_BY_FIELD)];
  const parts = [
    { path: "", text: bare.slice(0, starts[0]?.index) },
    ...starts.map((start, at) => ({
      path: start[1] ?? "",
      text: bare.slice(start.index + start[0].length, starts[at + 1]?.index),
    })),
  ];
  return parts.flatMap(({ path, text }) =>
    text.trim() === "" ? [] : [{ path, text: upperFirst(whole(inWords(path, text.trim()))) }],
  );
}

const ID = "(?:acc|con|dft|file|key|post|ser|ses|whk|dlv|evt)_[\\w…]+";
const ABSENT = new RegExp(`\\bthere is no (\\w+) "?${ID}"?`, "gi");
/** With the brackets around it: "(post post_1)". */
const IN_BRACKETS = new RegExp(` ?\\((?:\\w+ )?${ID}\\)`, "g");
/** At the beginning of a sentence it is not told which one. */
const ONE_POST = new RegExp(`\\bThe post ${ID} with\\b`, "g");
const IDS = new RegExp(` \\(${ID}(?:, ${ID})*\\)| ?(?<![/.\\w])"?${ID}"?`, "g");

/** What others wrote and what a platform said stays as it is: only what stands around quotes is put into words. */
function keepQuotes(
  said: string,
  begin: (ours: string) => string,
): { readonly bare: string; whole(text: string): string } {
  const quotes: string[] = [];
  const keep = (quote: string): string => `«${quotes.push(quote) - 1}»`;
  const ours = said.replace(/(?<=says: )"[^"]*"/g, keep);
  const text = begin(ours.replace(/,? for example \{.*\}/g, ""))
    .replace(ABSENT, "there is no such $1")
    .replace(ONE_POST, "A post with")
    .replace(IN_BRACKETS, "")
    .replace(IDS, "");
  const bare = text.replace(/"[^"]*"|“[^”]*”|`[^`]*`/g, keep);
  return { bare, whole: (words) => words.replace(/«(\d+)»/g, (mark, at) => quotes[Number(at)] ?? mark) };
}

/** Names of fields and values within a sentence. */
export function withoutCodes(text: string): string {
  return text
    .replace(/(?<![\w/.@:-])metadata\.(\w+)/g, (_, key: string) => nameOfField(key))
    .replace(/(?<![\w/.@:-])[a-z]{2,20}(?:[A-Z][a-z]{1,20})+\b/g, nameOfField)
    .replace(/\b(?!POSTHORN|DATABASE)[A-Z]{2,20}(?:_[A-Z]{2,20})+\b/g, (value) => `“${wordsOfValue(value)}”`);
}

/** A day of the calendar: `2026-11-27` as "Fri 27 Nov 2026". What is none stays as it is. */
export function tellDay(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  const [weekday = "", number = "", month = "", year = ""] = date.toUTCString().split(" ");
  return `${weekday.replace(",", "")} ${Number(number)} ${month} ${year}`;
}

/** What of a refusal begins with a verb has the field as its subject. */
export function withSubject(path: string, text: string): string {
  const [, most] = /(?:^|\.)moreMedia$/.test(path)
    ? (/^must be at most (\d+) items long/.exec(text) ?? [])
    : [];
  if (most !== undefined) return `At most ${Number(most) + 1} pictures and videos fit into one post.`;
  const isBare = /^(?:is|are|has|have|must|may|can|cannot|takes|does|needs|names|holds)\b/.test(text);
  return path === "" || !isBare ? text : `${upperFirst(nameOfField(path))} ${text}`;
}

export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
