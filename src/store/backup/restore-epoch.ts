import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Reader, Store, Tx } from "../engine/store.ts";
import { readMeta, replaceMeta, setMeta } from "../queries/meta.ts";
import { replaceFile } from "./durable.ts";

/**
 * The restore epoch: how far a database has come. It stands in the database and in a file beside it, which never
 * runs ahead. So a database that is behind the file is an older copy that was put back, and one with another id
 * comes from elsewhere.
 */
export interface RestoreEpoch {
  readonly id: string;
  readonly count: number;
}

const KEY = "generation";

/** The ids that a database had before each restore that was noticed, the newest first. */
const FORMER_KEY = "generations_before";
const KEPT_FORMER = 100;
const TEXT = /^([0-9a-f-]{36}) (\d{1,15})$/;

export function newEpoch(): RestoreEpoch {
  return { id: randomUUID(), count: 0 };
}

/** True for a database that is older than the file, or another one. */
export function isOlder(database: RestoreEpoch, file: RestoreEpoch | null): boolean {
  return file === null || file.id !== database.id || file.count > database.count;
}

export async function readEpoch(reader: Reader): Promise<RestoreEpoch | null> {
  return parse(await readMeta(reader, KEY));
}

export function writeEpoch(tx: Tx, epoch: RestoreEpoch): Promise<void> {
  return setMeta(tx, KEY, textOf(epoch));
}

/** Replaces what was read. False where another process was first: then the caller starts again. */
export function replaceEpoch(tx: Tx, from: RestoreEpoch | null, to: RestoreEpoch): Promise<boolean> {
  return replaceMeta(tx, KEY, { from: from && textOf(from), to: textOf(to) });
}

/** Former ids of this database. Its posts were held back for them already. */
export async function readFormerIds(reader: Reader): Promise<readonly string[]> {
  return (await readMeta(reader, FORMER_KEY))?.split(" ") ?? [];
}

export async function addFormerIds(tx: Tx, ids: readonly string[]): Promise<void> {
  const all = new Set([...ids, ...(await readFormerIds(tx))]);
  await setMeta(tx, FORMER_KEY, [...all].slice(0, KEPT_FORMER).join(" "));
}

/** Whether a database goes on from another one, so that it knows all that happened since to that. */
export async function goesOnFrom(later: Reader, earlier: Reader): Promise<boolean> {
  const [own, before] = [await readEpoch(later), await readEpoch(earlier)];
  if (own === null || before === null) return false;
  if (own.id === before.id) return own.count >= before.count;
  return (await readFormerIds(later)).includes(before.id);
}

/** Null where the file is missing or cannot be read. Then the folder's past is unknown. */
export function readEpochFile(file: string): RestoreEpoch | null {
  try {
    return parse(readFileSync(file, "utf8").trim());
  } catch {
    return null;
  }
}

export function writeEpochFile(
  file: string,
  epoch: RestoreEpoch,
  options: { readonly isDurable: boolean },
): void {
  replaceFile(file, `${textOf(epoch)}\n`, options);
}

/** Raises the count in the database and the file. Called from time to time while posts go out. */
export async function advanceEpoch(store: Store, file: string): Promise<void> {
  const next = await store.write(async (tx) => {
    for (;;) {
      const own = await readEpoch(tx);
      const { id, count } = own ?? newEpoch();
      const moved = { id, count: count + 1 };
      if (await replaceEpoch(tx, own, moved)) return moved;
    }
  });
  // After the database, and only where no other process has gone further: the file must never run ahead.
  const written = readEpochFile(file);
  if (written === null || written.id !== next.id || written.count < next.count)
    writeEpochFile(file, next, { isDurable: false });
}

function textOf({ id, count }: RestoreEpoch): string {
  return `${id} ${count}`;
}

function parse(text: string | null): RestoreEpoch | null {
  const [, id, count] = TEXT.exec(text ?? "") ?? [];
  return id === undefined || count === undefined ? null : { id, count: Number(count) };
}
