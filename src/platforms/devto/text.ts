/**
 * In this order: addresses with the signs that follow them, which stay as they are (an escape would become part of the
 * link); what Forem takes for its own tags (https://dev.to/p/editor_guide,
 * Liquid); blanks that would make a line code; and markup.
 */
const MARKUP = /(\bhttps?:\/\/[^\s<>{`]+)|(\{[{%])|(^[ \t](?=[ \t]))|([&<>])|[\\`*_[\]()#+\-.!|~^=:$]/gim;

/** The text so that readers see it character by character. */
export function escapeMarkdown(text: string): string {
  return text.replace(
    MARKUP,
    (found: string, address?: string, liquid?: string, blank?: string, sign?: string) =>
      address ??
      (liquid !== undefined
        ? `{% raw %}${liquid}{% endraw %}`
        : blank === undefined && sign === undefined
          ? `\\${found}`
          : `&#${found.charCodeAt(0)};`),
  );
}
