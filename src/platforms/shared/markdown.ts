import { createRequire } from "node:module";
import type { Marked, Token, TokenizerExtension, Tokens } from "marked";
import { MENTION } from "../../domain/posts/mentions.ts";
import { parseUrl } from "../../domain/parse-url.ts";

/** Words of a text and how they look. */
export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "break" }
  | { readonly kind: "bold" | "italic" | "strike" | "spoiler"; readonly inlines: readonly Inline[] }
  /** `address` is one of the web, or of mail. */
  | { readonly kind: "link"; readonly address: string; readonly inlines: readonly Inline[] }
  | { readonly kind: "mention"; readonly name: string; readonly id: string };

/** What stands on lines of its own. `level` is 1 to 6. */
export type Block =
  | { readonly kind: "paragraph"; readonly inlines: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | null; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "rule" };

/** `||hidden until it is clicked||`, as chat services write it. */
const spoiler: TokenizerExtension = {
  name: "spoiler",
  level: "inline",
  start: (source) => indexOrNone(source, "||"),
  tokenizer(source) {
    const end = source.startsWith("||") ? source.indexOf("||", 2) : -1;
    if (end <= 2) return undefined;
    const text = source.slice(2, end);
    return { type: "spoiler", raw: source.slice(0, end + 2), tokens: this.lexer.inlineTokens(text) };
  },
};

const mention: TokenizerExtension = {
  name: "mention",
  level: "inline",
  start: (source) => indexOrNone(source, "@["),
  tokenizer(source) {
    const found = source.startsWith("@[") ? source.match(MENTION) : null;
    const [raw] = found ?? [];
    if (raw === undefined || !source.startsWith(raw)) return undefined;
    return { type: "mention", raw };
  },
};

function indexOrNone(source: string, sign: string): number | undefined {
  const at = source.indexOf(sign);
  return at === -1 ? undefined : at;
}

/** Apps stop somewhere too: Matrix allows 100 tags within each other. What lies deeper stays as it is written. */
const MAX_DEPTH = 20;

/** Depth limit: each level is parsed again. */
let emphasis = 0;

const require = createRequire(import.meta.url);
const readers = new Map<boolean, Marked>();

/** Loaded with the first text that is read, and not by every start. */
function openReader(hasSpoilers: boolean): Marked {
  const marked: typeof import("marked") = require("marked");
  return new marked.Marked({
    gfm: true,
    breaks: true,
    extensions: hasSpoilers ? [spoiler, mention] : [mention],
    tokenizer: {
      emStrong(...given) {
        if (emphasis > MAX_DEPTH) return undefined;
        emphasis += 1;
        try {
          return marked.Tokenizer.prototype.emStrong.apply(this, given);
        } finally {
          emphasis -= 1;
        }
      },
    },
  });
}

/**
 * Reads Markdown (CommonMark with strikethrough, `||spoilers||` and our mentions). A line end is a line end. HTML is
 * text, a picture is a link to it, and a table stays as it was written. Never throws. `hasSpoilers`: false where bars
 * are bars.
 */
export function readMarkdown(text: string, hasSpoilers = true): readonly Block[] {
  const asWritten: Block = { kind: "paragraph", inlines: linesOf(text) };
  if (text.split(/[*_]/).length > MAX_SIGNS) return [asWritten];
  try {
    const reader = readers.get(hasSpoilers) ?? openReader(hasSpoilers);
    readers.set(hasSpoilers, reader);
    return blocksOf(reader.lexer(text));
  } catch (error) {
    // Thousands of quotations within each other.
    if (!(error instanceof RangeError)) throw error;
    return [asWritten];
  }
}

/** For each the whole rest is looked through for its end: tens of thousands would take many seconds. */
const MAX_SIGNS = 2_000;

/** Character by character: only our mentions are more than what is written. */
function readPlain(text: string): readonly Block[] {
  const inlines: Inline[] = [];
  let at = 0;
  for (const { 0: raw, 1: name = "", 2: id = "", index } of text.matchAll(MENTION)) {
    inlines.push(...linesOf(text.slice(at, index)), { kind: "mention", name, id });
    at = index + raw.length;
  }
  return [{ kind: "paragraph", inlines: [...inlines, ...linesOf(text.slice(at))] }];
}

/** How a post says that its texts are read: `metadata.format`. */
export type TextFormat = "plain" | "markdown" | undefined;

export function readText(text: string, format: TextFormat): readonly Block[] {
  return format === "markdown" ? readMarkdown(text) : readPlain(text);
}

/** What readers see of a text, without how it looks. */
export function textSeen(text: string, format: TextFormat): string {
  return rangesOf(readText(text, format)).text;
}

function blocksOf(tokens: readonly Token[], depth = 0): Block[] {
  return tokens.flatMap((token): Block[] => {
    if (depth > MAX_DEPTH) return [{ kind: "paragraph", inlines: linesOf(token.raw.trimEnd()) }];
    switch (token.type) {
      case "space":
      case "def":
        return [];
      case "heading":
        return [{ kind: "heading", level: Number(token["depth"]), inlines: inlinesOf(token.tokens) }];
      case "blockquote":
        return [{ kind: "quote", blocks: blocksOf(token.tokens ?? [], depth + 1) }];
      case "list":
        return [listOf(token as Tokens.List, depth + 1)];
      case "code":
        return [{ kind: "code", language: String(token["lang"] ?? ""), text: String(token["text"]) }];
      case "hr":
        return [{ kind: "rule" }];
      case "paragraph":
      case "text":
        return [{ kind: "paragraph", inlines: inlinesOf(token.tokens) }];
      default:
        return [{ kind: "paragraph", inlines: linesOf(token.raw.trimEnd()) }];
    }
  });
}

function listOf({ ordered, start, items }: Tokens.List, depth: number): Block {
  return {
    kind: "list",
    start: ordered ? Number(start) : null,
    items: items.map(({ tokens }) => blocksOf(tokens, depth)),
  };
}

const STYLES: Readonly<Record<string, "bold" | "italic" | "strike" | "spoiler">> = {
  strong: "bold",
  em: "italic",
  del: "strike",
  spoiler: "spoiler",
};

function inlinesOf(tokens: readonly Token[] = [], depth = 0): Inline[] {
  return tokens.flatMap((token): Inline[] => {
    if (depth > MAX_DEPTH) return linesOf(token.raw);
    const style = STYLES[token.type];
    if (style !== undefined)
      return [{ kind: style, inlines: inlinesOf((token as Tokens.Strong).tokens, depth + 1) }];
    switch (token.type) {
      case "br":
        return [{ kind: "break" }];
      case "codespan":
        return [{ kind: "code", text: String(token["text"]) }];
      case "link":
        return linkOf(String(token["href"]), inlinesOf(token.tokens, depth + 1), token.raw);
      case "image":
        return linkOf(String(token["href"]), linesOf(String(token["text"])), token.raw);
      case "mention":
        return [...token.raw.matchAll(MENTION)].map(([, name = "", id = ""]) => ({
          kind: "mention",
          name,
          id,
        }));
      case "text":
      case "escape":
        return linesOf(String(token["text"]));
      default:
        return linesOf(token.raw);
    }
  });
}

function linkOf(address: string, inlines: readonly Inline[], raw: string): Inline[] {
  const { protocol = "" } = parseUrl(address) ?? {};
  // An address of mail that stands alone is, more often, that of a person on a server.
  const isTaken = protocol === "mailto:" ? /^[[<]/.test(raw) : /^https?:$/.test(protocol);
  if (!isTaken) return linesOf(raw);
  return [{ kind: "link", address, inlines: inlines.length === 0 ? linesOf(address) : inlines }];
}

function linesOf(text: string): Inline[] {
  return text
    .split("\n")
    .flatMap((line, at): Inline[] => [
      ...(at === 0 ? [] : [{ kind: "break" } as const]),
      ...(line === "" ? [] : [{ kind: "text", text: line } as const]),
    ]);
}

/** How a platform writes what HTML says in other ways. */
export interface HtmlWays {
  /** Default: what HTML takes for markup becomes references. */
  text?(text: string): string;
  mention?(name: string, id: string): string;
  spoiler?(html: string): string;
}

const TAGS = { bold: "strong", italic: "em", strike: "del" } as const;

/** As HTML that holds no more than what was read. */
export function htmlOf(blocks: readonly Block[], ways: HtmlWays = {}): string {
  return blocks.map((block) => blockHtml(block, ways)).join("\n");
}

function blockHtml(block: Block, ways: HtmlWays): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${inlineHtml(block.inlines, ways)}</p>`;
    case "heading":
      return `<h${block.level}>${inlineHtml(block.inlines, ways)}</h${block.level}>`;
    case "quote":
      return `<blockquote>\n${htmlOf(block.blocks, ways)}\n</blockquote>`;
    case "list": {
      const items = block.items.map((item) => `<li>${itemHtml(item, ways)}</li>`).join("\n");
      if (block.start === null) return `<ul>\n${items}\n</ul>`;
      return `<ol${block.start === 1 ? "" : ` start="${block.start}"`}>\n${items}\n</ol>`;
    }
    case "code":
      return `<pre><code>${textHtml(block.text, ways)}</code></pre>`;
    case "rule":
      return "<hr>";
  }
}

/** An item of one paragraph needs no paragraph around it. */
function itemHtml(item: readonly Block[], ways: HtmlWays): string {
  return item
    .map((block) => (block.kind === "paragraph" ? inlineHtml(block.inlines, ways) : blockHtml(block, ways)))
    .join("\n");
}

/** Words alone, for those who write the blocks themselves. */
export function inlineHtml(inlines: readonly Inline[], ways: HtmlWays = {}): string {
  return inlines
    .map((inline): string => {
      switch (inline.kind) {
        case "text":
          return textHtml(inline.text, ways);
        case "code":
          return `<code>${textHtml(inline.text, ways)}</code>`;
        case "break":
          return "<br>";
        case "link":
          return `<a href="${textHtml(inline.address, ways)}">${inlineHtml(inline.inlines, ways)}</a>`;
        case "mention":
          return ways.mention?.(inline.name, inline.id) ?? textHtml(`@${inline.name}`, ways);
        case "spoiler": {
          const html = inlineHtml(inline.inlines, ways);
          return ways.spoiler?.(html) ?? html;
        }
        default:
          return `<${TAGS[inline.kind]}>${inlineHtml(inline.inlines, ways)}</${TAGS[inline.kind]}>`;
      }
    })
    .join("");
}

function textHtml(text: string, { text: write = escapeHtml }: HtmlWays): string {
  return write(text);
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
}

/** Where in a text something holds, in UTF-16 units. */
export type Range = { readonly start: number; readonly end: number } & (
  | { readonly kind: "bold" | "italic" | "strike" | "spoiler" | "code" | "quote" | "heading" }
  | { readonly kind: "block"; readonly language: string }
  | { readonly kind: "link"; readonly address: string }
  | { readonly kind: "mention"; readonly id: string }
);

/** The address, where a link shows nothing else. */
export function bareAddress({ address, inlines }: Extract<Inline, { kind: "link" }>): string | null {
  const [only, ...more] = inlines;
  return only?.kind === "text" && only.text === address && more.length === 0 ? address : null;
}

/** For platforms that take a text and, beside it, what of it looks how. Ranges lie within each other or apart. */
export function rangesOf(
  blocks: readonly Block[],
  mention = (name: string, _id: string): string => `@${name}`,
): { readonly text: string; readonly ranges: readonly Range[] } {
  const written = new RangeWriter(mention);
  written.blocks(blocks, "\n\n");
  return { text: written.text, ranges: written.ranges };
}

type Shape = Range extends infer One ? (One extends Range ? Omit<One, "start" | "end"> : never) : never;

class RangeWriter {
  text = "";
  readonly ranges: Range[] = [];
  private readonly mention: (name: string, id: string) => string;

  constructor(mention: (name: string, id: string) => string) {
    this.mention = mention;
  }

  blocks(blocks: readonly Block[], joint: string): void {
    for (const [at, block] of blocks.entries()) {
      if (at > 0) this.text += joint;
      this.block(block);
    }
  }

  private block(block: Block): void {
    switch (block.kind) {
      case "paragraph":
        return this.inlines(block.inlines);
      case "heading":
        return this.within({ kind: "heading" }, () => this.inlines(block.inlines));
      case "quote":
        return this.within({ kind: "quote" }, () => this.blocks(block.blocks, "\n"));
      case "list":
        for (const [at, item] of block.items.entries()) {
          this.text += `${at === 0 ? "" : "\n"}${block.start === null ? "•" : `${block.start + at}.`} `;
          this.blocks(item, "\n");
        }
        return undefined;
      case "code":
        return this.within({ kind: "block", language: block.language }, () => (this.text += block.text));
      case "rule":
        this.text += "———";
    }
  }

  private inlines(inlines: readonly Inline[]): void {
    for (const inline of inlines) {
      switch (inline.kind) {
        case "text":
          this.text += inline.text;
          break;
        case "break":
          this.text += "\n";
          break;
        case "code":
          this.within({ kind: "code" }, () => (this.text += inline.text));
          break;
        case "mention":
          this.within(
            { kind: "mention", id: inline.id },
            () => (this.text += this.mention(inline.name, inline.id)),
          );
          break;
        case "link":
          this.within({ kind: "link", address: inline.address }, () => this.inlines(inline.inlines));
          break;
        default:
          this.within({ kind: inline.kind }, () => this.inlines(inline.inlines));
      }
    }
  }

  /** The outer one first, so that those of one start are in the order they are opened. */
  private within(shape: Shape, write: () => unknown): void {
    const start = this.text.length;
    const at = this.ranges.length;
    write();
    if (this.text.length > start)
      this.ranges.splice(at, 0, { ...shape, start, end: this.text.length } as Range);
  }
}
