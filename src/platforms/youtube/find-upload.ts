import * as z from "zod";
import type { PublishIo } from "../../ports/publish-io.ts";
import { askAs } from "./api.ts";
import type { YoutubePost } from "./metadata.ts";
import { findVideos, type Video } from "./video.ts";

interface Wanted {
  readonly post: YoutubePost;
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly sizeBytes: number;
}

/** Pages of 50 of the newest uploads: more than anybody uploads meanwhile. */
const MAX_PAGES = 4;

const Page = z.looseObject({
  items: z
    .array(
      z.looseObject({
        snippet: z.looseObject({ title: z.string().catch(""), publishedAt: z.string().catch("") }),
        contentDetails: z.looseObject({ videoId: z.string() }),
      }),
    )
    .default([]),
  nextPageToken: z.string().optional(),
});

/** The id of a video among the channel's uploads that is this post's by title, time and size; null: none is. */
export async function findUpload(io: PublishIo, wanted: Wanted): Promise<string | null> {
  const { title } = wanted.post.metadata;
  let pageToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { part: "snippet,contentDetails", playlistId: uploadsOf(io), maxResults: 50, pageToken };
    const { items, nextPageToken } = await askAs(io, { resource: "playlistItems", query }, Page);
    const since = items.filter(({ snippet }) => Date.parse(snippet.publishedAt) >= wanted.since);
    const alike = since.filter(({ snippet }) => snippet.title.trim() === title.trim());
    const ids = alike.map(({ contentDetails }) => contentDetails.videoId);
    const video = (await findVideos(io, ids, "fileDetails,snippet")).find((one) => isSame(one, wanted));
    if (video !== undefined) return video.id;
    if (since.length < items.length || nextPageToken === undefined) return null;
    pageToken = nextPageToken;
  }
  return null;
}

/** The list of what the channel uploaded; named after the channel where connecting did not tell it. */
function uploadsOf({ account }: PublishIo): string {
  const told = z.string().min(1).safeParse(account.settings["uploads"]);
  return told.success ? told.data : `UU${(account.platformAccountId ?? "").slice(2)}`;
}

const FileDetails = z.looseObject({ fileSize: z.coerce.number() });

/** Until YouTube looked at the file it does not tell its size; title, text and time must do then. */
function isSame({ fileDetails, snippet }: Video, { post, sizeBytes }: Wanted): boolean {
  const file = FileDetails.safeParse(fileDetails);
  if (file.success) return file.data.fileSize === sizeBytes;
  return (snippet?.["description"] ?? "") === (post.caption ?? "");
}
