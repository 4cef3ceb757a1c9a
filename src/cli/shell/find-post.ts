import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/text/plain-text.ts";
import type { CallContext } from "../../context.ts";
import { listPosts } from "../../posts/list-posts.ts";

const PREFIX = "post_";
const WHOLE_ID = /^post_[0-9a-z]{26}$/;
const SHORTEST = 4;
const MOST_NAMED = 5;

const PAGE = 500;
/** Older ones are found by their whole id. */
const MOST_LOOKED_AT = 10 * PAGE;

/** The end of each id that tells it from all others in the list, for people to type. */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const longest = Math.max(SHORTEST, ...ids.map((id) => id.length));
  let length = SHORTEST + 2;
  while (length < longest && new Set(ids.map((id) => id.slice(-length))).size < new Set(ids).size) length++;
  return new Map(ids.map((id) => [id, id.slice(-length)]));
}

/** As much of an id as a person typed. Throws `invalid` for too little, which may mean any. */
export function readShortId(given: string, prefix: string): string {
  const text = given.trim().replace(/^…/, "");
  if (text.replace(prefix, "").length >= SHORTEST) return text;
  throw new AppError(
    "invalid",
    `id: ${quote(given)} is too short. Give at least ${SHORTEST} characters of it.`,
  );
}

/** The post of this id, or of its beginning or end. Throws `invalid` for several, `not_found`. */
export async function findPostId(call: CallContext, given: string): Promise<string> {
  const text = readShortId(given, PREFIX);
  if (WHOLE_ID.test(text)) return text;
  const found = await idsLike(call, text.toLowerCase());
  const [id, ...others] = found;
  if (id === undefined)
    throw new AppError(
      "not_found",
      `id: there is no post ${quote(given)}. "posthorn list all" shows the posts.`,
    );
  if (others.length === 0) return id;
  throw new AppError(
    "invalid",
    `id: ${quote(given)} may be any of ${[...shortIds(found).values()].slice(0, MOST_NAMED).join(", ")}. Give more of it.`,
  );
}

async function idsLike(call: CallContext, text: string): Promise<string[]> {
  const isMeant = (id: string): boolean =>
    id.endsWith(text) || id.startsWith(text) || id.startsWith(`${PREFIX}${text}`);
  const found: string[] = [];
  let cursor: string | undefined;
  for (let seen = 0; seen < MOST_LOOKED_AT; seen += PAGE) {
    call.signal.throwIfAborted();
    const page = await listPosts(call, { limit: PAGE, cursor });
    found.push(...page.posts.map(({ id }) => id).filter(isMeant));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return found;
}
