import { isJson, textOf, type Json } from "./bridge.ts";

/** What the page shows of a post. */
export interface CalendarPost {
  readonly id: string;
  readonly provider: string;
  readonly scheduledAt: number;
  readonly status: Status;
  readonly title: string;
  readonly text: string;
  readonly mediaUrl: string;
  readonly platformUrl: string | null;
  readonly error: string | null;
}

export interface Calendar {
  readonly posts: readonly CalendarPost[];
  readonly from: number;
  readonly to: number;
  readonly timezone: string;
}

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

const NO_TEXT = "(no text)";

/** Null for anything that is not a calendar. */
export function readCalendar(value: Json | null): Calendar | null {
  if (value === null || !Array.isArray(value["posts"])) return null;
  const from = Date.parse(textOf(value["from"]));
  const to = Date.parse(textOf(value["to"]));
  const timezone = textOf(value["timezone"]);
  if (Number.isNaN(from) || Number.isNaN(to) || !isZone(timezone)) return null;
  return { posts: value["posts"].flatMap((post: unknown) => readPost(post) ?? []), from, to, timezone };
}

export function readPost(value: unknown): CalendarPost | null {
  if (!isJson(value)) return null;
  const status = textOf(value["status"]);
  const scheduledAt = Date.parse(textOf(value["scheduledAt"]));
  if (!isStatus(status) || Number.isNaN(scheduledAt)) return null;
  const caption = textOf(value["caption"]);
  const metadata = isJson(value["metadata"]) ? value["metadata"] : {};
  const title = textOf(metadata["title"]).trim();
  const { first, rest } = splitText(caption);
  return {
    id: textOf(value["id"]),
    provider: textOf(value["provider"]),
    scheduledAt,
    status,
    title: title || first || NO_TEXT,
    text: title === "" || title === caption.trim() ? rest : caption,
    mediaUrl: textOf(value["mediaUrl"]),
    platformUrl: webAddress(textOf(value["platformUrl"])),
    error: textOf(value["error"]) || null,
  };
}

export function canMove(post: CalendarPost): boolean {
  return post.status === "scheduled";
}

export function inOrder(posts: readonly CalendarPost[]): readonly CalendarPost[] {
  return posts.toSorted((a, b) => a.scheduledAt - b.scheduledAt || (a.id < b.id ? -1 : 1));
}

function isStatus(text: string): text is Status {
  return Object.hasOwn(STATUSES, text);
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return name !== "";
  } catch {
    return false;
  }
}

/** The first line with anything on it stands for a post without a title. */
function splitText(text: string): { first: string; rest: string } {
  const [first = "", ...rest] = text.trim().split("\n");
  return { first: first.trim(), rest: rest.join("\n").trim() };
}

function webAddress(text: string): string | null {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null;
}
