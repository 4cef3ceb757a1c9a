import { z } from "zod";

const unescape = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** What stands between < and > is a mention or a link, whatever the switch for markup says. */
function readTags(text: string): string {
  return text.replace(/<([^>]*)>/g, (_all, tag: string) => `[${tag.split("|")[1] ?? tag}]`);
}

/** A text as readers see it. */
export function shownText(text: string, isMarkdown: boolean): string {
  const tagged = readTags(text);
  if (!isMarkdown) return unescape(tagged);
  const marked = tagged
    .replace(/([*_~`])(\S(?:.*?\S)?)\1/g, "$2")
    .replace(/:[a-z_]+:/g, "(emoji)")
    .replace(/^&gt;/gm, "");
  return unescape(marked);
}

const Element = z.strictObject({
  type: z.enum(["text", "link"]),
  text: z.string().min(1).optional(),
  url: z.url().optional(),
});
const Section = z.strictObject({ type: z.literal("rich_text_section"), elements: z.array(Element).min(1) });
const Blocks = z
  .array(z.strictObject({ type: z.literal("rich_text"), elements: z.array(Section).min(1) }))
  .max(50);

/** Null where the blocks are none that this knows (`invalid_blocks`). */
export function shownBlocks(blocks: unknown): string | null {
  const parsed = Blocks.safeParse(blocks);
  if (!parsed.success) return null;
  const sections = parsed.data.flatMap(({ elements }) => elements);
  return sections
    .flatMap(({ elements }) => elements)
    .map(({ text, url }) => text ?? url ?? "")
    .join("");
}
