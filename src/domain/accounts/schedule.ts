import * as z from "zod";
import { Said } from "../sentences.ts";
import { ClockTime } from "../time-fields.ts";
import { optionalName, optionalText } from "../optional.ts";
import { DAY, isTimezone, MINUTE } from "../time.ts";
import { atWallTime } from "../wall-clock.ts";

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const MAX_GAP_MINUTES = 7 * 24 * 60;

const days = z.array(z.enum(WEEKDAYS));

/** When posts go out that ask for a slot: times of the clocks of a zone. */
export const Schedule = z.strictObject({
  timezone: z.string(),
  slots: z.array(z.strictObject({ days, times: z.array(z.string()) })),
  minGapMinutes: z.int().describe("Between a slot and any waiting post."),
  paused: z.boolean().describe("Nothing of the channel goes out."),
});
export type Schedule = z.infer<typeof Schedule>;

const SlotsInput = z.strictObject({
  days: days.min(1).max(7).describe("Of the week."),
  times: z.array(ClockTime).min(1).max(1_440).describe('Such as "09:30".'),
});

/** A schedule as a caller gives it. */
export const ScheduleInput = z.strictObject({
  timezone: z
    .string()
    .refine(isTimezone, "must be an IANA time zone, for example Europe/Berlin")
    .optional()
    .describe("Default: the server's."),
  slots: z.array(SlotsInput).max(100).describe("By the clock there."),
  minGapMinutes: z.int().min(0).max(MAX_GAP_MINUTES).optional().describe("Default: 0."),
  paused: z.boolean().optional().describe("As paused."),
});
export type ScheduleInput = z.infer<typeof ScheduleInput>;

/** What is added to links; null: that part is not. */
export const Utm = z.strictObject({
  source: z.string().nullable(),
  medium: z.string().nullable(),
  campaign: z.string().nullable(),
});
export type Utm = z.infer<typeof Utm>;

const utmText = optionalText(200).refine(
  (text) => !/\{(?!(?:provider|label)\})/.test(text ?? ""),
  "may hold only {provider} and {label} in braces",
);
export const UtmInput = z.strictObject({
  source: utmText.describe("utm_source"),
  medium: utmText.describe("utm_medium"),
  campaign: utmText.describe("utm_campaign"),
});
export type UtmInput = z.infer<typeof UtmInput>;

/** The body of `PATCH /accounts/{accountId}` and `update_account`. */
export const AccountChange = z.strictObject({
  accountId: z.string().describe("The channel."),
  name: optionalName(100).describe("Its name here."),
  schedule: ScheduleInput.nullable().optional().describe("Replaces its slots. Null: none."),
  paused: z.boolean().optional().describe("Nothing goes out until false."),
  utm: UtmInput.nullable()
    .optional()
    .describe("Added to links; may hold {provider}, {label}. Null: nothing."),
  move: z.boolean().optional().describe("Move posts in slots to the new ones."),
  dryRun: z.boolean().optional().describe("Only show what would be."),
  suggest: z.boolean().optional().describe("With dryRun: propose slots by its figures."),
});
export type AccountChange = z.infer<typeof AccountChange>;

/** Slots out of a channel's own figures: `schedule` can be given back as it is. */
export const SlotSuggestion = z.strictObject({
  schedule: z
    .strictObject({
      timezone: z.string().optional(),
      slots: z.array(z.strictObject({ days: z.array(z.enum(WEEKDAYS)), times: z.array(z.string()) })),
      minGapMinutes: z.int().optional(),
      paused: z.boolean().optional(),
    })
    .nullable(),
  evidence: z.array(
    z.strictObject({ day: z.enum(WEEKDAYS), time: z.string(), posts: z.int(), median: z.number() }),
  ),
  metric: z.string(),
  posts: z.int(),
  usual: z.number().nullable(),
  reason: Said.nullable(),
});
export type SlotSuggestion = Omit<z.infer<typeof SlotSuggestion>, "schedule"> & {
  readonly schedule: ScheduleInput | null;
};

/** What of a schedule tells its slots. */
export type SlotPlan = Pick<Schedule, "timezone" | "slots" | "minGapMinutes">;

/** As it is stored. */
export function readPlan(text: string): SlotPlan {
  return JSON.parse(text) as SlotPlan;
}

/** A plan reaches as far as 10,000 posts at one slot a day, and further. */
const FURTHEST_MS = 50 * 366 * DAY;

/** No clock was ever changed by more, and no zone is further from UTC. */
const MARGIN_MS = 2 * DAY;

/**
 * The slots from one moment to another, both included, in order. A time that a clock change skips is the first
 * minute after it, one that comes twice is the first, and two that fall on one moment are one.
 */
export function* slotsBetween(plan: SlotPlan, from: number, to: number): Generator<number> {
  if (plan.slots.length === 0) return;
  let last = from - 1;
  const first = Math.floor(from / DAY) * DAY - MARGIN_MS;
  for (let day = first; day <= to + MARGIN_MS; day += DAY) {
    for (const slot of slotsOfDay(plan, day)) {
      if (slot > to) return;
      if (slot <= last) continue;
      last = slot;
      yield slot;
    }
  }
}

/** Of these slots, the ones after a moment that keep the gap to every time in `taken`, which is in order. */
export function* freeSlotsBetween(
  plan: SlotPlan,
  { after, until = after + FURTHEST_MS, taken }: FreeWish,
): Generator<number> {
  const gapMs = Math.max(1, plan.minGapMinutes * MINUTE);
  let next = 0;
  for (const slot of slotsBetween(plan, after + 1, until)) {
    while ((taken[next] ?? Infinity) <= slot - gapMs) next += 1;
    if ((taken[next] ?? Infinity) >= slot + gapMs) yield slot;
  }
}

interface FreeWish {
  readonly after: number;
  /** Default: as far as plans go. */
  readonly until?: number;
  readonly taken: readonly number[];
}

/** Days that were worked out. Reading a zone's clock takes longer than all else of a search through years. */
const workedOut = new Map<string, readonly number[]>();
const MAX_WORKED_OUT = 50_000;

/** Slots of the calendar day that begins in UTC at `day`. */
function slotsOfDay({ timezone, slots }: SlotPlan, day: number): readonly number[] {
  const moment = new Date(day);
  const weekday = WEEKDAYS[(moment.getUTCDay() + 6) % 7];
  const times = slots.flatMap((slot) => (slot.days.some((one) => one === weekday) ? slot.times : []));
  if (times.length === 0) return [];
  const key = `${timezone} ${day} ${times.join()}`;
  const known = workedOut.get(key);
  if (known !== undefined) return known;
  const at = (time: string, of = day): number =>
    atWallTime({ date: new Date(of).toISOString().slice(0, 10), time }, timezone);
  const midnight = at("00:00");
  // On a day without a change of the clock a time is as far from midnight as it says.
  const isPlain = at("00:00", day + DAY) === midnight + DAY;
  const moments = times.map((time) => (isPlain ? midnight + Date.parse(`1970-01-01T${time}Z`) : at(time)));
  const found = moments.sort((a, b) => a - b);
  if (workedOut.size >= MAX_WORKED_OUT) workedOut.clear();
  workedOut.set(key, found);
  return found;
}
