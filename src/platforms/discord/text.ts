/**
 * In this order: addresses as far as Discord takes them, which stay as they are (an escape would become part of
 * them); what begins a line as a list, a heading or a quotation; and what is markup anywhere: emphasis, code,
 * spoilers, links, mentions, emoji, times.
 */
const MARKUP =
  /(https?:\/\/[^\s<]*[^\s<.,:;"'\])])|(^[ \t]*\d+(?=\.\s))|(^[ \t]*(?=[#>+-]))|[\\*_~`|[\]<]/gim;

/**
 * The text so that readers see it character by character: Discord takes a backslash before anything that is
 * neither a letter, a digit nor a space (https://support.discord.com/hc/en-us/articles/210298617).
 */
export function escapeMarkdown(text: string): string {
  return text.replace(
    MARKUP,
    (found: string, address?: string, number?: string, lineStart?: string) =>
      address ?? (number === undefined && lineStart === undefined ? `\\${found}` : `${found}\\`),
  );
}

/** Discord counts what it is sent, escapes among it. */
export function measure(text: string): number {
  return [...escapeMarkdown(text)].length;
}
