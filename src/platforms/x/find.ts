import * as z from "zod";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { toIso } from "../../domain/time.ts";
import { ask, Id } from "./api.ts";

/** What is looked for among the channel's posts. */
export interface Wanted {
  readonly text: string;
  /** X's names of its media; empty where they are not known. */
  readonly mediaKeys: readonly string[];
  /** Those that are known to be other posts. */
  readonly others: readonly string[];
}

const Url = z.looseObject({
  url: z.string().nullish(),
  expanded_url: z.string().nullish(),
  display_url: z.string().nullish(),
  media_key: z.string().nullish(),
});
const Entities = z.looseObject({ urls: z.array(Url).nullish() }).nullish();
/** Longer than 280 characters: the whole text stands by itself. */
const Note = z.looseObject({ text: z.string(), entities: Entities.catch(null) }).nullish();

const Listed = z.looseObject({
  id: Id,
  text: z.string(),
  entities: Entities.catch(null),
  note_tweet: Note.catch(null),
  note_post: Note.catch(null),
  attachments: z
    .looseObject({ media_keys: z.array(z.string()).nullish() })
    .nullish()
    .catch(null),
});
type Listed = z.infer<typeof Listed>;

const Page = z.looseObject({
  data: z.array(Listed).default([]),
  meta: z.looseObject({ next_token: z.string().optional() }).default({}),
});

/** All posts of a minute or two; who has more of them had the wrong thing looked for. */
const MAX_PAGES = 5;
/** Each post that is read costs: of the few since then, no more are asked for. */
const PAGE = 10;

/** The newest of the channel's posts since then (milliseconds since 1970) that is this one; null: none. */
export async function findPost(io: PlatformIo, wanted: Wanted, since: number): Promise<string | null> {
  const seconds = toIso(Math.floor(since / 1_000) * 1_000).replace(".000Z", "Z");
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, meta } = await ask(
      io,
      {
        method: "GET",
        path: `/2/users/${io.account.platformAccountId ?? ""}/tweets`,
        query: {
          max_results: PAGE,
          start_time: seconds,
          "tweet.fields": "attachments,created_at,entities,note_tweet",
          pagination_token: token,
        },
      },
      Page,
    );
    const found = data.find((one) => !wanted.others.includes(one.id) && isSame(one, wanted));
    if (found !== undefined) return found.id;
    token = meta.next_token;
    if (token === undefined) return null;
  }
  return null;
}

/** By its media, which are this post's alone, where there are any; else by its text. */
function isSame(listed: Listed, { text, mediaKeys }: Wanted): boolean {
  const keys = listed.attachments?.media_keys ?? [];
  if (keys.length > 0 && mediaKeys.length > 0) return keys.some((key) => mediaKeys.includes(key));
  const shown = wordsOf(shownText(listed));
  const own = wordsOf(plain(text));
  return shown.length === own.length && shown.every((word, at) => fits(word, own[at] ?? ""));
}

/** Stands for an address that X does not spell out. */
const ANY = "\0";

/** The text before X shortened its addresses, put those of its media at its end and escaped three signs. */
function shownText(listed: Listed): string {
  const note = listed.note_tweet ?? listed.note_post;
  const { text, entities } = note ?? listed;
  return unescaped(text.replaceAll(ANY, ""))
    .split(/(https?:\/\/t\.co\/\w+)/)
    .map((piece, at) => (at % 2 === 0 ? plain(piece) : wholeAddress(piece, entities)))
    .join("");
}

function wholeAddress(address: string, entities: z.infer<typeof Entities>): string {
  const entity = entities?.urls?.find(({ url }) => url === address);
  const isMedia =
    (entity?.media_key ?? null) !== null || /^pic\.(x|twitter)\.com/.test(entity?.display_url ?? "");
  if (isMedia) return "";
  const expanded = entity?.expanded_url ?? null;
  return expanded === null ? ANY : plain(expanded);
}

/** X adds the scheme that somebody left out, and a slash after a bare host. */
function wordsOf(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/\/(?![\w-])/g, ""));
}

/** Whether the word is the other one, in which `ANY` stands for whatever is there. */
function fits(pattern: string, word: string): boolean {
  const [first = "", ...rest] = pattern.split(ANY);
  if (!word.startsWith(first)) return false;
  if (rest.length === 0) return word === first;
  const last = rest.pop() ?? "";
  let from = first.length;
  for (const part of rest) {
    const at = word.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return word.length - last.length >= from && word.endsWith(last);
}

/** Without schemes, and in single spaces. */
function plain(text: string): string {
  return text.replaceAll(/https?:\/\//gi, "").replaceAll(/\s+/g, " ");
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
