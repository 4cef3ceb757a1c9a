import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import type { BlueskyMetadata } from "./metadata.ts";
import type { Part } from "./parts.ts";
import { POST } from "./records.ts";
import { findSpans, toFacets, type Span } from "./rich-text.ts";
import { pdsOf, resolveHandle } from "./session.ts";

type LookupIo = Pick<PlatformIo, "ask" | "account" | "setting" | "log">;

/** What of a record follows from text and metadata alone; an edit replaces just this. */
export async function contentOf(part: Part, metadata: BlueskyMetadata, io: LookupIo): Promise<JsonObject> {
  const spans = findSpans(part.text);
  const facets = toFacets(part.text, spans, await resolveMentions(spans, io));
  const langs = metadata.langs ?? (metadata.language === undefined ? [] : [metadata.language]);
  const label = metadata.contentLabel ?? (metadata.sensitive === true ? "graphic-media" : null);
  return {
    $type: POST,
    text: part.text,
    ...(facets.length === 0
      ? {}
      : {
          facets: facets.map((facet) => ({
            index: { ...facet.index },
            features: facet.features.map((feature) => ({ ...feature })),
          })),
        }),
    ...(langs.length === 0 ? {} : { langs: [...langs] }),
    ...(metadata.tags === undefined || metadata.tags.length === 0
      ? {}
      : { tags: metadata.tags.map((tag) => tag.replace(/^[#＃]/, "")) }),
    ...(label === null
      ? {}
      : { labels: { $type: "com.atproto.label.defs#selfLabels", values: [{ val: label }] } }),
  };
}

async function resolveMentions(spans: readonly Span[], io: LookupIo): Promise<Map<string, string>> {
  const dids = new Map<string, string>();
  for (const handle of new Set(spans.filter((span) => span.kind === "mention").map((span) => span.value))) {
    const did = await resolveMention(handle, io);
    if (did !== null) dids.set(handle, did);
  }
  return dids;
}

/**
 * A server that answers but cannot find out (the handle's own domain is down) must not hold the post back: it
 * stays text.
 */
async function resolveMention(handle: string, io: LookupIo): Promise<string | null> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await resolveHandle(io, pdsOf(io), handle);
    } catch (error) {
      if (!(error instanceof PlatformFault) || error.httpStatus === null || error.kind === "rate")
        throw error;
      if (tries > 0) {
        io.log.warn(
          { handle, status: error.httpStatus },
          "a mentioned handle could not be looked up and stays plain text",
        );
        return null;
      }
    }
  }
}
