import { deflateSync } from "node:zlib";

interface Pdf {
  readonly pages?: number;
  /** From number 10_000 on. */
  readonly objects?: readonly string[];
  readonly trailer?: string;
  /** Objects lie in a packed stream, as of PDF 1.5. */
  readonly isPacked?: boolean;
}

/** A document of empty pages. */
export function pdfOf({ pages = 1, objects = [], trailer = "", isPacked = false }: Pdf = {}): Buffer {
  const kids = Array.from({ length: pages }, (_, at) => at + 3);
  const all: (readonly [number, string])[] = [
    [1, `<</Type/Catalog/Pages 2 0 R>>`],
    [2, `<</Type/Pages/Count ${pages}/Kids[${kids.map((kid) => `${kid} 0 R`).join(" ")}]>>`],
    ...kids.map((kid) => [kid, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>"] as const),
    ...objects.map((object, at) => [10_000 + at, object] as const),
  ];
  const body = isPacked ? packed(all, trailer) : `${plain(all)}trailer\n<</Root 1 0 R ${trailer}>>\n`;
  return Buffer.from(`%PDF-1.7\n${body}startxref\n0\n%%EOF\n`, "latin1");
}

function plain(all: readonly (readonly [number, string])[]): string {
  return all.map(([number, text]) => `${number} 0 obj\n${text}\nendobj\n`).join("");
}

function packed(all: readonly (readonly [number, string])[], trailer: string): string {
  let place = 0;
  const places = all.map(([number, text]) => {
    const head = `${number} ${place} `;
    place += text.length + 1;
    return head;
  });
  const first = places.join("").length;
  const data = deflateSync(`${places.join("")}${all.map(([, text]) => text).join("\n")}`).toString("latin1");
  const entries = `/Type/ObjStm/N ${all.length}/First ${first}/Filter/FlateDecode/Length ${data.length}`;
  return (
    `20000 0 obj\n<<${entries}>>stream\n${data}\nendstream\nendobj\n` +
    `20001 0 obj\n<</Type/XRef/Root 1 0 R/Length 0 ${trailer}>>stream\n\nendstream\nendobj\n`
  );
}
