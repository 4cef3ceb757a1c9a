import { forPeople as besideAnAgent } from "../../shared/for-people.ts";
import { createZone, isZone } from "../../shared/zone.ts";

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

/** What a field is called on the page: `metadata.boardId` is "board". */
function nameOfField(path: string): string {
  const inner = path.replace(/^(?:(?:targets|posts)\[\d+\]\.)?(?:metadata\.)?/, "");
  const [key = ""] = inner.split(/[.[]/);
  return FIELDS[key] ?? wordsOfKey(key);
}

/** What is said of one field. `path`: as calls name it; "": of none. */
interface FieldSentence {
  readonly path: string;
  readonly text: string;
}

/** What the server says, by the fields that it names, in words of the page. */
export function readByField(said: string): readonly FieldSentence[] {
  const { bare, whole } = keepQuotes(said);
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

/** A refusal is written for agents and may name tools and fields. A person reads it here, beside buttons. */
export function forPeople(said: string): string {
  return readByField(said)
    .map(({ text }) => text)
    .join(" ");
}

const ID = "(?:acc|con|dft|file|key|post|ser|ses|whk|dlv|evt)_[\\w…]+";
const ABSENT = new RegExp(`\\bthere is no (\\w+) "?${ID}"?`, "gi");
const IDS = new RegExp(` ?(?<![/.\\w])"?${ID}"?`, "g");

/** What others wrote and what a platform said stays as it is: only what stands around quotes is put into words. */
function keepQuotes(said: string): { readonly bare: string; whole(text: string): string } {
  const quotes: string[] = [];
  const keep = (quote: string): string => `«${quotes.push(quote) - 1}»`;
  const ours = said.replace(/(?<=says: )"[^"]*"/g, keep);
  const text = besideAnAgent(ours.replace(/,? for example \{.*\}/g, ""))
    .replace(ABSENT, "there is no such $1")
    .replace(IDS, "");
  const bare = text.replace(/"[^"]*"|“[^”]*”|`[^`]*`/g, keep);
  return { bare, whole: (words) => words.replace(/«(\d+)»/g, (mark, at) => quotes[Number(at)] ?? mark) };
}

/** What a refusal says of a value, and what a person can do here by themselves. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bis required\. Give [^.]*\.$/, "is missing. Fill it in."],
  [/\bmust be (?:a list|an object(?: with [^.]*)?|a string|of type \w+)\./, "is not filled in as it should be."],
  [/\bmust be true or false\./, "is either yes or no."],
  [/\bmust be (at most|at least) (\d+) items long/, "takes $1 $2"],
  [/\bAsk your agent to reconnect it\b/g, "Reconnect it under Channels"],
  [/\b[Tt]ell your agent\b/g, "say here whether it is there"],
  [/\b(Give a time in the future)\./g, "$1, or choose Now."],
  [/\bGive an https address, or a file from your agent/g, "Add one"],
  [/\bor use (?:metadata\.)?thread(?=\.)/g, "or move it to a thread part"],
  [/\bgo on in (?:metadata\.)?thread(?=\.)/g, "go on in a thread part"],
  [/,? ?\(?(?:from )?your agent\)?(?=[,.])/g, ""],
  [/,? ask again with \w+ true(?=\.)/g, ", confirm it"],
  [/\bgraphemes\b|\bweighted(?: characters)?\b/g, "characters"],
  [/:? true\b/g, " on"],
  [/:? false\b/g, " off"],
  [/\bfilm(s?)\b/g, "video$1"],
  [/\bFilm(s?)\b/g, "Video$1"],
  [/\b(and|or) sounds\b/g, "$1 audio files"],
  [/\bor (?:a )?sound\b/g, "or audio"],
];

/** What only an agent can follow: a tool, an argument, JSON. */
const FOR_AGENTS = /\byour agent\b|\bdryRun\b|\bISO 8601\b|\bJSON\b|\barguments?\b|\{(?!(?:provider|label)\})|^The fields? |^Take (?:\w+ )?ids\b/;

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

const NO_REASON = "That was not taken. Check what is filled in, then try again.";

function inWords(path: string, said: string): string {
  const told = WORDS.reduce(
    (text, [pattern, words]) => text.replace(pattern, words),
    withSubject(path, said),
  )
    .split(/(?<=[.!?]) /)
    .filter((sentence) => !FOR_AGENTS.test(sentence))
    .join(" ");
  return (told === "" ? NO_REASON : told)
    .replace(MOMENT, inOurTime)
    .replace(/(?<![\w/.@:-])metadata\.(\w+)/g, (_, key: string) => nameOfField(key))
    .replace(/(?<![\w/.@:-])[a-z]{2,20}(?:[A-Z][a-z]{1,20})+\b/g, nameOfField)
    .replace(/\b(?!POSTHORN|DATABASE)[A-Z]{2,20}(?:_[A-Z]{2,20})+\b/g, (value) => `“${wordsOfValue(value)}”`);
}

/** What of a refusal begins with a verb has the field as its subject. */
function withSubject(path: string, text: string): string {
  const [, most] = /(?:^|\.)moreMedia$/.test(path) ? (/^must be at most (\d+) items long/.exec(text) ?? []) : [];
  if (most !== undefined) return `At most ${Number(most) + 1} pictures and videos fit into one post.`;
  const isBare = /^(?:is|are|has|have|must|may|can|cannot|takes|does|needs|names|holds)\b/.test(text);
  return path === "" || !isBare ? text : `${upperFirst(nameOfField(path))} ${text}`;
}

export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
