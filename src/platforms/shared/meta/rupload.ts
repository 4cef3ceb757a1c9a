import * as z from "zod";
import type { MediaItem } from "../../../ports/media.ts";
import type { PlatformRequest } from "../../../ports/platform-io.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import { bearer, byCode, faultsBy } from "../faults.ts";
import { UPLOAD_TIMES } from "../uploads.ts";
import { facebookUrl } from "./accounts.ts";

type Classify = NonNullable<PlatformRequest["classify"]>;

export const RUPLOAD_HOST = "https://rupload.facebook.com";

/** Where a film is sent: as Facebook names it, or below its host; the setting replaces the host. */
export function ruploadUrl(io: PublishIo, named: string | undefined, folder: string, id: string): string {
  const version = facebookUrl(io).split("/").at(-1) ?? "";
  const host = io.setting("UPLOAD_URL", "facebook") ?? RUPLOAD_HOST;
  return (named ?? `${RUPLOAD_HOST}/${folder}/${version}/${id}`).replace(RUPLOAD_HOST, host);
}

const DebugInfo = z.looseObject({ debug_info: z.looseObject({ type: z.string() }) });

const uploadFaults = faultsBy({
  title: "Facebook",
  codesOf: ({ json }) => {
    const named = DebugInfo.safeParse(json);
    return named.success ? [named.data.debug_info.type] : [];
  },
  rules: byCode("transient", {
    "OffsetInvalidError PartialRequestError":
      "Facebook has a different part of the video than the one that was sent.",
    ProcessingFailedError: "Facebook broke off the upload.",
  }),
});

/** Hosts that take files answer in words of their own, or as the Graph API does. */
export function orUploadFaults(classify: Classify): Classify {
  return (response) =>
    DebugInfo.safeParse(response.json).success ? uploadFaults(response) : classify(response);
}

const Count = z.coerce.number().int().nonnegative().optional().catch(undefined);

/** How far an upload is. The guides spell it with one r, the reference with two. */
export const Uploading = z.looseObject({
  status: z.string().catch(""),
  bytes_transfered: Count,
  bytes_transferred: Count,
});

/** How much of the file is there. */
export function bytesOf(uploading: z.infer<typeof Uploading> | undefined): number {
  return uploading?.bytes_transfered ?? uploading?.bytes_transferred ?? 0;
}

interface Bytes {
  readonly url: string;
  /** Whose token the host takes. */
  readonly token: string;
  readonly item: MediaItem;
  /** How many it has. */
  readonly from: number;
  /** What its header for that is called. */
  readonly headers: Readonly<Record<string, string>>;
  readonly classify: Classify;
}

/** All that is missing goes in one request; after a break, what came through by then is kept. */
export function sendBytes<T>(
  io: PublishIo,
  { url, token, item, from, headers, classify }: Bytes,
  schema: z.ZodType<T>,
): Promise<T> {
  const { sizeBytes } = item.facts;
  const request = {
    ...UPLOAD_TIMES,
    method: "POST",
    url,
    headers: {
      ...headers,
      "content-type": "application/octet-stream",
      "content-length": `${sizeBytes - from}`,
    },
    body: () => item.open({ start: from }),
    classify: orUploadFaults(classify),
    isIdempotent: true,
    sign: bearer(token, "OAuth"),
  } as const;
  return io.ask(from < sizeBytes ? request : { ...request, body: Buffer.alloc(0) }, schema);
}

/** The rest of a film to rupload, by the token of its Page. */
export function sendFilm(
  io: PublishIo,
  { item, from, ...at }: Pick<Bytes, "url" | "item" | "from" | "classify">,
): Promise<unknown> {
  const headers = { offset: `${from}`, file_size: `${item.facts.sizeBytes}` };
  return sendBytes(io, { ...at, token: "pageToken", item, from, headers }, z.looseObject({}));
}
