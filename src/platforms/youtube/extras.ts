import { randomUUID } from "node:crypto";
import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import { Id } from "../../ports/platform-values.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { bearer, type FaultRule, refusedField } from "../shared/faults.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing, repeatableStep } from "../shared/reconcile.ts";
import { readSubtitles, type WrittenSubtitles } from "../shared/subtitles.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { askAs, send, uploadBaseOf, youtubeFaults } from "./api.ts";
import type { YoutubePost } from "./metadata.ts";

const Items = z.looseObject({ items: z.array(z.looseObject({})).default([]) });

/** A playlist takes the same video twice, so one that may be in it is looked for first. */
export async function addToPlaylist(
  { metadata: { playlistId } }: YoutubePost,
  io: PublishIo,
  id: string,
): Promise<void> {
  if (playlistId === undefined) return;
  const json = { snippet: { playlistId, resourceId: { kind: "youtube#video", videoId: id } } };
  await io.effect<null>({
    step: "playlist",
    request: json,
    send: async () => {
      const rules: readonly FaultRule[] = [{ code: "videoAlreadyInPlaylist", kind: "ok" }];
      const call = { method: "POST", path: "playlistItems", query: { part: "snippet" }, json } as const;
      await send(io, { ...call, rules });
      return null;
    },
    reconcile: async () => {
      const query = { part: "id", playlistId, videoId: id };
      const { items } = await askAs(io, { path: "playlistItems", query }, Items);
      return items.length > 0 ? { outcome: "done", result: null } : { outcome: "send_again" };
    },
  });
}

/** https://developers.google.com/youtube/v3/docs/captions/insert. A film has one of a language and a name. */
export async function addSubtitles({ metadata }: YoutubePost, io: PublishIo, id: string): Promise<void> {
  const steps = (metadata.subtitles ?? []).map((_one, at) => `subtitles ${at + 1}`);
  if (steps.every((step) => io.resultOf(step) !== null)) return;
  const all = await readSubtitles(metadata, io);
  for (const [at, one] of all.entries()) {
    const snippet = { videoId: id, language: one.language, name: one.name ?? "" };
    await repeatableStep<true>(io, {
      step: steps[at] ?? "",
      request: { snippet, url: one.url },
      send: async () => {
        await sendSubtitles(io, snippet, one);
        return true;
      },
    });
  }
}

async function sendSubtitles(io: PublishIo, snippet: JsonObject, one: WrittenSubtitles): Promise<void> {
  const boundary = `subtitles-${randomUUID()}`;
  const part = (type: string): string => `--${boundary}\r\ncontent-type: ${type}\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${part("application/json; charset=UTF-8")}${JSON.stringify({ snippet })}\r\n`),
    Buffer.from(part("application/octet-stream")),
    one.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const rules: readonly FaultRule[] = [
    // An earlier try brought them, whose answer was lost.
    { code: "captionExists", kind: "ok" },
    ...refusedField(one.field, {
      "contentRequired invalidMetadata nameTooLong": "YouTube refused them. Add them in YouTube Studio.",
    }),
  ];
  await io.request({
    ...UPLOAD_TIMES,
    method: "POST",
    url: `${uploadBaseOf(io)}/upload/youtube/v3/captions`,
    query: { uploadType: "multipart", part: "snippet" },
    headers: {
      "content-type": `multipart/related; boundary=${boundary}`,
      "content-length": String(body.length),
    },
    body,
    isIdempotent: true,
    sign: bearer(),
    classify: youtubeFaults(io, rules),
  });
}

const COMMENT_RULES: readonly FaultRule[] = refusedField("metadata.firstComment", {
  commentsDisabled:
    "Comments are turned off on this video. Turn them on in YouTube Studio, and write it there.",
  "commentTextRequired commentTextTooLong": "YouTube refused the text. Write another one on YouTube.",
  "forbidden ineligibleAccount": "YouTube does not let the channel comment on it. Write it on YouTube.",
});

const Thread = z.looseObject({
  id: Id,
  snippet: z.looseObject({
    topLevelComment: z.looseObject({
      snippet: z.looseObject({
        textOriginal: z.string().optional().catch(undefined),
        authorChannelId: z.looseObject({ value: z.string().optional() }).optional().catch(undefined),
      }),
    }),
  }),
});
const Threads = z.looseObject({ items: z.array(Thread).default([]), nextPageToken: z.string().optional() });

/** Pages of 100 comments, the newest first. */
const MAX_PAGES = 5;

/** Once, found again by who wrote it and by its text: https://developers.google.com/youtube/v3/docs/commentThreads */
export async function comment(io: PublishIo, videoId: string, text: string): Promise<void> {
  const channelId = io.account.platformAccountId ?? "";
  const query = { part: "snippet" };
  const json = { snippet: { channelId, videoId, topLevelComment: { snippet: { textOriginal: text } } } };
  const rules = COMMENT_RULES;
  await io.effect<string>({
    step: "comment",
    request: json,
    send: async () => {
      const call = { method: "POST", path: "commentThreads", query, json, rules } as const;
      return (await askAs(io, call, z.looseObject({ id: Id }))).id;
    },
    reconcile: (context) =>
      reconcileByListing<string>(context, {
        now: io.now(),
        listedAfterMs: MINUTE,
        find: async (_since, doubts) => {
          const tooMany = (): void => doubts("the answer was lost, and the video has too many comments.");
          const listed = pages(MAX_PAGES, (pageToken) => listComments(io, videoId, pageToken), tooMany);
          const found = await findFirst(listed, ({ snippet }) => {
            const { authorChannelId, textOriginal } = snippet.topLevelComment.snippet;
            if ((authorChannelId?.value ?? channelId) !== channelId) return false;
            if (textOriginal === undefined) doubts("YouTube does not tell what its comments say.");
            return plain(textOriginal ?? "") === plain(text);
          });
          return found?.id ?? null;
        },
      }),
  });
}

async function listComments(io: PublishIo, videoId: string, pageToken: string | undefined) {
  const query = { part: "snippet", videoId, maxResults: 100, textFormat: "plainText", pageToken };
  const { items, nextPageToken } = await askAs(
    io,
    { path: "commentThreads", query, rules: COMMENT_RULES },
    Threads,
  );
  return { items, next: nextPageToken };
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
