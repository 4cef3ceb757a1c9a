/** An address, to where its sentence goes on; in the second half, what Markdown and Lemmy's additions read. */
const MARKUP =
  /(https?:\/\/[^\s<>"`\\^[\]{}|]*[^\s<>"`\\^[\]{}|.,;:!?)'*_~])|[\\`*_[\]<>~^|]|&(?=#?\w+;)|^[#=+:-]|(?<=^\d{1,9})[.)]/gu;

/** The text so that readers see it as it was written: Lemmy takes Markdown for every body. */
export function plainMarkdown(text: string): string {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim().replace(MARKUP, escapeSign));
  return lines.reduce((before, line, at) => {
    const isApart = line === "" || lines[at - 1] === "";
    return `${before}${isApart ? "" : "  "}\n${line}`;
  });
}

function escapeSign(sign: string, address?: string): string {
  if (address === undefined) return `\\${sign}`;
  return /[*_~]/.test(address) ? `<${address}>` : address;
}

/** In code points, with what keeps markup from being one. */
export function measure(text: string): number {
  return [...plainMarkdown(text)].length;
}
