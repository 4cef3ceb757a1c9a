import { forPeople as besideAnAgent } from "../../shared/for-people.ts";
import { createZone, isZone } from "../../shared/zone.ts";
import { type FieldSentence, splitByField, withoutCodes, withSubject } from "../../../src/domain/posts/for-people.ts";

/** What the server says, by the fields that it names, in words of the page. */
export function readByField(said: string): readonly FieldSentence[] {
  return splitByField(said, { begin: besideAnAgent, inWords });
}

/** A refusal is written for agents and may name tools and fields. A person reads it here, beside buttons. */
export function forPeople(said: string): string {
  return readByField(said)
    .map(({ text }) => text)
    .join(" ");
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
  return withoutCodes((told === "" ? NO_REASON : told).replace(MOMENT, inOurTime));
}
