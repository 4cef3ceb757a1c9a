import { markdownEscaper } from "../shared/text/markdown.ts";
import type { RedditPost } from "./metadata.ts";

/** https://www.reddit.com/wiki/markdown: emphasis, code, superscript, spoilers, tables, links, entities. */
const escapeMarkdown = markdownEscaper({ starts: "#>+=-", signs: "\\\\*_~`^|[\\]<>&" });

/** As a plain text, which Reddit counts with its escapes. */
function escape(text: string): string {
  return escapeMarkdown(text).replace(/(?<!\n)\n(?!\n)/g, "  \n");
}

export function measure(text: string): number {
  return [...escape(text)].length;
}

/** The body as Reddit is given it: read character by character, each line a line, unless it is Markdown. */
export function bodyOf({ caption, metadata }: RedditPost): string {
  const text = caption ?? "";
  return metadata.markdown === true ? text : escape(text);
}
