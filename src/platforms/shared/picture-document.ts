/** A page: one picture, as large as it is. */
interface PicturePage {
  /** A JPEG. */
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
  /** Read out by programs for people who cannot see it. */
  readonly altText: string | null;
}

/** The numbers of the first objects. Each page has four more. */
const [CATALOG, PAGES, TREE, INFO, FIRST] = [1, 2, 3, 4, 5];
const PER_PAGE = 4;

/** A PDF (ISO 32000-1) of JPEGs, which it holds as they are. */
export function documentOf(pages: readonly PicturePage[], title: string): Buffer {
  const first = (at: number): number => FIRST + at * PER_PAGE;
  const figureOf = (at: number): number => first(at) + 3;
  const told = [...pages.keys()].filter((at) => pages[at]?.altText !== null);
  const objects: (string | Buffer)[][] = [
    [
      `<</Type/Catalog/Pages ${PAGES} 0 R/StructTreeRoot ${TREE} 0 R/MarkInfo<</Marked true>>/ViewerPreferences<</DisplayDocTitle true>>>>`,
    ],
    [
      `<</Type/Pages/Count ${pages.length}/Kids[${[...pages.keys()].map((at) => `${first(at)} 0 R`).join(" ")}]>>`,
    ],
    [
      `<</Type/StructTreeRoot/K[${told.map((at) => `${figureOf(at)} 0 R`).join(" ")}]` +
        `/ParentTree<</Nums[${told.map((at) => `${at}[${figureOf(at)} 0 R]`).join(" ")}]>>>>`,
    ],
    [`<</Title ${textOf(title)}>>`],
    ...pages.flatMap((page, at) => objectsOf(page, { at, first: first(at) })),
  ];
  return written(objects);
}

/** The page, what is drawn on it, the picture, and what the picture shows. */
function objectsOf(
  { bytes, width, height, altText }: PicturePage,
  { at, first }: { readonly at: number; readonly first: number },
): (string | Buffer)[][] {
  const drawing = `q ${width} 0 0 ${height} 0 0 cm /I Do Q`;
  const content = altText === null ? `/Artifact BMC ${drawing} EMC` : `/Figure<</MCID 0>>BDC ${drawing} EMC`;
  const head =
    `<</Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8` +
    `${coloursOf(bytes)}/Filter/DCTDecode/Length ${bytes.length}>>stream\n`;
  return [
    [
      `<</Type/Page/Parent ${PAGES} 0 R/MediaBox[0 0 ${width} ${height}]/Contents ${first + 1} 0 R` +
        `/Resources<</XObject<</I ${first + 2} 0 R>>>>${altText === null ? "" : `/StructParents ${at}`}>>`,
    ],
    [`<</Length ${content.length}>>stream\n${content}\nendstream`],
    [head, bytes, "\nendstream"],
    [
      altText === null
        ? "null"
        : `<</Type/StructElem/S/Figure/P ${TREE} 0 R/Pg ${first} 0 R/K 0/Alt ${textOf(altText)}>>`,
    ],
  ];
}

/** With the table of places that readers begin at. */
function written(objects: readonly (readonly (string | Buffer)[])[]): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  const write = (part: string | Buffer): void => {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(part, "latin1");
    parts.push(bytes);
    length += bytes.length;
  };
  write("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n");
  const places = objects.map((object, at) => {
    const place = length;
    write(`${at + 1} 0 obj\n`);
    object.forEach(write);
    write("\nendobj\n");
    return place;
  });
  const table = length;
  write(`xref\n0 ${places.length + 1}\n0000000000 65535 f \n`);
  for (const place of places) write(`${String(place).padStart(10, "0")} 00000 n \n`);
  write(`trailer\n<</Size ${places.length + 1}/Root ${CATALOG} 0 R/Info ${INFO} 0 R>>\n`);
  write(`startxref\n${table}\n%%EOF\n`);
  return Buffer.concat(parts, length);
}

/** A text in UTF-16. */
function textOf(text: string): string {
  return `<FEFF${Buffer.from(text, "utf16le").swap16().toString("hex")}>`;
}

/** JPEGs of four colours say how much is left out of white. */
function coloursOf(jpeg: Buffer): string {
  const channels = channelsOf(jpeg);
  if (channels === 1) return "/ColorSpace/DeviceGray";
  return channels === 4 ? "/ColorSpace/DeviceCMYK/Decode[1 0 1 0 1 0 1 0]" : "/ColorSpace/DeviceRGB";
}

/** ITU-T T.81, B.2.2: the head of the frame, SOF0 to SOF15 without DHT, JPG and DAC. */
function channelsOf(jpeg: Buffer): number {
  for (let at = 2; at + 10 <= jpeg.length && jpeg[at] === 0xff; at += 2 + jpeg.readUInt16BE(at + 2)) {
    const marker = jpeg[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return jpeg[at + 9] ?? 0;
  }
  return 3;
}
