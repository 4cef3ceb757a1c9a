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

const Style = z.strictObject({
  bold: z.boolean().optional(),
  italic: z.boolean().optional(),
  strike: z.boolean().optional(),
  code: z.boolean().optional(),
});
const Element = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string().min(1), style: Style.optional() }),
  z.strictObject({
    type: z.literal("link"),
    url: z.url(),
    text: z.string().min(1).optional(),
    style: Style.optional(),
  }),
  z.strictObject({ type: z.literal("user"), user_id: z.string(), style: Style.optional() }),
]);
type Element = z.infer<typeof Element>;
const Elements = z.array(Element).min(1);
const Section = z.strictObject({ type: z.literal("rich_text_section"), elements: Elements });
/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
const Part = z.discriminatedUnion("type", [
  Section,
  z.strictObject({ type: z.literal("rich_text_quote"), elements: Elements }),
  z.strictObject({ type: z.literal("rich_text_preformatted"), elements: Elements }),
  z.strictObject({
    type: z.literal("rich_text_list"),
    style: z.enum(["bullet", "ordered"]),
    elements: z.array(Section).min(1),
    indent: z.int().min(0).max(8).optional(),
    offset: z.int().min(0).optional(),
  }),
]);
type Part = z.infer<typeof Part>;
const Blocks = z
  .array(z.strictObject({ type: z.literal("rich_text"), elements: z.array(Part).min(1) }))
  .max(50);

/** How a word is shown to the test. */
type Show = (element: Element, text: string) => string;

function shownPart(part: Part, show: Show): string {
  const wordsOf = (elements: readonly Element[]): string =>
    elements
      .map((one) =>
        show(
          one,
          one.type === "user"
            ? `@${NAMES[one.user_id] ?? one.user_id}`
            : "text" in one
              ? (one.text ?? "")
              : "",
        ),
      )
      .join("");
  if (part.type !== "rich_text_list") return wordsOf(part.elements);
  const { style, offset = 0 } = part;
  return part.elements
    .map(({ elements }, at) => `${style === "bullet" ? "•" : `${offset + at + 1}.`} ${wordsOf(elements)}`)
    .join("\n");
}

export const NAMES: Readonly<Record<string, string>> = { U0ANN: "Ann", U0BOB: "Bob" };

/** Null where the blocks are none that this knows (`invalid_blocks`). */
export function shownBlocks(blocks: unknown, show: Show = (_element, text) => text): string | null {
  const parsed = Blocks.safeParse(blocks);
  if (!parsed.success) return null;
  const parts = parsed.data.flatMap(({ elements }) => elements);
  return parts
    .map((part, at) => {
      const isGoingOn = part.type === "rich_text_list" && parts[at - 1]?.type === part.type;
      return `${at === 0 ? "" : isGoingOn ? "\n" : "\n\n"}${shownPart(part, show)}`;
    })
    .join("");
}

/** With what each word looks like, and what stands where. */
export function styledBlocks(blocks: unknown): string {
  const show: Show = (element, text) => {
    const styles = Object.keys(element.style ?? {});
    const marks = [...styles, ...(element.type === "text" ? [] : [element.type])].join(" ");
    return marks === "" ? text : `<${marks}>${text}</>`;
  };
  const parsed = Blocks.parse(blocks).flatMap(({ elements }) => elements);
  return parsed
    .map((part) => {
      const kind = part.type.replace("rich_text_", "");
      const depth = part.type === "rich_text_list" ? "+".repeat(part.indent ?? 0) : "";
      return `${kind}${depth}: ${shownPart(part, show)}`;
    })
    .join(" / ");
}
