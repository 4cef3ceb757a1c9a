import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { rangesOf, readMarkdown } from "./markdown.ts";

/** For a preview: what readers see of a text that is Markdown where `format` says so, and that is rewritten by us. */
export function shownAs(format: string | undefined): { write?(text: string): string } {
  return format === "markdown" ? { write: (text) => rangesOf(readMarkdown(text)).text } : {};
}

/**
 * For a preview, where the platform reads Markdown itself: readers see the bars of `||spoilers||`, which only chat
 * services know, and what counts is what is sent.
 */
export function shownThere(text: string | null, format: string | undefined): { body?: string } {
  return format === "markdown" ? { body: rangesOf(readMarkdown(text ?? "", false)).text } : {};
}

/** Where a plain text is weighed with what keeps its signs: one in Markdown is sent as it is. */
export function captionAs<C extends StatedCapabilities["caption"]>(
  caption: C,
  format: string | undefined,
): C {
  return format === "markdown" ? { ...caption, unit: "characters" } : caption;
}
