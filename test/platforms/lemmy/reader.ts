/** The text of a Markdown body as readers see it, as far as texts meet markup by chance. */
export function shownOf(body: string): string {
  return decode(unmark(body.replace(/\\([!-/:-@[-`{-~])/g, (_whole, sign: string) => encode(sign))));
}

/** Escaped signs stand in a private area meanwhile, where no markup is. */
function encode(sign: string): string {
  return String.fromCodePoint(0xe000 + (sign.codePointAt(0) ?? 0));
}

function decode(text: string): string {
  return text.replace(/[\ue000-\ue0ff]/g, (one) => String.fromCodePoint((one.codePointAt(0) ?? 0) - 0xe000));
}

function unmark(text: string): string {
  return text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<(https?:[^>\s]*)>/g, "$1")
    .replace(/<\/?[a-z][^>]*>/gi, "")
    .replace(/(?<![\w/])([*_]{1,2})(\S(?:.*?\S)?)\1(?!\w)/g, "$2")
    .replace(/~~?(\S(?:[^~]*\S)?)~~?/g, "$1")
    .replace(/\^(\S+?)\^/g, "$1")
    .replace(/`([^`]+)`/g, "$1")
    .replace(/^(?:#{1,6}|>|[-+]|\d+[.)]) /gm, "")
    .replace(/&amp;/g, "&")
    .replace(/ {2}\n/g, "\n")
    .trim();
}
