import { withValues as inWords } from "../../src/domain/posts/for-people.ts";
import { createZone, isZone } from "./zone.ts";

/** As the server writes moments: for people with the zone, for agents with the offset. */
const MOMENT =
  /\b[A-Z]\w+day (\d{1,2} [A-Z][a-z]+ \d{4}, \d{2}:\d{2}) \(([\w/+-]+)\)|\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})/g;

let writeMoment: ((ms: number) => string) | null = null;

/** Sets how times in the server's sentences are written. Default: as the server wrote them. */
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

/** A sentence of the server with its values as people know them. */
export function withValues(sentence: string): string {
  return inWords(sentence, (ours) => ours.replace(MOMENT, inOurTime));
}
