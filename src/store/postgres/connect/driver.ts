import type pg from "pg";
import { AppError } from "../../../domain/errors.ts";

/** The package `pg`, which only those load who set DATABASE_URL. Throws `unavailable` where it is missing. */
export async function loadDriver(): Promise<typeof pg> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw new AppError(
      "unavailable",
      "DATABASE_URL is set, and the package pg, which talks to PostgreSQL, is not installed. Install Posthorn with its optional packages.",
      { cause },
    );
  }
}

/** Types by their numbers in pg_type. */
const INT8 = 20;
const NUMERIC = 1700;

/** Whole numbers as SQLite's drivers give them; what no number holds comes as a BigInt. */
export function numbersAsNumbers({ types }: typeof pg): pg.CustomTypesConfig {
  const parsers: Readonly<Record<number, (text: string) => unknown>> = {
    [INT8]: toNumber,
    [NUMERIC]: Number,
  };
  return {
    getTypeParser: (oid: number, format?: "text" | "binary") =>
      (format !== "binary" && parsers[oid]) || types.getTypeParser(oid, format),
  };
}

function toNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
