import type { Profile } from "./profiles.ts";

export function lengthOf(text: string, { urlLength }: Profile): number {
  const weighed =
    urlLength === null
      ? text
      : text.replace(/https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}']/g, "x".repeat(urlLength));
  return [...new Intl.Segmenter().segment(weighed.replace(/(@\w+)@[\w.-]+\w/g, "$1"))].length;
}

/** As Mastodon shows a plain text. */
export function toHtml(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const linked = escaped
    .replace(/https?:\/\/(\S+?)(?=[\s)]|$)/g, (whole, rest: string) => {
      const scheme = whole.slice(0, whole.length - rest.length);
      return `<a href="${whole}"><span class="invisible">${scheme}</span><span class="">${rest}</span></a>`;
    })
    .replace(/@(\w+)@[\w.-]+\w/g, '<span class="h-card"><a href="#">@<span>$1</span></a></span>');
  const paragraphs = linked.split(/\n{2,}/).map((one) => `<p>${one.replaceAll("\n", "<br />")}</p>`);
  return paragraphs.join("");
}

/** PHP's strip_tags: whatever follows a < at once is a tag, up to the next >. */
export function stripTags(text: string): string {
  return text.replace(/<(?=\S)[^>]*(>|$)/g, "");
}

/** Escapes what is no character reference yet. */
export function toPixelfedHtml(text: string): string {
  const escaped = text
    .replace(/&(?!#?\w+;)/g, "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
  return escaped.replaceAll("\n", "<br />");
}
