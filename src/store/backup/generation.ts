import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import type { Db, Query } from "../engine/db.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import { readMeta, setMeta } from "../tables/meta.ts";

/**
 * How far a database has come, written into it and into a file beside it. The file never runs ahead of its own database, so a
 * database that is behind the file is an older copy that somebody put back; one with another id comes from elsewhere.
 */
export interface Generation {
  readonly id: string;
  readonly count: number;
}

const KEY = "generation";
const TEXT = /^([0-9a-f-]{36}) (\d{1,15})$/;

export function newGeneration(): Generation {
  return { id: randomUUID(), count: 0 };
}

/** True for a database that is not, or not any more, the one that the file was last written for. */
export function isOlder(database: Generation, file: Generation | null): boolean {
  return file === null || file.id !== database.id || file.count > database.count;
}

export async function readGeneration(query: Query): Promise<Generation | null> {
  return parse(await readMeta(query, KEY));
}

export function readGenerationOf(raw: SqliteDatabase): Generation | null {
  const row = raw.prepare("SELECT value FROM meta WHERE key = ?").get([KEY]) as { value: string } | undefined;
  return parse(row?.value ?? null);
}

/** Inside a transaction. */
export function writeGeneration(raw: SqliteDatabase, generation: Generation): void {
  setMeta(raw, KEY, textOf(generation));
}

/** Null where there is no such file, or none that can be read: then nothing is known of the folder's past. */
export function readGenerationFile(file: string): Generation | null {
  try {
    return parse(readFileSync(file, "utf8").trim());
  } catch {
    return null;
  }
}

/** Replaces the file as a whole. Synchronous, so that it can be part of a transaction; `isDurable` survives a power loss. */
export function writeGenerationFile(
  file: string,
  generation: Generation,
  { isDurable }: { readonly isDurable: boolean },
): void {
  const temporary = `${file}.${randomUUID()}`;
  const handle = openSync(temporary, "wx", 0o600);
  try {
    writeSync(handle, `${textOf(generation)}\n`);
    if (isDurable) fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}

/** Moves database and file on by one; called now and then while posts go out. */
export async function advanceGeneration(db: Db, file: string): Promise<void> {
  const next = await db.commit((raw) => {
    const { id, count } = readGenerationOf(raw) ?? newGeneration();
    const moved = { id, count: count + 1 };
    writeGeneration(raw, moved);
    return moved;
  });
  // After the database, and only where no other process has gone further: the file must never run ahead.
  const written = readGenerationFile(file);
  if (written === null || written.id !== next.id || written.count < next.count)
    writeGenerationFile(file, next, { isDurable: false });
}

function textOf({ id, count }: Generation): string {
  return `${id} ${count}`;
}

function parse(text: string | null): Generation | null {
  const [, id, count] = TEXT.exec(text ?? "") ?? [];
  return id === undefined || count === undefined ? null : { id, count: Number(count) };
}
