import { signal } from "@preact/signals";
import type { Upload as TusUpload } from "tus-js-client";
import { textOf, jsonOf } from "../../../shared/json.ts";
import { call } from "../../data/tools.ts";
import { PAGE_HEADERS } from "../../data/wire.ts";

/** A file on its way to the server. */
export interface Upload {
  readonly name: string;
  readonly kind: "image" | "video" | "audio" | "document";
  /** Its bytes on this machine, for a picture of it. */
  readonly localUrl: string;
  readonly sentBytes: number;
  readonly sizeBytes: number;
  readonly state: "sending" | "paused" | "failed" | "done";
  /** Why it failed. */
  readonly sentence: string;
}

/** By the key of its medium. */
export const uploads = signal<ReadonlyMap<string, Upload>>(new Map());

const running = new Map<string, TusUpload>();

/** Why these files cannot go out yet. Null: all are stored. */
export function fileProblem(keys: readonly string[]): string | null {
  const under = keys.flatMap((key) => uploads.value.get(key) ?? []);
  const failed = under.find(({ state }) => state === "failed");
  if (failed !== undefined)
    return `${failed.name} was not stored: ${failed.sentence} Remove it, or send it again.`;
  const isSending = under.some(({ state }) => state !== "done");
  return isSending ? "A file is still being sent. Wait until it is stored, or remove it." : null;
}

/** Null: no picture, video, sound or document. */
export function kindOfFile(file: globalThis.File): Upload["kind"] | null {
  if (file.type === "application/pdf") return "document";
  // Most systems have no name for what phones take.
  if (file.type === "" && /\.hei[cf]$/i.test(file.name)) return "image";
  const [kind] = file.type.split("/");
  return kind === "image" || kind === "video" || kind === "audio" ? kind : null;
}

/** Sends a file. `onStored` gets the address that posts use it by. */
export async function startUpload(
  key: string,
  file: globalThis.File,
  onStored: (url: string) => void,
): Promise<void> {
  put(key, {
    name: file.name,
    kind: kindOfFile(file) ?? "image",
    localUrl: URL.createObjectURL(file),
    sentBytes: 0,
    sizeBytes: file.size,
    state: "sending",
    sentence: "",
  });
  let fileId = "";
  // Most who write pick no file.
  const { Upload } = await import("tus-js-client");
  const upload = new Upload(file, {
    endpoint: "/app/api/files/uploads",
    headers: { ...PAGE_HEADERS },
    metadata: { filename: file.name, filetype: file.type },
    retryDelays: [500, 2_000, 5_000, 10_000],
    removeFingerprintOnSuccess: true,
    onProgress: (sentBytes) => change(key, { sentBytes }),
    onAfterResponse: (_request, response) => {
      const location = response.getHeader("Content-Location") ?? "";
      if (location !== "") fileId = location.slice(location.lastIndexOf("/") + 1);
    },
    onError: (error) => change(key, { state: "failed", sentence: whyNot(error) }),
    onSuccess: () => {
      change(key, { state: "done", sentBytes: file.size });
      running.delete(key);
      void addressOf(fileId).then(onStored);
    },
  });
  // Removed while the sender was being loaded.
  if (!uploads.value.has(key)) return;
  running.set(key, upload);
  // One that was cut off goes on where it stood.
  const [before] = await upload.findPreviousUploads();
  if (before !== undefined) upload.resumeFromPreviousUpload(before);
  upload.start();
}

export function pause(key: string): void {
  void running.get(key)?.abort();
  change(key, { state: "paused" });
}

/** Goes on with one that is paused or failed. */
export function resume(key: string): void {
  change(key, { state: "sending", sentence: "" });
  running.get(key)?.start();
}

/** Ends it, on the server too. */
export function forget(key: string): void {
  void running
    .get(key)
    ?.abort(true)
    .catch(() => {});
  running.delete(key);
  const upload = uploads.value.get(key);
  if (upload === undefined) return;
  URL.revokeObjectURL(upload.localUrl);
  uploads.value = new Map([...uploads.value].filter(([one]) => one !== key));
}

function put(key: string, upload: Upload): void {
  uploads.value = new Map([...uploads.value, [key, upload]]);
}

function change(key: string, set: Partial<Upload>): void {
  const upload = uploads.value.get(key);
  if (upload !== undefined) put(key, { ...upload, ...set });
}

/** A file's id does as its address, too. */
async function addressOf(fileId: string): Promise<string> {
  const { files } = await call("list_files", { limit: 50 }).catch(() => ({ files: [] }));
  return files.find(({ id }) => id === fileId)?.url ?? fileId;
}

/** The server's sentence, where it gave one. */
function whyNot(error: Error & { readonly originalResponse?: { getBody(): string } | null }): string {
  const body = error.originalResponse?.getBody() ?? "";
  try {
    const parsed: unknown = JSON.parse(body);
    const sentence = textOf(jsonOf(parsed)["error"]);
    if (sentence !== "") return sentence;
  } catch {
    // No JSON: the connection broke.
  }
  return "The file could not be sent. Check the connection, then try again.";
}
