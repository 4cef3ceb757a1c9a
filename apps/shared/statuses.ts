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

/** Whether it failed, and a person put it away: no other cancelled post keeps an error. */
export function isDismissed({ status, error }: Pick<Standing, "status" | "error">): boolean {
  return status === "cancelled" && error !== null;
}

/** Whether its time has passed and it still waits. */
export function isLate({ status, scheduledAt }: Omit<Standing, "error">, now: number): boolean {
  return status === "scheduled" && scheduledAt + LATE_MS < now;
}

/** What people call where a post stands. */
export function standingOf(post: Standing, now: number): { readonly label: string; readonly sign: string } {
  const { label, sign } = STATUSES[post.status];
  if (isDismissed(post)) return { label: "Dismissed", sign };
  return { label: isLate(post, now) ? "Late" : label, sign };
}
