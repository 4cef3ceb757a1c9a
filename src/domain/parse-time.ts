import { DateTime } from "luxon";
import { AppError } from "./errors.ts";
import { quote } from "./text/plain-text.ts";
import { say } from "./sentences.ts";
import { EXAMPLE_DAY, EMPTY_TIME, EMPTY_DAY, formatTime, toZoned } from "./time.ts";

/** No plan reaches this far: a later moment is a mistake, such as milliseconds taken for seconds. */
const LATEST = Date.UTC(2200, 0, 1);

/** What follows date and time: an offset (Ruby puts a space before it), a zone (RFC 9557), and ignored tags. */
const OFFSET_AND_ZONE =
  / ?([zZ]|[+-]\d{2}(?::?\d{2})?)?(?:\[!?([^\]=]+)\])?(?:\[[a-z_][a-z\d_-]*=[^\]]+\])*$/;
/** ISO 8601-2 and Java's ZoneOffset go no further; Kiribati has the furthest there is, +14:00. */
const MAX_OFFSET_MINUTES = 18 * 60;
const PLAIN_DATE = /^\d{4}-\d{2}-\d{2}$/;
/** More than any moment has with its zone and tags; expressions below look at a text again and again. */
const MAX_CHARS = 200;
/** Both forms of ISO 8601, `2026-11-21T09:00` and `20261121T0900`, and an hour without its zero. */
const DATE_TIME = /^(\d{4})(-?)(\d{2})\2(\d{2})[Tt ](\d{2}(?=:?\d{2})|\d(?=:\d{2}))/;

interface ParsedTime {
  readonly ms: number;
  /** The clocks are changed at that time, so that it is unclear. */
  readonly warning: string | null;
  /** Names the zone that was taken where none was given: what programs are told, see `tellsZone`. */
  readonly zoneTaken: string | null;
}

/** What a text that is no ISO 8601 may mean to people, as it is to be sent. */
export interface Meant {
  /** Nearest first. */
  readonly times: readonly string[];
  /** It may mean others, too: only a person knows. */
  readonly isGuess: boolean;
}

type MeantBy = (text: string) => Meant | null;

/** The question which of these times is meant, for the end of a refusal. */
export function askWhich({ times, isGuess }: Meant): string {
  const which = `Did you mean ${times.join(", or ")}?`;
  if (times.length > 1) return `${which} Ask the person which.`;
  return `${which} ${isGuess ? "Ask the person." : "Send that."}`;
}

/**
 * Reads an ISO 8601 date-time; `timezone` holds where it names none. Warns where it is unclear. Throws `invalid`, with
 * the text as it was given. `isBound`: a date would do.
 */
export function parseMoment(
  field: string,
  text: string,
  timezone: string,
  meantBy?: MeantBy,
  isBound = false,
): ParsedTime {
  const trimmed = text.trim();
  if (trimmed === "") throw new AppError("invalid", `${field}: ${EMPTY_TIME}.`);
  const [head, year, , month, day, hour = ""] = DATE_TIME.exec(trimmed) ?? [];
  if (head === undefined || trimmed.length > MAX_CHARS) throw notAMoment(field, text, { meantBy, isBound });
  const rest = trimmed.slice(head.length);
  const [tail = "", offset, zone] = OFFSET_AND_ZONE.exec(rest) ?? [];
  if (offset !== undefined && !isOffset(offset)) {
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} has the offset ${quote(offset)}. Offsets go from -18:00 to +18:00, minutes to 59.`,
    );
  }
  const local = `${year}-${month}-${day}T${hour.padStart(2, "0")}${rest.slice(0, rest.length - tail.length)}`;
  const iso = `${local}${offset?.toUpperCase() ?? ""}`;
  const parsed = firstOf(DateTime.fromISO(iso, { zone: zone ?? timezone }), offset);
  if (!parsed.isValid) throw notAMoment(field, text, { meantBy, isBound });
  if (zone !== undefined && offset !== undefined) assertAgreed(field, text, { moment: parsed, iso });
  const ms = parsed.toMillis();
  if (ms < 0 || ms > LATEST) {
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} is out of range. Give a time between 1970 and 2200.`,
    );
  }
  if (offset !== undefined) return { ms, warning: null, zoneTaken: null };
  const warning = warnOfClockChange(field, parsed, iso);
  if (warning !== null || zone !== undefined) return { ms, warning, zoneTaken: null };
  return {
    ms,
    warning: null,
    zoneTaken: `${field.split(".").at(-1)} has no offset. It was read as ${timezone}.`,
  };
}

/** What is said of a time, to callers that are told the zone and to others. */
export function warningsOf(
  { tellsZone }: { readonly tellsZone: boolean },
  { warning, zoneTaken }: Pick<ParsedTime, "warning" | "zoneTaken">,
): string[] {
  return [warning, tellsZone ? zoneTaken : null].filter((one) => one !== null);
}

/** The first of a time that comes twice in autumn, as in RFC 5545 and Temporal. Luxon takes today's offset. */
function firstOf(moment: DateTime, offset: string | undefined): DateTime {
  if (offset !== undefined || !moment.isValid) return moment;
  const [first = moment] = possible(moment);
  return first;
}

function possible(moment: DateTime): DateTime[] {
  return moment.getPossibleOffsets().toSorted((one, other) => one.toMillis() - other.toMillis());
}

function warnOfClockChange(field: string, moment: DateTime, iso: string): string | null {
  const [first, second] = possible(moment).map((one) => toZoned(one.toMillis(), moment.zoneName ?? "UTC"));
  const clock = DateTime.fromISO(iso, { zone: "UTC" });
  const local = clock.toFormat("yyyy-MM-dd'T'HH:mm");
  const where = moment.zoneName ?? "UTC";
  if (!clock.hasSame(moment.setZone("UTC", { keepLocalTime: true }), "millisecond"))
    return `${field}: there is no ${local} in ${where}, because the clocks go forward then. ${first} was taken. Give another time if that was not meant.`;
  if (second === undefined) return null;
  return `${field}: ${local} comes twice in ${where}, because the clocks go back then. The first, ${first}, was taken. Give ${second} for the other one.`;
}

function notAMoment(
  field: string,
  text: string,
  { meantBy = () => null, isBound }: { readonly meantBy: MeantBy | undefined; readonly isBound: boolean },
): AppError {
  const day = text.trim();
  const beyond = beyondMonth(field, text);
  if (beyond !== null) return beyond;
  if (PLAIN_DATE.test(day))
    return new AppError("invalid", `${field}: ${quote(text)} has no time of day. Give it too: ${day}T09:00.`);
  const meant = text.length > MAX_CHARS ? null : meantBy(text);
  const what = `${quote(text)} is not a date${isBound ? "" : " and time"}.`;
  if (meant !== null) return new AppError("invalid", `${field}: ${what} ${askWhich(meant)}`);
  const [zone] = ZONE.exec(day) ?? [];
  if (zone !== undefined)
    return new AppError(
      "invalid",
      `${field}: ${what} The zone ${zone} is not read: give the time with its offset, such as +01:00, or in the owner's zone without one.`,
    );
  if (isBound) return new AppError("invalid", `${field}: ${what} Give one such as ${EXAMPLE_DAY}.`);
  if (NOW.test(day)) return new AppError("invalid", `${field}: ${what} ${GIVE_NOW}`);
  if (WORDS.test(day) && !DATE_TIME.test(day))
    return new AppError("invalid", `${field}: ${what} Ask the person which day and time are meant.`);
  return new AppError("invalid", say(what, { field, next: [{ do: "give_time", isFuture: false }] }));
}

/** What people write so leaves open which moment it is: an example would be taken for it. */
const WORDS = /[a-z]{3}/i;
const ZONE = /\b(?:UTC|GMT|BST|CEST|CET|EEST|EET|WEST|WET|IST|MSK|[PMCE][SD]T|[PMCE]T|JST|AE[SD]T)\b/;

export const NOW = /^(?:right )?now$|^(?:immediately|at once|asap)$/i;
const GIVE_NOW = "To publish a new post now, leave it out. Else give the time that it is.";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/** `29 Feb 2027`, `29th of February, 2027`, `Feb 29, 2027`. */
const NAMED_FIRST = /^(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?([a-z]{3})[a-z]{0,6}\.?,? (\d{4})(?!\d)/i;
const NAMED_LAST = /^([a-z]{3})[a-z]{0,6}\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?!\d)/i;
const DAY_FIRST = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/;
const YEAR_FIRST = /^(\d{4})-?(\d{2})-?(\d{2})(?!\d)/;

/** For a day such as 31 November, however it is written in digits. Null: it is none of those. */
function beyondMonth(field: string, text: string): AppError | null {
  const [, ...dayFirst] = DAY_FIRST.exec(text.trim()) ?? [];
  const [, ...yearFirst] = YEAR_FIRST.exec(text.trim()) ?? [];
  const named = namedDay(text.trim());
  const [year, month, day] = (named ?? (dayFirst.length > 0 ? dayFirst.toReversed() : yearFirst)).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  const lastDay = DateTime.utc(year, month).daysInMonth ?? 0;
  if (day <= lastDay || lastDay === 0) return null;
  return new AppError(
    "invalid",
    `${field}: ${quote(text)} is not a date: that month has ${lastDay} days. Give another day.`,
  );
}

/** Its year, month and day, as texts. Null: it names no month. */
function namedDay(text: string): string[] | null {
  const [, first, month = "", year = ""] = NAMED_FIRST.exec(text) ?? [];
  const [, name = "", last = "", of = ""] = first === undefined ? (NAMED_LAST.exec(text) ?? []) : [];
  const number = MONTHS.indexOf((month || name).toLowerCase()) + 1;
  return number === 0 ? null : [year || of, String(number), first ?? last];
}

function isOffset(offset: string): boolean {
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(":", ""));
  return minutes < 60 && hours * 60 + minutes <= MAX_OFFSET_MINUTES;
}

/** Z says nothing of local time (RFC 9557, section 2). Other offsets must be the zone's at that moment. */
function assertAgreed(field: string, text: string, { moment, iso }: { moment: DateTime; iso: string }): void {
  if (iso.endsWith("Z") || moment.offset === DateTime.fromISO(iso, { setZone: true }).offset) return;
  const right = moment.toFormat("ZZ");
  throw new AppError(
    "invalid",
    `${field}: ${quote(text)} contradicts itself: ${moment.zoneName} is at ${right} then. Leave out one of the two.`,
  );
}

/** Reads `from` or `to`: a date-time, or a date (start of that day; its last millisecond where `isEnd`). */
export function parseBound(
  field: string,
  text: string,
  timezone: string,
  isEnd: boolean,
  meantBy?: MeantBy,
): number {
  if (text.trim() === "") throw new AppError("invalid", `${field}: ${EMPTY_DAY}.`);
  if (!PLAIN_DATE.test(text.trim())) return parseMoment(field, text, timezone, meantBy, true).ms;
  const day = DateTime.fromISO(text.trim(), { zone: timezone });
  if (!day.isValid)
    throw (
      beyondMonth(field, text) ??
      new AppError(
        "invalid",
        `${field}: ${quote(text)} is not a day of the calendar. Give a date such as ${EXAMPLE_DAY}.`,
      )
    );
  const ms = (isEnd ? day.endOf("day") : day.startOf("day")).toMillis();
  if (ms < 0 || ms > LATEST) {
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} is out of range. Give a date between 1970 and 2200.`,
    );
  }
  return ms;
}

/** Plans seldom reach further: a year may be a slip. */
const FAR_YEARS = 2;

/** What is said of a time that lies so far ahead that it may not be meant. */
export function warnOfFar(
  field: string,
  ms: number,
  { now, timezone }: { readonly now: number; readonly timezone: string },
): string[] {
  if (ms <= DateTime.fromMillis(now, { zone: timezone }).plus({ years: FAR_YEARS }).toMillis()) return [];
  return [
    `${field}: is more than two years ahead, on ${formatTime(ms, timezone)}. Give another time if that was not meant.`,
  ];
}
