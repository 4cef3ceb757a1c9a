import type { Sentence } from "../../../../src/domain/sentences.ts";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { linksOf } from "../../../../src/domain/parse-url.ts";
import { inWords, PAGE_WORDS } from "../../../words.ts";

export type Way = NonNullable<PlatformListing["connecting"]>[number];

/** A text in which something can be opened or copied. */
interface TextPart {
  readonly kind: "text" | "link" | "copy";
  readonly text: string;
}

/** `copied`: texts that are to be copied wherever they stand, as the scopes of an app. */
export function partsOf(text: string, copied: readonly string[]): readonly TextPart[] {
  const [next, ...rest] = copied;
  if (next === undefined) return linksOf(text);
  if (next === "") return partsOf(text, rest);
  return text
    .split(next)
    .flatMap((piece, at) => [
      ...(at === 0 ? [] : [{ kind: "copy", text: next } as const]),
      ...(piece === "" ? [] : partsOf(piece, rest)),
    ]);
}

interface Instructions {
  readonly lead: string;
  readonly steps: readonly string[];
  /** What is to be pasted somewhere, after the steps. */
  readonly block: string | null;
}

/** Instructions hold their steps in one text: `Before. 1. First. 2. Second.` */
export function readInstructions(whole: string): Instructions {
  const [text = "", ...lines] = whole.split("\n");
  const block = lines.length === 0 ? null : lines.join("\n");
  const steps: string[] = [];
  let lead = text;
  for (let number = 1, rest = text; ; number += 1) {
    const mark = `${number}. `;
    const found = rest.startsWith(mark) ? 0 : rest.indexOf(` ${mark}`);
    const at = found === -1 ? rest.indexOf(`\n${mark}`) : found;
    const before = (at === -1 ? rest : rest.slice(0, at)).trim();
    if (number === 1) lead = before;
    else steps.push(before);
    if (at === -1) break;
    rest = rest.slice(at).trimStart().slice(mark.length);
  }
  return { lead, steps, block };
}

const APP_NAMES =
  /\bPOSTHORN_[A-Z_]+_CLIENT_ID\b(?: and POSTHORN_[A-Z_]+_CLIENT_SECRET\b)?|\bPOSTHORN_[A-Z_]+_CLIENT_SECRET\b/g;

/** A step of a guide for a person who enters the app here rather than in settings. */
export function stepForPage(step: string): string {
  return step
    .replace(/ and start Posthorn again/, "")
    .replace(APP_NAMES, (names) =>
      names.includes(" and ")
        ? "“App id” and “App secret” below"
        : names.endsWith("_ID")
          ? "“App id” below"
          : "“App secret” below",
    );
}

/** Whose app a way uses, which may be another platform's. Null: what is missing is no app. */
export function appOwner(way: Way, provider: string, known: readonly string[]): string | null {
  const name = way.missing.find((one) => one.endsWith("_CLIENT_ID") || one.endsWith("_CLIENT_SECRET"));
  if (name === undefined) return null;
  const isOf = (one: string): boolean => name.startsWith(`POSTHORN_${one.toUpperCase()}_`);
  return isOf(provider) ? provider : (known.filter(isOf).toSorted((a, b) => b.length - a.length)[0] ?? null);
}

/** Settings that are missing and are no part of an app: they can be set by the administrator alone. */
export function otherMissing(way: Way): readonly string[] {
  return way.missing.filter((name) => !/_CLIENT_(?:ID|SECRET)$/.test(name));
}

/** Whether a person has to say which server is meant before the platform can be opened. */
export function needsServer(listing: Pick<PlatformListing, "provider" | "settings">, way: Way): boolean {
  return (way.kind === "oauth" || way.kind === "redirect") && hasServers(listing);
}

/** What the page to connect asks for, as its form calls it. */
export function askedFor(
  listing: Pick<PlatformListing, "provider" | "settings">,
  way: Way,
  accountId: string | null,
): readonly string[] {
  const asksServer = way.kind === "secrets" && accountId === null && hasServers(listing);
  return [...(asksServer ? ["Server"] : []), ...titlesOf(way)];
}

function titlesOf({ secretsSchema }: Way): readonly string[] {
  const properties = secretsSchema?.["properties"];
  if (typeof properties !== "object" || properties === null) return [];
  return Object.entries(properties).map(([name, schema]: [string, unknown]) => {
    const title = typeof schema === "object" && schema !== null && "title" in schema ? schema.title : name;
    return String(title);
  });
}

/** Whether it has many servers, and none of them is the usual one. */
function hasServers(listing: Pick<PlatformListing, "provider" | "settings">): boolean {
  const name = `POSTHORN_${listing.provider.toUpperCase()}_BASE_URL`;
  const setting = (listing.settings ?? []).find((one) => one.name === name);
  return setting !== undefined && setting.default === null && !setting.isSet;
}

/** Whether the platform sends people back to https addresses alone, and there is none. */
export function cannotComeBack({ setup }: Pick<PlatformListing, "setup">): boolean {
  return (
    setup?.needs.some((need) => need.startsWith("An https address, and this Posthorn has none.")) === true
  );
}

/** Whether the platform sends people back to this server, at the address that it is open at here. */
export function comesBackHere(
  { redirectUrl }: Pick<PlatformListing, "redirectUrl">,
  origin: string,
): boolean {
  return redirectUrl?.startsWith(`${origin}/`) === true;
}

interface Refusal {
  /** The argument that it is about; null: none of them. */
  readonly field: string | null;
  readonly sentence: string;
}

/** What is said of a field of the form belongs beside it. */
export function readRefusal(said: readonly Sentence[], fields: readonly string[]): Refusal {
  const field = said.find((one) => one.field !== null && fields.includes(one.field))?.field ?? null;
  return { field, sentence: inWords(said, PAGE_WORDS) };
}
