import { describe, expect, it } from "vitest";
import { occurrencesOf, readSeries } from "../../src/domain/drafts/repeat.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

const ZONES = Intl.supportedValuesOf("timeZone");
const CHOSEN = [
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "America/St_Johns",
  "Asia/Gaza",
  "Asia/Tehran",
  "America/Santiago",
  "Europe/Berlin",
  "Pacific/Chatham",
  "America/Nuuk",
  "UTC",
  ...ZONES.filter((_zone, at) => at % Math.floor(ZONES.length / 30) === 0).slice(0, 30),
];

/** What a clock in the zone shows, by the platform's own calendar. */
function clockOf(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "short",
    hourCycle: "h23",
  });
  return (ms) => format.format(ms);
}

const HOUR = 3_600_000;

/** Minute by minute near a clock change: the first minute that shows it, or the first after it was skipped. */
function naive(clock: (ms: number) => string, wanted: string): number {
  const read = (text: string): number => Date.parse(`${text.replace(" ", "T")}Z`);
  const guess = read(wanted) - (read(clock(read(wanted))) - read(wanted));
  const isCalm = read(clock(guess + 3 * HOUR)) - read(clock(guess - 3 * HOUR)) === 6 * HOUR;
  if (isCalm && clock(guess) === wanted) return guess;
  let at = guess - 6 * HOUR;
  while (clock(at) < wanted) at += 60_000;
  return at;
}

describe.each(CHOSEN)("five years in %s", (zone) => {
  it("come as a naive calendar says", () => {
    const clock = clockOf(zone);
    // When most clocks are changed.
    for (const time of ["02:30"]) {
      const series = readSeries(
        { every: 1, unit: "day", time, timezone: zone, from: "2026-01-01", until: "2030-12-31" },
        { now: NOW, timezone: "UTC" },
      );
      const days = [...occurrencesOf(series)];
      expect(days).toHaveLength(1_826);
      let before = -Infinity;
      for (const { at, number } of days) {
        const date = new Date(Date.UTC(2026, 0, 1 + number)).toISOString().slice(0, 10);
        if (at !== naive(clock, `${date} ${time}`))
          expect([date, time, new Date(at).toISOString()]).toEqual([
            date,
            time,
            new Date(naive(clock, `${date} ${time}`)).toISOString(),
          ]);
        expect(at > before).toBe(true);
        before = at;
      }
    }
  });
});
