import { parseUrl } from "../../domain/parse-url.ts";
import { MAX_ADDRESS_CHARS } from "./redirects.ts";

export const MAX_REDIRECTS = 20;
const MAX_NAME_CHARS = 80;

/** What a program calls itself, on one line that reads from left to right. Null: nothing is left. */
export function cleanName(given: string | undefined): string | null {
  const name = (given ?? "").normalize("NFC").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  const short = [...name.replace(/\s+/gu, " ").trim()].slice(0, MAX_NAME_CHARS).join("").trim();
  return short === "" ? null : short;
}

/** A page about the program that a person may look at. */
export function httpsOrNull(given: string | undefined): string | null {
  const url = given === undefined || given.length > MAX_ADDRESS_CHARS ? null : parseUrl(given);
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? url.href : null;
}
