import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { PlatformFault, type Json } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { bearer } from "../shared/faults.ts";
import { inOrder } from "../shared/media.ts";
import { documentOf } from "../shared/picture-document.ts";
import { repeatableStep } from "../shared/reconcile.ts";
import { askLinkedIn, sendLinkedIn, urn } from "./api.ts";
import { authorOf, isPage, MAX_TITLE } from "./metadata.ts";

/** LinkedIn takes fewer than 36,152,320 pixels. */
export const IMAGE_LIMITS = {
  maxBytes: 20_000_000,
  mimeTypes: ["image/jpeg", "image/png", "image/gif"],
  maxWidth: 6_000,
  maxHeight: 6_000,
} as const satisfies ImageLimits;

export const MAX_DOCUMENT_BYTES = 100_000_000;

/** A page as it is read on a large screen. */
export const PAGE_LIMITS = {
  maxBytes: 5_000_000,
  mimeTypes: ["image/jpeg"],
  maxWidth: 2_400,
  maxHeight: 2_400,
} as const satisfies ImageLimits;

const Begun = z.looseObject({
  value: z
    .looseObject({
      uploadUrl: z.string().min(1),
      image: z.string().optional(),
      document: z.string().optional(),
    })
    .transform(({ uploadUrl, image, document }) => ({ uploadUrl, id: image ?? document }))
    .pipe(z.object({ uploadUrl: z.string(), id: z.string().min(1) })),
});

/** Brings a picture, which is not seen before a post names it: whatever is lost is sent again. */
export async function sendImage(item: MediaItem, name: string, io: PublishIo): Promise<string> {
  const stored = await repeatableStep<Json>(io, {
    step: `image ${name}`,
    request: { url: item.url },
    send: async () => upload("image", { body: (await io.media.fitImage(item, IMAGE_LIMITS)).bytes }, io),
  });
  return z.string().parse(stored);
}

const Document = z.object({ id: z.string(), title: z.string(), sizeBytes: z.number() });

/** Brings a document, or one that is made of pictures. `title`: null for that of its file. */
export async function sendDocument(
  items: readonly MediaItem[],
  title: string | null,
  io: PublishIo,
): Promise<z.infer<typeof Document>> {
  const stored = await repeatableStep<Json>(io, {
    step: "document",
    request: { urls: items.map(({ url }) => url), title },
    send: async () => {
      const [first] = items;
      const shown = cut(title ?? first?.title ?? "");
      if (first?.facts.type === "document") {
        const { sizeBytes } = first.facts;
        const id = await upload("document", { body: () => first.open(), sizeBytes }, io);
        return { id, title: shown, sizeBytes };
      }
      const body = await bind(items, shown, io);
      return { id: await upload("document", { body }, io), title: shown, sizeBytes: body.length };
    },
  });
  return Document.parse(stored);
}

function cut(title: string): string {
  return [...title].slice(0, MAX_TITLE).join("");
}

/** A page for each picture. What stands around them takes little. */
async function bind(items: readonly MediaItem[], title: string, io: PublishIo): Promise<Buffer> {
  const maxBytes = Math.min(PAGE_LIMITS.maxBytes, Math.floor((0.99 * MAX_DOCUMENT_BYTES) / items.length));
  const pages = await inOrder(items, async (item) => {
    const { bytes, width, height } = await io.media.fitImage(item, { ...PAGE_LIMITS, maxBytes });
    return { bytes, width, height, altText: item.altText };
  });
  return documentOf(pages, title);
}

interface UploadContent {
  readonly body: Buffer | (() => ReturnType<MediaItem["open"]>);
  readonly sizeBytes?: number;
}

async function upload(
  kind: "image" | "document",
  { body, sizeBytes }: UploadContent,
  io: PublishIo,
): Promise<string> {
  const json = { initializeUploadRequest: { owner: authorOf(io.account) } };
  const path = `/rest/${kind}s?action=initializeUpload`;
  const { value } = await askLinkedIn(io, { path, json, kind: "write", isIdempotent: true }, Begun);
  await put(io, value.uploadUrl, body, sizeBytes);
  return value.id;
}

async function put(io: PublishIo, url: string, body: UploadContent["body"], size?: number) {
  return io.request({
    ...UPLOAD_TIMES,
    method: "PUT",
    url,
    headers: {
      "content-type": "application/octet-stream",
      ...(size === undefined ? {} : { "content-length": String(size) }),
    },
    body,
    sign: bearer(),
    isIdempotent: true,
    classify: ({ status }) =>
      [400, 403, 404, 410].includes(status)
        ? new SessionGone("transient", "LinkedIn ended the upload before it was whole.")
        : null,
  });
}

/** The addresses of an upload are good for a while only. */
class SessionGone extends PlatformFault {}

const Session = z.object({
  video: z.string(),
  token: z.string(),
  expiresAt: z.number(),
  parts: z.array(z.object({ url: z.string(), first: z.int(), last: z.int() })),
  /** What LinkedIn called the parts that it has, in order. */
  etags: z.array(z.string()),
});
type Session = z.infer<typeof Session>;

const BegunVideo = z.looseObject({
  value: z.looseObject({
    video: z.string().min(1),
    uploadToken: z.string().catch(""),
    uploadUrlsExpireAt: z.coerce.number().optional().catch(undefined),
    uploadInstructions: z
      .array(
        z.looseObject({
          uploadUrl: z.string().min(1),
          firstByte: z.coerce.number().pipe(z.int().min(0)),
          lastByte: z.coerce.number().pipe(z.int().min(0)),
        }),
      )
      .min(1),
  }),
});

/** Brings a film in the parts that LinkedIn cuts; any process goes on at the one that is missing. */
export async function sendVideo(item: MediaItem, io: PublishIo): Promise<string> {
  const stored = await repeatableStep<Json>(io, {
    step: "video",
    request: { url: item.url, sizeBytes: item.facts.sizeBytes },
    send: (context) => sendParts(item, io, context),
  });
  return z.string().parse(stored);
}

async function sendParts(item: MediaItem, io: PublishIo, context: EffectContext): Promise<string> {
  const kept = Session.nullable().parse(context.handle);
  let session = kept !== null && kept.expiresAt - MINUTE > io.now() ? kept : await begin(item, io);
  try {
    for (const { url, first, last } of session.parts.slice(session.etags.length)) {
      await context.saveHandle(session);
      const body = () => item.open({ start: first, end: last });
      const { headers } = await put(io, url, body, last - first + 1);
      const etag = (headers["etag"] ?? "").replace(/^W\/|"/g, "");
      if (etag === "") throw new PlatformFault("transient", "LinkedIn gave no id for a part of the video.");
      session = { ...session, etags: [...session.etags, etag] };
    }
    await context.saveHandle(session);
    const { video, token: uploadToken, etags: uploadedPartIds } = session;
    const json = { finalizeUploadRequest: { video, uploadToken, uploadedPartIds } };
    const path = "/rest/videos?action=finalizeUpload";
    await sendLinkedIn(io, { path, json, kind: "write", isIdempotent: true });
    return video;
  } catch (error) {
    if (error instanceof SessionGone) await context.saveHandle(null);
    throw error;
  }
}

async function begin({ facts: { sizeBytes } }: MediaItem, io: PublishIo): Promise<Session> {
  const owner = authorOf(io.account);
  const initializeUploadRequest = {
    owner,
    fileSizeBytes: sizeBytes,
    uploadCaptions: false,
    uploadThumbnail: false,
  };
  const path = "/rest/videos?action=initializeUpload";
  const call = { path, json: { initializeUploadRequest }, kind: "write", isIdempotent: true } as const;
  const { value } = await askLinkedIn(io, call, BegunVideo);
  const parts = value.uploadInstructions.map(({ uploadUrl: url, firstByte, lastByte }) => ({
    url,
    first: firstByte,
    last: lastByte,
  }));
  const expiresAt = value.uploadUrlsExpireAt ?? io.now() + 30 * MINUTE;
  return { video: value.video, token: value.uploadToken, expiresAt, parts, etags: [] };
}

/** How long LinkedIn surely works on what it shows us nothing of: pictures took 2 s at most, others by size. */
const PICTURE_MS = 5 * SECOND;
const FILM_MS = 10 * SECOND;
const FILM_MS_PER_MB = SECOND;
const MOST_MS = 2 * MINUTE;

interface Brought {
  readonly ids: readonly string[];
  readonly kind: "images" | "videos" | "documents";
  readonly sizeBytes: number;
}

/**
 * How soon to look again at what was brought; null once a post can name it. One that comes sooner is refused,
 * or taken and never shown. A member's app may not read pictures (403), nor each app the rest: then time decides.
 */
export async function waitForMedia(brought: Brought, io: PublishIo): Promise<number | null> {
  if (brought.kind === "images" && !isPage(io.account)) return waitUnseen(brought, io);
  try {
    for (const id of brought.ids) {
      const wait = await askAfter(id, brought.kind, io);
      if (wait !== null) return wait;
    }
    return null;
  } catch (error) {
    if (error instanceof PlatformFault && error.httpStatus === 403) return waitUnseen(brought, io);
    throw error;
  }
}

async function waitUnseen({ kind, sizeBytes }: Brought, io: PublishIo): Promise<number | null> {
  const broughtAt = await io.once("media brought", () => io.now());
  const filmMs = Math.min(FILM_MS + (sizeBytes / 1e6) * FILM_MS_PER_MB, MOST_MS);
  const left = broughtAt + (kind === "images" ? PICTURE_MS : filmMs) - io.now();
  return left > 0 ? Math.ceil(left) : null;
}

const Asset = z.looseObject({ status: z.string(), processingFailureReason: z.string().catch("") });

async function askAfter(id: string, kind: Brought["kind"], io: PublishIo): Promise<number | null> {
  const path = `/rest/${kind}/${urn(id)}`;
  const { status, processingFailureReason: reason } = await askLinkedIn(io, { path, kind: "read" }, Asset);
  if (status === "AVAILABLE") return null;
  if (status !== "PROCESSING_FAILED") return kind === "images" ? 2 * SECOND : 5 * SECOND;
  const named = /^[\w .-]{1,60}$/.test(reason) ? ` (${reason})` : "";
  const [what, as] = REMEDIES[kind];
  throw new PlatformFault(
    "rejected",
    `LinkedIn could not process ${what}${named}. Export it as ${as}, then send the post again.`,
  );
}

const REMEDIES: Readonly<Record<Brought["kind"], readonly [string, string]>> = {
  images: ["a picture", "JPEG"],
  videos: ["the video", "MP4 with H.264"],
  documents: ["the document", "PDF"],
};
