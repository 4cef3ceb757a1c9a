import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { probe } from "../../../src/media/probe/run-media-reader.ts";
import { sourceOf } from "../../support/media.ts";
import { pdfOf } from "../../support/pdf.ts";

async function refusal(bytes: Buffer): Promise<string> {
  const error = await probe(sourceOf(bytes)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).kind).toBe("invalid");
  return (error as AppError).message;
}

const changed = (bytes: Buffer, from: string, to: string): Buffer =>
  Buffer.from(bytes.toString("latin1").replace(from, to), "latin1");

/** One packed stream of what an object stream unpacks to. */
function packedAs(unpacked: string, entries: string): Buffer {
  const data = deflateSync(Buffer.from(unpacked, "latin1"));
  const head = `9 0 obj<</Type/ObjStm/Filter/FlateDecode/Length ${data.length} ${entries}>>stream\n`;
  const end = "\nendstream\nendobj\n";
  const rest = pdfOf().subarray("%PDF-1.7\n".length);
  return Buffer.concat([Buffer.from(`%PDF-1.7\n${head}`), data, Buffer.from(end), rest]);
}

describe("a document", () => {
  it("has its pages counted", async () => {
    for (const isPacked of [false, true])
      for (const pages of [1, 2, 301])
        expect(await probe(sourceOf(pdfOf({ pages, isPacked })))).toMatchObject({
          ...{ mimeType: "application/pdf", type: "document", pages },
          ...{ width: null, durationSeconds: null, isAnimated: false },
        });
  });

  it("is read as it was changed last, and each page once", async () => {
    const more = Buffer.from(
      "2 0 obj<</Type/Pages/Kids[3 0 R 2 0 R 5 0 R 77 0 R]>>endobj\n" +
        "5 0 obj<</Type/Pages/Kids 6 0 R>>endobj\n6 0 obj[7 0 R 3 0 R]endobj\n7 0 obj<</Type/Page>>endobj\n" +
        "trailer<</Root 1 0 R>>startxref\n0\n%%EOF",
    );
    expect(await probe(sourceOf(Buffer.concat([pdfOf({ pages: 2 }), more])))).toMatchObject({ pages: 2 });
  });

  it("may hold streams whose length is wrong, stands elsewhere, or is left out", async () => {
    for (const length of ["/Length 9 0 R", "/Length 999999", "/Length 2", ""]) {
      const stream = `<<${length}>>stream\r\nq 1 0 0 1 0 0 cm 8 0 obj<</S/JavaScript>>Q\nendstream`;
      expect(await probe(sourceOf(pdfOf({ objects: [stream] })))).toMatchObject({ pages: 1 });
    }
  });

  it("may hold links, forms, comments, and texts with any sign", async () => {
    const objects = [
      "<</Type/Annot/Subtype/Link/A<</S/URI/URI(https://a.example/\\)(x\\\\))>>>>",
      "<</FT/Tx/T<FEFF0041>/V(JavaScript /JS)>>",
      "% /S /JavaScript\n<</Font<</JS 9 0 R/EF 9 0 R/F 9 0 R>>>>",
      "[true false null -1.5 +2 .5 7 0 R 7 0]",
    ];
    expect(await probe(sourceOf(pdfOf({ objects })))).toMatchObject({ pages: 1 });
  });

  it("is refused without pages, and with a password", async () => {
    expect(await refusal(pdfOf({ pages: 0 }))).toBe("The document (PDF) has no pages. Export it again.");
    for (const isPacked of [false, true])
      expect(await refusal(pdfOf({ trailer: "/Encrypt 9 0 R", isPacked }))).toContain("is encrypted");
    // What is packed cannot be read then.
    const sealed = changed(pdfOf({ isPacked: true, trailer: "/Encrypt 9 0 R" }), "stream\nx", "stream\nX");
    expect(await refusal(sealed)).toContain("is encrypted");
  });

  it("is refused that is cut off, or damaged", async () => {
    const whole = pdfOf({ pages: 3, objects: ["<</Length 3>>stream\nabc\nendstream"] });
    for (const bytes of [
      Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj"),
      whole.subarray(0, whole.length / 2),
      changed(whole, "startxref", "start"),
      changed(whole, "/Root 1", "/Root 9"),
      changed(whole, "endstream", "end"),
      changed(pdfOf({ isPacked: true }), "/FlateDecode", "/LZWDecode"),
      packedAs("1 0 <<>>", "/N 2/First 4"),
      packedAs("1 0 <<>>", "/First 4"),
    ])
      expect(await refusal(bytes)).toBe(
        "The document (PDF) is damaged or cut off and cannot be read. Export it again.",
      );
  });

  it("is refused that would cost more than it may", async () => {
    const spaces = packedAs(`1 0 ${" ".repeat(65 * 1024 * 1024)}`, "/N 1/First 4");
    expect(spaces.length).toBeLessThan(100_000);
    const deep = pdfOf({ objects: ["[".repeat(100_000)] });
    const names = pdfOf({ objects: ["<</A".repeat(100_000)] });
    for (const bytes of [spaces, deep, names])
      expect(await refusal(bytes)).toBe(
        "The document (PDF) takes more to read than an honest one does. Export it again.",
      );
    // One object under many numbers would be read as often.
    const many = `${"1 0 ".repeat(50_000)}[${"1 ".repeat(1_000_000)}]`;
    expect(await refusal(packedAs(many, "/N 50000/First 200000"))).toContain("is damaged");
    expect(await refusal(Buffer.alloc(100_000_001, pdfOf()))).toBe(
      "The document has 100000001 bytes. A document may have at most 100000000.",
    );
  });
});
