import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { comeBack, leadOn, readAnswer } from "../../../src/channels/connecting/consent.ts";
import { AppError } from "../../../src/domain/errors.ts";
import type { MediaSource } from "../../../src/ports/media.ts";
import type { Tables } from "../../../src/store/schema/tables.ts";
import { callOf, type TestContext } from "../../support/context.ts";
import { CLIP, CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";
import { queryOf } from "../../support/handles.ts";

export const PNG_URL = "https://media.example/bilder/größe.png";
const PNG = {
  bytes: Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
  mimeType: "image/png",
  width: 64,
  height: 48,
};

export interface StageMedia extends MediaSource {
  /** What Meta's fetcher finds at an address; null: nothing. */
  fetched(url: string): Buffer | null;
}

interface Fetching {
  readonly photo?: typeof PHOTO;
  /** Films lie where nobody on the internet can fetch them. */
  readonly isHome?: boolean;
}

/** Media of the stages, with addresses that the platform fetches; what does not fit becomes a JPEG. */
export function createFetchedMedia({ photo = PHOTO, isHome = false }: Fetching = {}): StageMedia {
  const files = new Map([
    [PHOTO_URL, photo],
    [CLIP_URL, CLIP],
    [PNG_URL, PNG],
  ]);
  const copies = new Map<string, Buffer>();
  const memory = createMemoryMedia(files);
  return {
    ...memory,
    fetched: (url) =>
      copies.get(url) ?? [...files].find(([known]) => new URL(known).href === url)?.[1].bytes ?? null,
    forPost(owner, signal) {
      const source = memory.forPost(owner, signal);
      return {
        ...source,
        async fitImage(item, limits) {
          if (limits.mimeTypes.includes(item.facts.mimeType)) return source.fitImage(item, limits);
          return { ...PHOTO, isChanged: true };
        },
        async publicUrl(media) {
          if (isHome && !("bytes" in media) && media.facts.type === "video")
            throw new AppError("invalid", "The platform cannot reach this Posthorn.");
          if (!("bytes" in media)) return media.url;
          const url = `https://posthorn.example/public/${copies.size + 1}.jpg`;
          copies.set(url, media.bytes);
          return url;
        },
      };
    },
  };
}

interface Consent {
  readonly provider: string;
  readonly way?: string;
  agree(url: string): string;
}

/** Connects as a person does: address, consent, and the way back. Throws what stands in the way. */
export async function connectByConsent(
  ctx: TestContext,
  { provider, way, agree }: Consent,
): Promise<Tables["accounts"][]> {
  const call = callOf(ctx);
  const { url } = await connectChannel(call, { provider, ...(way === undefined ? {} : { way }) });
  const led = await leadOn(call, { token: (url ?? "").split("/").at(-1) ?? "" });
  if (led.state !== "lead") throw new Error(`The consent did not begin: ${JSON.stringify(led)}`);
  const done = await comeBack(call, { answer: readAnswer(agree(led.url)), isBegunHere: true });
  if (done.state !== "connected") throw new Error(await whyNot(ctx, done));
  return queryOf(ctx.store).selectFrom("accounts").selectAll().orderBy("created_at").execute();
}

async function whyNot(ctx: TestContext, done: object): Promise<string> {
  const row = await queryOf(ctx.store)
    .selectFrom("connections")
    .select("error")
    .orderBy("created_at", "desc")
    .executeTakeFirst();
  return row?.error ?? JSON.stringify(done);
}
