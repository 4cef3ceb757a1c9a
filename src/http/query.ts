import type { Request } from "express";
import { AppError } from "../domain/errors.ts";
import { quote } from "../domain/text/plain-text.ts";
import { requireWholeTexts } from "../domain/whole-text.ts";

/** How a query parameter becomes an argument: text as it is, a comma list, a whole number, or 1 and 0. */
export type QueryKind = "text" | "list" | "integer" | "flag";

export type QueryRules = Readonly<Record<string, QueryKind>>;

const FLAGS: Readonly<Record<string, boolean>> = { "1": true, true: true, "0": false, false: false };

/** The arguments in an address. An empty one is not given. Throws `invalid` for wrong ones. `hasBody`: it takes one. */
export function readQuery(
  request: Request,
  rules: QueryRules,
  { hasBody = false }: { readonly hasBody?: boolean } = {},
): Record<string, unknown> {
  const given = new URLSearchParams(/\?(.*)$/s.exec(request.originalUrl)?.[1] ?? "");
  const names = [...new Set(given.keys())];
  refuseUnknown(names, rules, hasBody);
  const entries = names.map(
    (name) => [name, readOne(name, given.getAll(name), rules[name] ?? "text")] as const,
  );
  const query = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  requireWholeTexts(query);
  return query;
}

function refuseUnknown(names: readonly string[], rules: QueryRules, hasBody: boolean): void {
  const unknown = names.filter((name) => !Object.hasOwn(rules, name)).map(quote);
  if (unknown.length === 0) return;
  const known = Object.keys(rules);
  const taken = known.length === 0 ? "This address takes none." : `The parameters are ${known.join(", ")}.`;
  const hint = hasBody ? `${taken} Fields belong in the body, as JSON.` : taken;
  const shown = unknown.slice(0, 5).join(", ");
  throw new AppError(
    "invalid",
    `${shown} ${unknown.length === 1 ? "is not a known query parameter" : "are not known query parameters"}. ${hint}`,
  );
}

function readOne(name: string, values: readonly string[], kind: QueryKind): unknown {
  if (values.length > 1) {
    const hint = kind === "list" ? "Separate several values by commas." : "Give it once.";
    throw new AppError("invalid", `${name}: is given more than once. ${hint}`);
  }
  const value = values[0] ?? "";
  return value === "" ? undefined : READERS[kind](name, value);
}

const READERS: Record<QueryKind, (name: string, value: string) => unknown> = {
  text: (_name, value) => value,
  list: (_name, value) => {
    const parts = value.split(",").map((part) => part.trim());
    const filled = parts.filter((part) => part !== "");
    return filled.length === 0 ? undefined : filled;
  },
  integer: (name, value) => {
    if (/^-?\d{1,15}$/.test(value)) return Number(value);
    throw new AppError("invalid", `${name}: ${quote(value)} is not a whole number.`);
  },
  flag: (name, value) => {
    const flag = FLAGS[value];
    if (flag !== undefined) return flag;
    throw new AppError("invalid", `${name}: ${quote(value)} is neither 1 nor 0.`);
  },
};
