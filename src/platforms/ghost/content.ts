import { WEB_ADDRESS } from "../../domain/posts/caption.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { GhostPost } from "./metadata.ts";

/** A file on the site that no post shows yet. */
export type Uploaded = {
  readonly type: string;
  readonly url: string;
  readonly mimeType: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly seconds: number | null;
};

/** An item of the post, as its author describes it. */
export interface Shown extends Uploaded {
  readonly altText: string;
}

/** More do not fit into a gallery of Ghost's editor. */
const MAX_IN_GALLERY = 9;

/** The article as Ghost's editor keeps it (https://lexical.dev), JSON in a text: media first, then the text. */
export function lexicalOf({ caption, metadata: { format } }: GhostPost, media: readonly Shown[]): string {
  const text = caption ?? "";
  const written =
    format === "markdown" || format === "html"
      ? [{ type: format, version: 1, [format]: text }]
      : paragraphsOf(text);
  const children = [...cardsOf(media), ...written];
  return JSON.stringify({ root: { ...BLOCK, type: "root", children } });
}

const BLOCK = { version: 1, direction: "ltr", format: "", indent: 0 } as const;

function paragraphsOf(text: string): JsonObject[] {
  const paragraphs = text.replaceAll("\r\n", "\n").split(/\n{2,}/);
  return paragraphs
    .filter((one) => one !== "")
    .map((one) => ({
      ...BLOCK,
      type: "paragraph",
      children: one
        .split("\n")
        .flatMap((line, at) => [...(at === 0 ? [] : [{ type: "linebreak", version: 1 }]), ...lineOf(line)]),
    }));
}

const ADDRESSES = new RegExp(`(${WEB_ADDRESS.source})`, "i");

/** Addresses become links. */
function lineOf(line: string): JsonObject[] {
  return line.split(ADDRESSES).flatMap((text, at): JsonObject[] => {
    if (text === "") return [];
    const plain = {
      type: "extended-text",
      version: 1,
      detail: 0,
      format: 0,
      mode: "normal",
      style: "",
      text,
    };
    return at % 2 === 0 ? [plain] : [{ ...BLOCK, type: "link", url: text, children: [plain] }];
  });
}

/** Pictures that follow each other are a gallery. */
function cardsOf(media: readonly Shown[]): JsonObject[] {
  const cards: JsonObject[] = [];
  let row: Shown[] = [];
  const endRow = (): void => {
    if (row.length > 0) cards.push(row.length === 1 ? pictureOf(row) : galleryOf(row));
    row = [];
  };
  for (const one of media) {
    if (one.type !== "image" || row.length === MAX_IN_GALLERY) endRow();
    if (one.type === "image") row.push(one);
    else cards.push(playedOf(one));
  }
  endRow();
  return cards;
}

function pictureOf([one]: readonly Shown[]): JsonObject {
  return one === undefined ? {} : { type: "image", version: 1, ...figureOf(one) };
}

function figureOf({ url, altText, width, height }: Shown): JsonObject {
  return { src: url, alt: altText, title: "", caption: "", width, height };
}

function galleryOf(row: readonly Shown[]): JsonObject {
  const images = row.map((one, at) => ({
    ...figureOf(one),
    fileName: one.url.split("/").at(-1) ?? "",
    row: Math.floor(at / 3),
  }));
  return { type: "gallery", version: 1, images, caption: "" };
}

function playedOf({ type, url, mimeType, altText, width, height, seconds }: Shown): JsonObject {
  const played = { version: 1, src: url, mimeType, duration: seconds };
  if (type === "audio") return { ...played, type: "audio", title: altText };
  const size = { width: width ?? 640, height: height ?? 360 };
  // The caption of a video is HTML, and nothing else of it is.
  const caption = altText.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return { ...played, ...size, type: "video", caption, fileName: url.split("/").at(-1) ?? "" };
}
