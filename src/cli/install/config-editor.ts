import type { Entry } from "./clients.ts";

export type Config = Readonly<Record<string, unknown>>;

/** Section and name of an entry. */
export type EntryPath = readonly [section: string, name: string];

/** Changes one entry of a configuration file and leaves every other character as it is. */
export interface ConfigEditor {
  /** What the text says, the entry at its path with its fields; a string says why it cannot be told. */
  read(text: string, path: EntryPath): Config | string;
  /** `before`: the entry as it is, null where there is none. `wanted`: all that it has then. */
  set(
    text: string,
    path: EntryPath,
    entry: { readonly before: Entry | null; readonly wanted: Entry },
  ): string;
  remove(text: string, path: EntryPath): string;
  /** The entry alone, for somebody who writes it by hand. */
  show(path: EntryPath, entry: Entry): string;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
