import { plainCall } from "../../services/context.ts";
import { deleteFile } from "../../services/files/files.ts";
import { uploadFile } from "../../services/files/file-imports.ts";
import type { Host, Session } from "../host.ts";
import { shellCaller } from "../local-caller.ts";

const STORED_OR_ELSEWHERE = /^(https?:\/\/|r2:\/\/|file_[0-9a-z]{26}$)/i;

interface BroughtMedia extends AsyncDisposable {
  /** As a post names them. */
  readonly urls: readonly string[];
  /** The post that names them is stored; until then they are taken away again at the end. */
  keep(): void;
}

/** What a post names of its media: files of this machine are stored first. */
export async function bringMedia(
  host: Host,
  { ctx }: Session,
  given: readonly string[],
): Promise<BroughtMedia> {
  const call = plainCall(ctx, shellCaller(), host.stopSignal);
  let brought: string[] = [];
  const remove = async (): Promise<void> => {
    for (const id of brought) await deleteFile(plainCall(ctx, shellCaller()), { id });
  };
  const urls: string[] = [];
  try {
    for (const media of given) {
      const done = STORED_OR_ELSEWHERE.test(media) ? null : await uploadFile(call, { path: media });
      if (done !== null && "file" in done) brought.push(done.file.id);
      urls.push(done !== null && "file" in done ? done.file.id : media);
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const keep = (): void => {
    brought = [];
  };
  return { urls, keep, [Symbol.asyncDispose]: remove };
}
