import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import type { PublishIo, Settled, SettleContext } from "../../ports/publish-io.ts";
import { listAll } from "../shared/meta/graph.ts";
import { Id } from "../../ports/platform-values.ts";
import { settleByListing } from "../shared/settle.ts";
import { pageOf, pageRequest } from "./graph.ts";
import { mediaOf, type FacebookPost } from "./metadata.ts";

/** Where a post is, or will be by Facebook's own schedule. */
export const Placed = z.object({ id: z.string(), isScheduled: z.boolean() });
export type Placed = z.infer<typeof Placed>;

const Target = z.looseObject({ id: Id.optional().catch(undefined) }).optional();
const Attachment = z.looseObject({
  target: Target,
  unshimmed_url: z.string().optional(),
  subattachments: z.looseObject({ data: z.array(z.looseObject({ target: Target })) }).optional(),
});

/** "2026-11-21T09:00:00+0000", or seconds. */
const Moment = z
  .union([z.string(), z.number()])
  .transform((text) => (Number.isNaN(Number(text)) ? Date.parse(String(text)) : Number(text) * 1_000));

const Entry = z.looseObject({
  id: Id,
  message: z.string().catch(""),
  created_time: Moment,
  application: z.looseObject({ id: Id }).optional(),
  attachments: z.looseObject({ data: z.array(Attachment) }).optional(),
});
type Entry = z.infer<typeof Entry>;

const FIELDS =
  "id,message,created_time,application{id}," +
  "attachments{target{id},unshimmed_url,subattachments{target{id}}}";

/** A post stands in its Page's lists within seconds; proven absent it is only a while later. */
const SETTLE_MS = MINUTE;

/** Looks for the post among those of the Page, the published and the scheduled. */
export function settlePost(
  { post, photos }: { readonly post: FacebookPost; readonly photos: readonly string[] },
  io: PublishIo,
  context: SettleContext,
): Promise<Settled<Placed>> {
  return settleByListing<Placed>(context, {
    now: io.now(),
    settleMs: SETTLE_MS,
    isReliable: true,
    reason: "the Page's posts could not be looked through.",
    find: (since) => findPost({ post, photos, since }, io),
  });
}

interface Wanted {
  readonly post: FacebookPost;
  readonly photos: readonly string[];
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Null where it is in none of the Page's lists. */
export async function findPost(wanted: Wanted, io: PublishIo): Promise<Placed | null> {
  for (const [edge, isScheduled] of [
    ["published_posts", false],
    ["scheduled_posts", true],
  ] as const) {
    const entries = await listAll(
      io,
      pageRequest(io, { method: "GET", path: `${pageOf(io)}/${edge}`, query: { fields: FIELDS } }),
      Entry,
      // The newest come first there; those that wait come in the order of their times.
      isScheduled ? {} : { perPage: 25, until: ({ created_time: at }) => at < wanted.since },
    );
    const found = entries.find((entry) => isOurs(entry, wanted, io));
    if (found !== undefined) return { id: found.id, isScheduled };
  }
  return null;
}

/**
 * Made by our app since then, with the same text and as many pictures, or with the very pictures that were
 * uploaded for it.
 */
function isOurs(entry: Entry, { post, photos, since }: Wanted, io: PublishIo): boolean {
  const app = io.setting("CLIENT_ID");
  if (entry.created_time < since) return false;
  if (entry.application !== undefined && app !== null && entry.application.id !== app) return false;
  const shown = photosOf(entry);
  if (shown?.some((id) => photos.includes(id))) return true;
  const count = mediaOf(post).length;
  const isSameCount = shown === null || count === 0 || shown.length === count;
  return isSameCount && plain(entry.message) === plain(post.caption ?? "") && hasSameLink(entry, post);
}

/** Null where the answer does not tell. */
function photosOf({ attachments }: Entry): string[] | null {
  if (attachments === undefined) return null;
  const all = attachments.data.flatMap((one) => one.subattachments?.data ?? [one]);
  return all.flatMap(({ target }) => target?.id ?? []);
}

function hasSameLink({ attachments }: Entry, { metadata }: FacebookPost): boolean {
  const shown = attachments?.data[0]?.unshimmed_url;
  return metadata.link === undefined || shown === undefined || shown === metadata.link;
}

function plain(text: string): string {
  return text.normalize("NFC").replaceAll("\r\n", "\n").trim();
}
