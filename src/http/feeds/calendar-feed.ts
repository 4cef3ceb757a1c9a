import { besidePlatform } from "../../domain/accounts/channel-names.ts";
import { type RequestHandler, Router } from "express";
import { AppError } from "../../domain/errors.ts";
import {
  type CalendarFeed,
  type PlannedPost,
  readCalendarFeed,
} from "../../reporting/feeds/calendar-link.ts";
import { type AppContext, guestCall } from "../../context.ts";
import { methodNotAllowed } from "../errors.ts";
import { limitVisitors } from "../access/auth.ts";
import { readQuery } from "../query.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";

/** `/calendar/<token>.ics`: the plan for calendar applications, whose only key is the address. */
export function createCalendarRouter(ctx: AppContext): Router {
  const router = Router({ caseSensitive: true });
  router
    .route("/calendar/:file")
    .get(limitVisitors(ctx), showCalendar(ctx))
    .all(methodNotAllowed(["get"]));
  return router;
}

function showCalendar(ctx: AppContext): RequestHandler<{ file: string }> {
  return async (request, response) => {
    readQuery(request, {});
    const [, token] = /^([\w-]{1,128})\.ics$/.exec(request.params.file) ?? [];
    if (token === undefined)
      throw new AppError("not_found", "There is no calendar at this address, or not any more.");
    const feed = await readCalendarFeed(guestCall(ctx), token);
    response.set({
      "Content-Type": "text/calendar; charset=utf-8",
      "Content-Disposition": 'inline; filename="posthorn.ics"',
      "Cache-Control": "private, no-cache",
      "Last-Modified": new Date(feed.changedAt).toUTCString(),
      "X-Robots-Tag": "noindex",
    });
    response.send(toICalendar(feed));
  };
}

/* The plan after RFC 5545, https://www.rfc-editor.org/rfc/rfc5545 */

/** Longer ones are folded; counted without the line break (section 3.1). */
const MAX_LINE_OCTETS = 75;

const MAX_SUMMARY = 120;
const MAX_DESCRIPTION = 2_000;

/** How often an application should look again; those that know neither property choose for themselves. */
const REFRESH = "PT15M";

function toICalendar({ posts }: CalendarFeed): string {
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Posthorn//Posthorn//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    "NAME:Posthorn",
    "X-WR-CALNAME:Posthorn",
    `REFRESH-INTERVAL;VALUE=DURATION:${REFRESH}`,
    `X-PUBLISHED-TTL:${REFRESH}`,
    ...posts.flatMap(toEvent),
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

/** What a reader is to know of a post beside its words; nothing where all is as planned. */
const MARKS: Record<PostStatus, string> = {
  scheduled: "",
  publishing: "",
  uploaded: "",
  published: "✓ ",
  failed: "✗ ",
  cancelled: "✗ ",
};

const STATUSES: Record<PostStatus, string> = {
  scheduled: "TENTATIVE",
  publishing: "TENTATIVE",
  uploaded: "TENTATIVE",
  published: "CONFIRMED",
  // Most applications would hide CANCELLED, and a person should look at it.
  failed: "TENTATIVE",
  cancelled: "CANCELLED",
};

function toEvent({ post, accountName, platform }: PlannedPost): string[] {
  const title = post.metadata?.["title"];
  const words = typeof title === "string" && title !== "" ? title : (post.caption ?? "");
  const name = plainText(accountName, MAX_SUMMARY);
  const summary = plainText(words === "" ? "Post without text" : words, MAX_SUMMARY);
  const details = [
    `${post.status} on ${besidePlatform(name, platform)}`,
    ...(post.error === null ? [] : [String(post.error)]),
    ...(post.caption === null ? [] : ["", [...post.caption].slice(0, MAX_DESCRIPTION).join("")]),
  ];
  const address = parseUrl(post.platformUrl ?? "");
  return [
    "BEGIN:VEVENT",
    `UID:${post.id}@posthorn`,
    `DTSTAMP:${toMoment(post.updatedAt)}`,
    `CREATED:${toMoment(post.createdAt)}`,
    `LAST-MODIFIED:${toMoment(post.updatedAt)}`,
    `DTSTART:${toMoment(post.scheduledAt)}`,
    // A moment without any length is invisible in some applications.
    "DURATION:PT15M",
    `SUMMARY:${escape(`${MARKS[post.status]}${name}: ${summary}`)}`,
    `DESCRIPTION:${escape(details.join("\n"))}`,
    `CATEGORIES:${escape(name)}`,
    `STATUS:${STATUSES[post.status]}`,
    ...(address === null ? [] : [`URL:${address.href}`]),
    // A post that goes out takes no time of a person.
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ];
}

/** `20261121T090000Z` */
function toMoment(iso: string): string {
  return iso.replace(/\.\d+Z$/, "Z").replaceAll(/[-:]/g, "");
}

/** Section 3.3.11; other control characters may not stand in a text at all. */
function escape(text: string): string {
  return text
    .replaceAll(/[\\;,]/g, (character) => `\\${character}`)
    .replaceAll(/\r\n?|\n/g, "\\n")
    .replaceAll(/(?!\t)\p{Cc}/gu, "");
}

/** Every further line begins with a space; no character is cut in two. */
function fold(line: string): string {
  if (Buffer.byteLength(line) <= MAX_LINE_OCTETS) return line;
  const lines: string[] = [];
  let current = "";
  let octets = 0;
  for (const character of line) {
    const more = Buffer.byteLength(character);
    if (octets + more > MAX_LINE_OCTETS) {
      lines.push(current);
      current = " ";
      octets = 1;
    }
    current += character;
    octets += more;
  }
  return [...lines, current].join("\r\n");
}
