import type { Post } from "../../../src/domain/posts/post.ts";
import { forPeople, readByField } from "../data/for-people.ts";
import { type Json, jsonOf, textOf } from "../../shared/json.ts";
import { createZone, isZone } from "../../shared/zone.ts";

/** Whether a person has to look at the platform before anything else is done. */
export function isUnknown({ status, error }: Post): boolean {
  return status === "failed" && error !== null && /^outcome unknown:/i.test(error);
}

/** What a reason asks for that only a change of the post gives. */
const TO_CHANGE =
  /(?:^|[.!?:] )(?:Add|Change (?:it|the post|the text)|Choose|Convert|Export|Give|Leave|Remove|Shorten|Take)\b/;

/** Whether sending it again as it is would fail again. What a platform says is no advice of ours. */
export function needsChange(error: string | null): boolean {
  if (error === null || /\btried \d+ times\b/.test(error)) return false;
  const ours = error.replace(/"[^"]*"/g, "");
  return TO_CHANGE.test(ours) || readByField(ours).some(({ path }) => path !== "");
}

/** Why a post failed that was put away: what was to be done about it is over. */
export function pastReason(error: string): string {
  const reasons = error
    .replace(/^outcome unknown:\s*/i, "No one knows whether it went out: ")
    .split(/(?<=[.!?]) /)
    .filter(
      (sentence) =>
        !TO_CHANGE.test(sentence) && !/\bsend it again\b|\bretry_post\b|\bresolve_post\b/.test(sentence),
    );
  return forPeople(reasons.join(" ") || "It failed.");
}

/** As the server writes when it tries again. */
const NEXT_TRY =
  /\b(?:next try is|tried again) on [A-Z][a-z]{2,5}day (\d{1,2} [A-Z][a-z]{2,8} \d{4}), (\d{2}):(\d{2}) \(([^()]{1,60})\)/;

/** When a late post is tried next. Null: its reason does not say. */
export function nextTryOf(error: string | null): number | null {
  const [, date = "", hour = "", minute = "", zoneName = ""] = NEXT_TRY.exec(error ?? "") ?? [];
  const ms = Date.parse(`${date} UTC`);
  if (Number.isNaN(ms) || !isZone(zoneName)) return null;
  const day = new Date(ms).toISOString().slice(0, 10);
  return createZone(zoneName).toMs({ day, minutes: Number(hour) * 60 + Number(minute) });
}

/** All media of a post, in their order. */
export function mediaOf({ mediaUrl, metadata }: Post): readonly { url: string; alt: string }[] {
  const more = partsOf(metadata?.["moreMedia"]);
  const first = { url: mediaUrl, alt: textOf(metadata?.["altText"]) };
  return [first, ...more.map((one) => ({ url: textOf(one["url"]), alt: textOf(one["altText"]) }))].filter(
    ({ url }) => url !== "",
  );
}

/** The parts of a post's thread. */
export function threadOf({ metadata }: Post): readonly string[] {
  return partsOf(metadata?.["thread"]).map((part) => textOf(part["caption"]));
}

function partsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(jsonOf) : [];
}
