import { withValues as inWords } from "../../src/domain/posts/for-people.ts";
import { createZone, type Day, isZone } from "./zone.ts";

/** As the server writes moments: for people with the zone (and seconds, where it is soon), for agents with the offset. */
const MOMENT =
  /\b[A-Z]\w+day (\d{1,2} [A-Z][a-z]+ \d{4}, \d{2}:\d{2})(?::\d{2})? \(([\w/+-]+)\)|\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})/g;

/** As it writes the rule of a series. */
const RULE =
  /(?<=\b(?:at|because) )(\d{2}:\d{2})(?= \([\w/+-]+\), from | of [A-Z])|(?<=\b(?:from|until|\d{2}:\d{2} of) )[A-Z][a-z]{2} (\d{1,2} [A-Z][a-z]{2} \d{4})\b/g;

interface Writing {
  moment(ms: number): string;
  /** `17:30` */
  clock(time: string): string;
  day(day: Day): string;
}

let writing: Writing | null = null;

/** Sets how times in the server's sentences are written. Default: as the server wrote them. */
export function writeTimesBy(write: Writing | null): void {
  writing = write;
}

function inOurWords(rule: string, time: string | undefined, date: string): string {
  if (writing === null) return rule;
  if (time !== undefined) return writing.clock(time);
  const day = new Date(`${date} UTC`);
  return Number.isNaN(day.getTime()) ? rule : writing.day(day.toISOString().slice(0, 10));
}

function inOurTime(moment: string, wall = "", zoneName = ""): string {
  if (writing === null) return moment;
  if (wall === "") return writing.moment(Date.parse(moment));
  const written = new Date(`${wall} UTC`);
  if (Number.isNaN(written.getTime()) || !isZone(zoneName)) return moment;
  const day = written.toISOString().slice(0, 10);
  return writing.moment(
    createZone(zoneName).toMs({ day, minutes: written.getUTCHours() * 60 + written.getUTCMinutes() }),
  );
}

/** A sentence of the server with its values as people know them. */
export function withValues(sentence: string): string {
  return inWords(sentence, (ours) => ours.replace(MOMENT, inOurTime).replace(RULE, inOurWords));
}
