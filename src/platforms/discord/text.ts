import { markdownEscaper } from "../shared/text/markdown.ts";

/**
 * The text so that readers see it character by character: Discord takes a backslash before anything that is
 * neither a letter, a digit nor a space (https://support.discord.com/hc/en-us/articles/210298617).
 */
export const escapeMarkdown = markdownEscaper({
  starts: "#>+-",
  // Emphasis, code, spoilers, links, mentions, emoji, times.
  signs: "\\\\*_~`|[\\]<",
});

/** Discord counts what it is sent, escapes among it. */
export function measure(text: string): number {
  return [...escapeMarkdown(text)].length;
}
