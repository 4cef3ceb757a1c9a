import { sentencesBehind } from "./sentences.ts";
import { createZone, isZone } from "./zone.ts";

/** Each status has a shape beside its colour, for those who do not see the colour. */
export const STATUSES = {
  scheduled: { label: "Scheduled", sign: "○" },
  publishing: { label: "Publishing", sign: "↑" },
  uploaded: { label: "Uploaded", sign: "◐" },
  published: { label: "Published", sign: "✓" },
  failed: { label: "Failed", sign: "!" },
  cancelled: { label: "Cancelled", sign: "×" },
} as const;
export type Status = keyof typeof STATUSES;

export function isStatus(text: string): text is Status {
  return Object.hasOwn(STATUSES, text);
}

/** Later than this a post that still waits is late. */
const LATE_MS = 60_000;

interface Standing {
  readonly status: Status;
  readonly error: string | null;
  readonly scheduledAt: number;
}

/** Whether it failed and a person dismissed it: no other cancelled post keeps an error. */
export function isDismissed({ status, error }: Pick<Standing, "status" | "error">): boolean {
  return status === "cancelled" && error !== null;
}

/** Whether its time has passed and it still waits. */
export function isLate({ status, scheduledAt }: Omit<Standing, "error">, now: number): boolean {
  return status === "scheduled" && scheduledAt + LATE_MS < now;
}

/** The state of a post in a word, with its shape and colours. `isPaused`: its channel is. */
export function standingOf(
  post: Standing,
  now: number,
  isPaused = false,
): { readonly label: string; readonly sign: string; readonly look: Status | "paused" } {
  const { label, sign } = STATUSES[post.status];
  const look = post.status;
  if (isDismissed(post)) return { label: "Dismissed", sign, look };
  if (isPaused && look === "scheduled")
    return { label: isLate(post, now) ? "Late, paused" : "Paused", sign: "‖", look: "paused" };
  return { label: isLate(post, now) ? "Late" : label, sign, look };
}

/** As the server writes when it tries again. */
const NEXT_TRY =
  /\b(?:next try is|tried again) on [A-Z][a-z]{2,5}day (\d{1,2} [A-Z][a-z]{2,8} \d{4}), (\d{2}):(\d{2})(?::\d{2})? \(([^()]{1,60})\)/;

/** When a late post is tried next. Null: its reason does not say. */
export function nextTryOf(post: Pick<Standing, "error">): number | null {
  const said = sentencesBehind(post, "error").map(({ what }) => what);
  const [, date = "", hour = "", minute = "", zoneName = ""] = NEXT_TRY.exec(said.join(" ")) ?? [];
  const ms = Date.parse(`${date} UTC`);
  if (Number.isNaN(ms) || !isZone(zoneName)) return null;
  const day = new Date(ms).toISOString().slice(0, 10);
  return createZone(zoneName).toMs({ day, minutes: Number(hour) * 60 + Number(minute) });
}
