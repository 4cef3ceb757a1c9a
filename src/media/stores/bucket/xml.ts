import { SaxesParser } from "saxes";

export interface XmlElement {
  readonly name: string;
  /** Texts of the elements in it that hold nothing but text. */
  readonly fields: ReadonlyMap<string, string>;
}

interface Open {
  readonly name: string;
  readonly fields: Map<string, string>;
  text: string;
  hasElements: boolean;
}

/**
 * Every element of an S3 answer that holds others, inner ones first: the last is the root. Empty for what is
 * no XML. Entities that a document declares itself are not known, so none of them can grow.
 */
export function readXml(text: string): readonly XmlElement[] {
  const elements: XmlElement[] = [];
  const open: Open[] = [];
  const parser = new SaxesParser();
  parser.on("opentag", ({ name }) => open.push({ name, fields: new Map(), text: "", hasElements: false }));
  parser.on("text", (part) => {
    const inner = open.at(-1);
    if (inner !== undefined) inner.text += part;
  });
  parser.on("closetag", () => {
    const closed = open.pop();
    const outer = open.at(-1);
    if (closed === undefined) return;
    if (outer !== undefined) outer.hasElements = true;
    if (closed.hasElements || outer === undefined) elements.push(closed);
    else outer.fields.set(closed.name, closed.text);
  });
  try {
    parser.write(text).close();
  } catch {
    return [];
  }
  return elements;
}

/** A text in an element that we write. */
export function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
