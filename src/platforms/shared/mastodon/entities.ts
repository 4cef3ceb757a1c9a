import * as z from "zod";
import { Id } from "../../../ports/platform-values.ts";

const WebAddress = z.url({ protocol: /^https?$/ }).max(2_000);
const Count = z.int().min(0).optional().catch(undefined);

/** https://docs.joinmastodon.org/entities/MediaAttachment */
export const Attachment = z.looseObject({
  id: Id,
  type: z.string().catch("unknown"),
  url: z.string().nullish(),
});

/** https://docs.joinmastodon.org/entities/Status */
export const Status = z.looseObject({
  id: Id,
  url: WebAddress.nullable().catch(null),
  created_at: z.string().catch(""),
  content: z.string().catch(""),
  spoiler_text: z.string().catch(""),
  visibility: z.string().nullable().catch(null),
  sensitive: z.boolean().catch(false),
  in_reply_to_id: Id.nullable().catch(null),
  reblog: z.unknown().optional(),
  media_attachments: z.array(Attachment).catch([]),
  favourites_count: Count,
  replies_count: Count,
  reblogs_count: Count,
  quotes_count: Count,
});
export type Status = z.infer<typeof Status>;

/** https://docs.joinmastodon.org/entities/Account */
export const Account = z.looseObject({
  id: Id,
  username: z.string(),
  display_name: z.string().catch(""),
  url: WebAddress.nullable().catch(null),
  avatar: WebAddress.nullable().catch(null),
  followers_count: Count,
});
export type Account = z.infer<typeof Account>;

/** As people name it everywhere: alice@mastodon.example. */
export function handleOf({ username }: Account, server: string): string {
  return `${username}@${new URL(server).host}`;
}
