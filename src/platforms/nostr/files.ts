import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { HOUR } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { faultsBy } from "../shared/faults.ts";
import { sendUnseen } from "../shared/unseen.ts";
import { KIND, type Sign } from "./event.ts";
import { ownSign } from "./relays.ts";

/** Takes files of everybody, up to a size. */
const USUAL_SERVER = "https://blossom.primal.net";
const MAX_SERVERS = 4;

const MB = 1_000_000;
export const IMAGE_LIMITS = {
  maxBytes: 10 * MB,
  mimeTypes: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"],
} as const satisfies ImageLimits;

/** A file on a server for files: https://github.com/hzrd149/blossom/blob/master/buds/02.md */
export const Stored = z.object({
  url: z.string(),
  sha256: z.string(),
  sizeBytes: z.int(),
  mimeType: z.string(),
  type: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  seconds: z.number().nullable(),
});
export type Stored = z.infer<typeof Stored>;

const Descriptor = z.looseObject({ url: z.url({ protocol: /^https?$/ }), sha256: z.string() });

const TITLE = "The file server";

const classify = faultsBy({
  title: TITLE,
  codesOf: () => [],
  rules: [
    {
      status: [401, 403],
      kind: "rejected",
      message: `${TITLE} takes no files of this key. Name another in your Nostr app, under media servers.`,
    },
    {
      status: 402,
      kind: "rejected",
      message: `${TITLE} asks for payment. Name another in your Nostr app, under media servers, or pay it.`,
    },
    {
      status: 413,
      kind: "rejected",
      field: "mediaUrl",
      message: `is larger than ${TITLE.toLowerCase()} takes. Make it smaller.`,
    },
    {
      status: 415,
      kind: "rejected",
      field: "mediaUrl",
      message: `is of a type that ${TITLE.toLowerCase()} does not take. Give another file.`,
    },
  ],
});

const Addresses = z.array(z.string()).catch([]);

/** The account's own servers, then the usual one. */
function serversOf(io: PlatformIo): string[] {
  const own = Addresses.parse(io.account.limits["fileServers"]);
  const all = [...own, io.setting("BLOSSOM_URL") ?? USUAL_SERVER].filter((url) => parseUrl(url) !== null);
  return [...new Set(all.map((url) => new URL(url).origin))].slice(0, MAX_SERVERS);
}

/** Brings a file to the first server that takes it; nobody sees it before a post names it. */
export async function sendFile(io: PublishIo, name: string, item: MediaItem): Promise<Stored> {
  const { facts } = item;
  const shape = {
    type: facts.type,
    width: facts.width,
    height: facts.height,
    seconds: facts.durationSeconds,
  };
  const file =
    facts.type === "image" ? await fitted(io, item) : { ...facts, ...shape, body: () => item.open() };
  const stored = await sendUnseen(io, {
    step: `upload ${name}`,
    request: { url: item.url },
    send: async () => {
      const { body, sha256, sizeBytes, mimeType, type, width, height, seconds } = file;
      const url = await upload(io, { sha256, sizeBytes, mimeType, body });
      return { url, sha256, sizeBytes, mimeType, type, width, height, seconds };
    },
    isGone: async ({ url }) => isGone(io, url),
  });
  return Stored.parse(stored);
}

async function fitted(io: PublishIo, item: MediaItem) {
  const { bytes, mimeType, width, height } = await io.media.fitImage(item, IMAGE_LIMITS);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    sha256,
    sizeBytes: bytes.length,
    mimeType,
    type: "image",
    width,
    height,
    seconds: null,
    body: bytes,
  };
}

interface Upload {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly mimeType: string;
  /** A fresh stream for each try. */
  readonly body: Buffer | (() => Readable);
}

/** Its address. Throws what the first server said that may say otherwise later, else what the first one did. */
async function upload(io: PublishIo, file: Upload): Promise<string> {
  const faults: PlatformFault[] = [];
  for (const server of serversOf(io)) {
    try {
      return await uploadTo(io, server, file);
    } catch (error) {
      if (!(error instanceof PlatformFault)) throw error;
      faults.push(error);
    }
  }
  throw faults.find(({ kind }) => kind !== "rejected") ?? faults[0] ?? new Error("There is no file server.");
}

async function uploadTo(io: PublishIo, server: string, file: Upload): Promise<string> {
  const authorization = await authorize(io, ownSign(io), file.sha256);
  const { url, sha256 } = await io.ask(
    {
      method: "PUT",
      url: `${server}/upload`,
      headers: {
        authorization,
        "content-type": file.mimeType,
        "content-length": String(file.sizeBytes),
        "x-sha-256": file.sha256,
      },
      body: file.body,
      classify,
      // Files are named by their bytes.
      isIdempotent: true,
      ...UPLOAD_TIMES,
    },
    Descriptor,
  );
  if (sha256 !== file.sha256) throw new PlatformFault("rejected", `${TITLE} changed the file.`);
  return url;
}

/** https://github.com/hzrd149/blossom/blob/master/buds/11.md */
async function authorize(io: Pick<PlatformIo, "now">, sign: Sign, sha256: string): Promise<string> {
  const now = Math.floor(io.now() / 1_000);
  const tags = [
    ["t", "upload"],
    ["x", sha256],
    ["expiration", String(now + HOUR / 1_000)],
  ];
  const text = JSON.stringify(
    await sign({ kind: KIND.fileAuth, created_at: now, tags, content: "Upload a file" }),
  );
  // Of such a length it is the same in every form of base64: older servers want padding, newer ones none.
  const whole = text.padEnd(Math.ceil(text.length / 3) * 3);
  return `Nostr ${Buffer.from(whole).toString("base64url")}`;
}

/** Servers forget what nobody pays for. One that does not want to be asked has it. */
async function isGone(io: PlatformIo, url: string): Promise<boolean> {
  const { status } = await io.request({
    method: "HEAD",
    url,
    classify: (answer) => (answer.status < 500 ? "ok" : null),
  });
  return status === 404 || status === 410;
}
