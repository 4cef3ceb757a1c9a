import { signal } from "@preact/signals";
import type { File as StoredFile } from "../../../../src/domain/files/file.ts";
import { call } from "../../data/tools.ts";
import { contentUrl } from "../../data/wire.ts";

/** Files that were seen here, by their address. */
export const filesByUrl = signal<ReadonlyMap<string, StoredFile>>(new Map());

export function keepFiles(files: readonly StoredFile[]): void {
  filesByUrl.value = new Map([...filesByUrl.value, ...files.map((file) => [file.url, file] as const)]);
}

/** The address at which a video or sound can be played. Null: unknown. */
export function playableUrl(url: string): string | null {
  const file = filesByUrl.value.get(url);
  return file?.type === "video" || file?.type === "audio" ? contentUrl(file.id) : null;
}

/** Looked for, and not found perhaps. */
const asked = new Set<string>();
const MOST_FILES = 500;

/** Looks for the files behind addresses that are not pictures, once for each. Rejects where no answer comes. */
export async function learnFiles(urls: readonly string[], signal: AbortSignal): Promise<void> {
  const unknown = urls.filter(
    (url) => url.startsWith("r2://") && !filesByUrl.value.has(url) && !asked.has(url),
  );
  if (unknown.length === 0) return;
  const { files } = await call("list_files", { limit: MOST_FILES }, { signal });
  for (const url of unknown) asked.add(url);
  keepFiles(files);
}
