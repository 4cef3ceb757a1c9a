import * as z from "zod";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { inOrder, itemsOf, lastingAddress } from "../shared/media.ts";
import { repeatableStep } from "../shared/reconcile.ts";
import { Article, call } from "./api.ts";
import { type DevtoPost, escapeMarkdown } from "./metadata.ts";

export const IMAGE_LIMITS = {
  maxBytes: 25_000_000,
  mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
} as const;

/** A draft, which only its author sees; at its time it is published. Both may be asked for again. */
export async function publish(post: DevtoPost, io: PublishIo): Promise<PublishOutcome> {
  // The addresses of our own files are others each time.
  const fields = await io.once("article", () => toFields(post, io));
  const id = await repeatableStep<number>(io, {
    step: "draft",
    request: fields,
    send: ({ timesSent }) => makeDraft(fields, timesSent > 0, io),
  });
  if (!io.isDue) return { state: "held", platformPostId: String(id), platformUrl: null };
  const url = await io.effect<string | null>({
    step: "publish",
    request: { id },
    send: async () => (await change(io, String(id), { published: true })).url,
    reconcile: async () => ({ outcome: "send_again" }),
    live: (platformUrl) => ({ platformPostId: String(id), platformUrl }),
  });
  return { state: "live", platformPostId: String(id), platformUrl: url };
}

/** Forem takes no second article of the same title and text: the first one is ours, from an earlier try. */
async function makeDraft(fields: JsonObject, isAgain: boolean, io: PublishIo): Promise<number> {
  const found = isAgain ? await findDraft(fields, io) : null;
  if (found !== null) return found.id;
  try {
    const json = { article: { ...fields, published: false } };
    return (await call(io, { method: "POST", path: "/articles", json }, Article)).id;
  } catch (error) {
    const isTaken = error instanceof PlatformFault && error.httpStatus === 422;
    const mine = isTaken ? await findDraft(fields, io) : null;
    if (mine === null) throw error;
    return mine.id;
  }
}

/** The newest come first, and with all of their text. */
const NEWEST = { per_page: 10 } as const;

async function findDraft(
  { title, body_markdown: body }: JsonObject,
  io: PlatformIo,
): Promise<Article | null> {
  const drafts = await call(io, { path: "/articles/me/unpublished", query: NEWEST }, z.array(Article));
  const isSame = (one: Article): boolean =>
    one.title === title && (one.body_markdown ?? "").trim() === String(body).trim();
  return drafts.find(isSame) ?? null;
}

/** Changes only what is named. */
export function change(io: PlatformIo, id: string, article: JsonObject): Promise<Article> {
  return call(io, { method: "PUT", path: pathOf(id), json: { article }, isIdempotent: true }, Article);
}

export const pathOf = (id: string): string => `/articles/${encodeURIComponent(id)}`;

/** All that is said of an article: DEV keeps what is left out. */
export async function toFields(post: DevtoPost, io: PublishIo): Promise<JsonObject> {
  const { title, description, tags, series, canonicalUrl, organizationId, thumbnailUrl } = post.metadata;
  return {
    title: title.trim(),
    body_markdown: await toBody(post, io),
    tags: tags ?? [],
    ...(description === undefined ? {} : { description }),
    ...(series === undefined ? {} : { series }),
    ...(canonicalUrl === undefined ? {} : { canonical_url: canonicalUrl }),
    ...(organizationId === undefined ? {} : { organization_id: organizationId }),
    ...(thumbnailUrl === undefined
      ? {}
      : { main_image: await publicAddress(thumbnailUrl, "thumbnailUrl", io) }),
  };
}

async function toBody(post: DevtoPost, io: PublishIo): Promise<string> {
  const pictures = await inOrder(itemsOf(post), async ({ url, altText }) => {
    const alt = escapeMarkdown((altText ?? "").replace(/\s+/g, " "));
    return `![${alt}](${await publicAddress(url, "mediaUrl", io)})`;
  });
  const text = post.caption ?? "";
  const written = post.metadata.format === "markdown" ? text : escapeMarkdown(text);
  return [...pictures, written].filter((part) => part !== "").join("\n\n");
}

/** DEV keeps no pictures: it fetches them from where they lie, now and again. */
export async function publicAddress(url: string, field: string, io: PublishIo): Promise<string> {
  const address = await lastingAddress(url, { field, title: "DEV", limits: IMAGE_LIMITS }, io);
  return address.replace(/[()\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}
