import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Reader, Store, Tx } from "../engine/store.ts";
import { readMeta, replaceMeta, setMeta } from "../queries/meta.ts";
import { replaceFile } from "./durable.ts";

/**
 * How far a database has come, written into it and into a file beside it. The file never runs ahead of its
 * own database, so a database that is behind the file is an older copy that somebody put back; one with
 * another id comes from elsewhere.
 */
export interface Generation {
  readonly id: string;
  readonly count: number;
}

const KEY = "generation";

/** The ids that a database had before each restore that was noticed, the newest first. */
const FORMER_KEY = "generations_before";
const KEPT_FORMER = 100;
const TEXT = /^([0-9a-f-]{36}) (\d{1,15})$/;

export function newGeneration(): Generation {
  return { id: randomUUID(), count: 0 };
}

/** True for a database that is not, or not any more, the one that the file was last written for. */
export function isOlder(database: Generation, file: Generation | null): boolean {
  return file === null || file.id !== database.id || file.count > database.count;
}

export async function readGeneration(reader: Reader): Promise<Generation | null> {
  return parse(await readMeta(reader, KEY));
}

export function writeGeneration(tx: Tx, generation: Generation): Promise<void> {
  return setMeta(tx, KEY, textOf(generation));
}

/** Replaces what was read; false where another process was faster, and everything must be looked at anew. */
export function replaceGeneration(tx: Tx, from: Generation | null, to: Generation): Promise<boolean> {
  return replaceMeta(tx, KEY, { from: from && textOf(from), to: textOf(to) });
}

/** The ids whose posts have been held back in this database: who still knows it by one of them need not. */
export async function readFormerIds(reader: Reader): Promise<readonly string[]> {
  return (await readMeta(reader, FORMER_KEY))?.split(" ") ?? [];
}

export async function addFormerIds(tx: Tx, ids: readonly string[]): Promise<void> {
  const all = new Set([...ids, ...(await readFormerIds(tx))]);
  await setMeta(tx, FORMER_KEY, [...all].slice(0, KEPT_FORMER).join(" "));
}

/** Null where there is no such file, or none that can be read: then nothing is known of the folder's past. */
export function readGenerationFile(file: string): Generation | null {
  try {
    return parse(readFileSync(file, "utf8").trim());
  } catch {
    return null;
  }
}

/**
 * Replaces the file as a whole. Synchronous, so that it can be part of a transaction; `isDurable` survives a
 * power loss.
 */
export function writeGenerationFile(
  file: string,
  generation: Generation,
  options: { readonly isDurable: boolean },
): void {
  replaceFile(file, `${textOf(generation)}\n`, options);
}

/** Moves database and file on by one; called now and then while posts go out. */
export async function advanceGeneration(store: Store, file: string): Promise<void> {
  const next = await store.write(async (tx) => {
    for (;;) {
      const own = await readGeneration(tx);
      const { id, count } = own ?? newGeneration();
      const moved = { id, count: count + 1 };
      if (await replaceGeneration(tx, own, moved)) return moved;
    }
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
