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
