import { AppError } from "../domain/errors.ts";
import { quote } from "../domain/text/plain-text.ts";
import { didYouMean, nearestName } from "../domain/settings/nearest-name.ts";

/** Words that callers use alike; ours is among them. */
const ALIKE: readonly (readonly string[])[] = [
  ["cancel", "delete", "remove", "disconnect", "unpublish", "discard", "takedown", "drop"],
  [
    "schedule",
    "create",
    "add",
    "make",
    "new",
    "publish",
    "send",
    "plan",
    "queue",
    "save",
    "write",
    "upload",
    "connect",
  ],
  ["list", "get", "show", "read", "find", "search", "fetch", "view", "check"],
  ["update", "edit", "change", "set", "modify", "move", "reschedule"],
  ["decide", "approve", "reject", "review"],
  ["retry", "resend", "again"],
  ["account", "channel", "profile", "page", "connection"],
  ["file", "media", "image", "picture", "photo", "video"],
  ["analytics", "insights", "metrics", "statistics", "stats"],
  ["webhook", "hook"],
  ["calendar", "schedule"],
  ["platform", "provider", "network"],
  ["status", "health"],
];

/** The tool among these that a name means: one mistyped, or one in other words (`delete_posts`). Null: none. */
export function nearestTool(given: string, names: readonly string[]): string | null {
  const words = wordsOf(given);
  const wanted = words.join("_");
  // Clients put a server's name before a tool's.
  const near = names.find((name) => given.endsWith(`_${name}`)) ?? nearestName(wanted, names);
  if (near !== null) return near;
  const [verb, ...things] = words;
  if (verb === undefined || things.length === 0) return null;
  const fitting = names.filter((name) => {
    const [other = "", ...others] = wordsOf(name);
    return isAlike(verb, other) && things.every((thing) => others.some((one) => isAlike(thing, one)));
  });
  const wordsApart = (name: string): number => wordsOf(name).length - words.length;
  const sameWords = (name: string): number => wordsOf(name).filter((word) => words.includes(word)).length;
  const isAsMany = (name: string): number => (name.endsWith("s") === given.endsWith("s") ? 0 : 1);
  const [best = null] = fitting.toSorted(
    (a, b) => wordsApart(a) - wordsApart(b) || sameWords(b) - sameWords(a) || isAsMany(a) - isAsMany(b),
  );
  return best;
}

/** `names`: those that the caller may call. */
export function unknownTool(given: string, names: readonly string[]): AppError {
  const near = nearestTool(given, names);
  const hint = near === null ? "" : ` ${didYouMean(near)}`;
  return new AppError(
    "not_found",
    `There is no tool ${quote(given)}.${hint} The tools are ${names.join(", ")}.`,
  );
}

/** `deletePosts` and `delete-post` as delete, post. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "")
    .map((word) => word.replace(/(?<=[^su])s$/, ""));
}

function isAlike(one: string, other: string): boolean {
  return one === other || ALIKE.some((words) => words.includes(one) && words.includes(other));
}
