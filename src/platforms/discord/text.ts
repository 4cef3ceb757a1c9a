import { escapeMarkdown as escape } from "../shared/text/markdown.ts";

/** Emphasis, code, spoilers, links, mentions, emoji, times. */
const MARKUP = { starts: "#>+-", signs: "\\\\*_~`|[\\]<" };

/**
 * The text so that readers see it character by character: Discord takes a backslash before anything that is
 * neither a letter, a digit nor a space (https://support.discord.com/hc/en-us/articles/210298617).
 */
export function escapeMarkdown(text: string): string {
  return escape(text, MARKUP);
}

/** Discord counts what it is sent, escapes among it. */
export function measure(text: string): number {
  return [...escapeMarkdown(text)].length;
}
