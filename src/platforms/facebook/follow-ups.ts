import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { MINUTE } from "../../domain/time.ts";
import { Created, listAll } from "../shared/meta/graph.ts";
import { Id } from "../../ports/platform-values.ts";
import { settleByListing } from "../shared/settle.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import { withoutPermission } from "./faults.ts";
import { askPage, pageRequest } from "./graph.ts";
import type { FacebookPost } from "./metadata.ts";

interface Live {
  readonly post: FacebookPost;
  readonly plan: "feed" | "reel" | "video";
  readonly id: string;
}

/** What belongs to a post and comes after it. */
export async function followUp({ post, plan, id }: Live, io: PublishIo): Promise<void> {
  const { firstComment, thumbnailUrl } = post.metadata;
  if (thumbnailUrl !== undefined && plan !== "feed")
    await io.extra("The thumbnail", () => putThumbnail({ id, thumbnailUrl }, io));
  if (firstComment !== undefined)
    await io.extra("The first comment", () => comment({ id, text: firstComment }, io));
}

const mayComment = withoutPermission(
  "The Page was connected without the permission pages_manage_engagement. Connect it again to comment.",
);

const Comment = z.looseObject({
  id: Id,
  message: z.string().catch(""),
  created_time: z.string().transform((text) => Date.parse(text)),
});

/** Comments stand in the list of their post at once. */
const COMMENT_SETTLE_MS = MINUTE;

async function comment(
  { id, text }: { readonly id: string; readonly text: string },
  io: PublishIo,
): Promise<void> {
  const path = `${id}/comments`;
  await io.effect<string>({
    step: "comment",
    request: { id, text },
    send: async () =>
      (await askPage(io, { method: "POST", path, json: { message: text }, classify: mayComment }, Created))
        .id,
    settle: (context) =>
      settleByListing<string>(context, {
        now: io.now(),
        settleMs: COMMENT_SETTLE_MS,
        isReliable: true,
        reason: "the comments of the post could not be looked through.",
        find: async (since) => {
          const query = {
            fields: "id,message,created_time",
            order: "reverse_chronological",
            filter: "stream",
          };
          const request = pageRequest(io, { method: "GET", path, query, classify: mayComment });
          const all = await listAll(io, request, Comment, { until: ({ created_time: at }) => at < since });
          const isOurs = (one: z.infer<typeof Comment>): boolean =>
            one.created_time >= since && one.message.trim() === text.trim();
          return all.find(isOurs)?.id ?? null;
        },
      }),
  });
}

const mayDress = withoutPermission("Facebook does not let the Page change the picture of this film.");

/** https://developers.facebook.com/docs/graph-api/reference/video/thumbnails; larger ones are refused. */
const THUMBNAIL_LIMITS = { maxBytes: 10_000_000, mimeTypes: ["image/jpeg", "image/png"] } as const;

async function putThumbnail(
  { id, thumbnailUrl }: { readonly id: string; readonly thumbnailUrl: string },
  io: PublishIo,
): Promise<void> {
  const item = await io.media.item(thumbnailUrl);
  const { bytes, mimeType } = await io.media.fitImage(item, THUMBNAIL_LIMITS);
  await io.effect<null>({
    step: "thumbnail",
    request: { id, thumbnailUrl },
    send: async () => {
      const multipart = [
        { name: "is_preferred", text: "true" },
        { name: "source", fileName: fileNameOf(mimeType, "photo"), mimeType, bytes },
      ];
      const call = { ...UPLOAD_TIMES, method: "POST", path: `${id}/thumbnails`, multipart } as const;
      await askPage(io, { ...call, classify: mayDress, isIdempotent: true }, z.looseObject({}));
      return null;
    },
    // The last one counts.
    settle: async () => ({ outcome: "send_again" }),
  });
}

/** Puts another picture in front of a film. Throws `conflict` for a post that is none. */
export async function setThumbnail(post: FacebookPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  const id = post.platformPostId ?? "";
  // Posts are named by their Page and themselves, films by themselves.
  if (id.includes("_"))
    throw new AppError("conflict", "Only films have a thumbnail on Facebook, and this post has none.");
  await putThumbnail({ id, thumbnailUrl }, io);
}
