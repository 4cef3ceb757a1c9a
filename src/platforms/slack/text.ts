import type { Json } from "../../ports/platform-io.ts";

/** What readers see as it is written: Slack takes these three for markup in every text. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Anything that mrkdwn may read as bold, italics, struck, code, an emoji or a quotation. */
const MARKUP = /[*_~`:]|^[ \t]*>/m;

const ADDRESS = /https?:\/\/[^\s<>]+/g;

/** Whether mrkdwn would show the text otherwise than it is written. Addresses it leaves alone. */
export function hasMarkup(text: string): boolean {
  return MARKUP.test(text.replace(ADDRESS, ""));
}

/**
 * The text as blocks, which know no markup: where a method has no switch that turns it off. Addresses are
 * links of their own.
 */
export function richText(text: string): Json {
  const elements: Json[] = [];
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    if (match.index > at) elements.push({ type: "text", text: text.slice(at, match.index) });
    elements.push({ type: "link", url: match[0], text: match[0] });
    at = match.index + match[0].length;
  }
  if (at < text.length) elements.push({ type: "text", text: text.slice(at) });
  return [{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }];
}
