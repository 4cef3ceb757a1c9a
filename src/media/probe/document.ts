import { AppError } from "../../domain/errors.ts";
import { PdfFault, PdfReference, type PdfValue, readObjects } from "./pdf-objects.ts";

/** Documents are held whole while they are read. No platform but Slack takes larger ones. */
export const MAX_DOCUMENT_BYTES = 100_000_000;

/** Where the end of a whole file is announced. */
const TAIL_BYTES = 4 * 1024;

/** How many pages a PDF has. Throws `invalid` where it is damaged, or encrypted. */
export function inspectDocument(bytes: Buffer): number {
  if (!bytes.includes("startxref", Math.max(0, bytes.length - TAIL_BYTES), "latin1"))
    throw damaged(new Error("It does not say where it ends."));
  try {
    const pages = countPages(bytes);
    if (pages === 0) throw invalid("has no pages. Export it again.");
    return pages;
  } catch (error) {
    if (!(error instanceof PdfFault)) throw error;
    // Packed objects come before the trailer that tells.
    if (!error.isTooMuch) throw bytes.includes("/Encrypt", 0, "latin1") ? encrypted() : damaged(error);
    throw invalid("takes more to read than an honest one does. Export it again.", error);
  }
}

/** The leaves of the tree of pages. Its own count may say anything. */
function countPages(bytes: Buffer): number {
  const found = new Map<number, PdfValue>();
  let root: PdfValue = null;
  for (const { number, value } of readObjects(bytes)) {
    if (number === null && value instanceof Map) {
      if (value.has("Encrypt")) throw encrypted();
      root = value.get("Root") ?? root;
    } else if (number !== null) found.set(number, isOfTree(value) ? value : null);
  }
  const resolve = (value: PdfValue = null): PdfValue =>
    value instanceof PdfReference ? (found.get(value.number) ?? null) : value;
  const catalog = resolve(root);
  if (!(catalog instanceof Map)) throw new PdfFault(false, "It has no catalog.");
  const waiting: PdfValue[] = [catalog.get("Pages") ?? null];
  const seen = new Set<number>();
  let pages = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!(next instanceof PdfReference) || !found.has(next.number) || seen.has(next.number)) continue;
    seen.add(next.number);
    const node = resolve(next);
    const kids = node instanceof Map ? resolve(node.get("Kids")) : null;
    if (Array.isArray(kids)) for (const kid of kids) waiting.push(kid);
    else if (node instanceof Map) pages += 1;
  }
  return pages;
}

/** Of a hundred thousand objects, what leads to the pages is kept. */
function isOfTree(value: PdfValue): boolean {
  if (Array.isArray(value)) return value[0] instanceof PdfReference;
  if (!(value instanceof Map)) return false;
  return ["Pages", "Kids"].some((key) => value.has(key)) || value.get("Type") === "/Page";
}

function invalid(problem: string, cause?: unknown): AppError {
  return new AppError("invalid", `The document (PDF) ${problem}`, { cause });
}

function encrypted(): AppError {
  return invalid("is encrypted. Save it without a password, and give that one.");
}

function damaged(cause: unknown): AppError {
  return invalid("is damaged or cut off and cannot be read. Export it again.", cause);
}
