import { DateTime } from "luxon";
import type { Deed, Series, Version, Wish } from "./history.ts";
import { momentIn, type People } from "./people.ts";

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"] as const;
const DAY = 86_400_000;
/** More than any history has. */
const OCCURRENCES = 30;

/** What comes each day. A person approves it, and may stop it. */
export async function series(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const zone = world.pick(ZONES);
  const first = momentIn(people, world.between(60_000, 6 * 60_000));
  const time = DateTime.fromMillis(first, { zone }).toFormat("HH:mm");
  const texts = Array.from({ length: OCCURRENCES }, (_, at) => `${name} v${at + 1}`);
  const repeat = { unit: "day", time, timezone: zone, texts };
  const asked = people.ask("save_draft", { targets: [{ accountId: channel.id }], repeat, submit: true });
  if (asked === null) return;
  const { provider, id: channelId } = channel;
  const one: Series = {
    ...{ name, channel: provider, channelId, time, zone, texts, saved: asked.deed },
    ...{ approvals: [], stops: [], isForgotten: false },
  };
  people.series.push(one);
  const { answer } = await asked.over;
  const { id, revision } = (answer["draft"] ?? {}) as { id?: string; revision?: number };
  if (id === undefined) return;
  const decide = async (decision: "approve" | "stop", deeds: Deed[]): Promise<void> => {
    for (let tries = 0; tries < 4; tries += 1) {
      await world.sleep(world.between(100, 60_000));
      const of = decision === "approve" ? { revision } : {};
      const deed = people.ask("decide_draft", { id, decision, ...of });
      if (deed === null) continue;
      deeds.push(deed.deed);
      if ((await deed.over).outcome === "done") return;
    }
  };
  await decide("approve", one.approvals);
  if (world.chance(0.3)) await decide("stop", one.stops);
}

/** Each time of it, as a wish of its own. */
export function wishesOf(series: Series, clockAt: number): Wish[] {
  const { name, channel, channelId, isForgotten, approvals, stops, texts, saved } = series;
  const approved = approvals.find(({ outcome }) => outcome === "done");
  const isDone = approved !== undefined;
  const decision = (approved?.answer["draft"] as { decision?: { at: string } } | undefined)?.decision;
  const begun =
    decision === undefined ? (approvals[0]?.clockAt ?? clockAt) - JUMP_MS : Date.parse(decision.at);
  const times = timesAfter(series, begun);
  const stopped = stops.find(({ outcome }) => outcome === "done");
  return texts.map((text, at) => {
    const scheduledAt = times[at] ?? Infinity;
    const version: Version = { text, scheduledAt, deed: saved, revision: null };
    const isMade = isDone && stops.length === 0 && scheduledAt < clockAt + MADE_AHEAD_MS;
    const isStopped = stopped !== undefined && scheduledAt > stopped.clockAt + STOPPED_WITHIN_MS;
    return {
      ...{ name: `${name} #${at + 1}`, channel, channelId, id: null, versions: [version], repeats: [] },
      cancels: isStopped ? [stopped] : [],
      // What need not be there counts as not approved where it is not.
      approvals: isMade ? approvals : approvals.map((deed): Deed => ({ ...deed, outcome: "unknown" })),
      ...{ slotAt: null, isForgotten },
    };
  });
}
const MADE_AHEAD_MS = 13 * DAY;
const JUMP_MS = 150_000;
/** An answer and a jump of the clock take so long at most. */
const STOPPED_WITHIN_MS = 90_000 + JUMP_MS;

/** The time of the day on each day, the first of two in autumn. Where spring has none, about then. */
function timesAfter({ time, zone }: Series, begun: number): number[] {
  const today = DateTime.fromMillis(begun, { zone }).startOf("day");
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  const all = Array.from({ length: OCCURRENCES + 1 }, (_, days) => {
    const at = today.plus({ days }).set({ hour, minute });
    const first = [60, 30, 0].map((minutes) => at.minus({ minutes })).find((one) => isAt(one, time));
    return (first ?? at.startOf("hour")).toMillis();
  });
  return all.filter((at) => at > begun);
}

const isAt = (at: DateTime, time: string): boolean => at.toFormat("HH:mm") === time;

export function isExact(at: number, { time, zone }: Series): boolean {
  return isAt(DateTime.fromMillis(at, { zone }), time);
}
