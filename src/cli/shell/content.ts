import { plural, quote } from "../../domain/text/plain-text.ts";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import { plainCall } from "../../context.ts";
import { deleteFile } from "../../files/files.ts";
import { uploadFile } from "../../files/file-uploads.ts";
import { type CommandArgs, JSON_TOO, many, type Row } from "../command.ts";
import type { Host } from "../host.ts";
import { parseJson, requireFileName } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { File } from "../../domain/files/file.ts";
import { type Shell, shellRow } from "./shell.ts";
import { showList } from "./views.ts";

/** What is posted beside the text. */
export const CONTENT = {
  "--media <file>": many("a file, an address or the id of a stored file (may be repeated)"),
  "--alt <text>": many("what can be seen in it, for each --media in turn"),
  "--title <title>": "its title, where the platform has one",
  "--link <address>": "a link, where the platform has one",
  "--set <key=value>": many("another field of the platform, null to empty it (may be repeated)"),
} as const;

export type Content = CommandArgs<typeof CONTENT>;

/** A text, of standard input where it is `-`. */
export async function readText({ terminal }: Host, text: string | undefined): Promise<string | undefined> {
  return text === "-" ? (await terminal.readAll()).trimEnd() : text;
}

/** The media of a post, and its platform's fields, as `schedule_post` takes them. Throws `invalid`. */
export function readMetadata(
  { title, link, alt, set }: Content,
  [mediaUrl, ...more]: readonly string[],
): { mediaUrl?: string; metadata?: Metadata } {
  const count = mediaUrl === undefined ? 0 : more.length + 1;
  if (alt.length > count)
    throw new AppError(
      "invalid",
      `--alt: ${plural(alt.length, "text stands", "texts stand")} for ${plural(count, "file")}. Give one for each --media, in their order.`,
    );
  const [altText, ...moreAlt] = alt;
  const moreMedia = more.map((url, at) => {
    const text = moreAlt[at] ?? "";
    return text === "" ? { url } : { url, altText: text };
  });
  const metadata: Metadata = {
    ...(title === undefined ? {} : { title }),
    ...(link === undefined ? {} : { link }),
    ...(altText === undefined || altText === "" ? {} : { altText }),
    ...(moreMedia.length === 0 ? {} : { moreMedia }),
    ...Object.fromEntries(set.map(readField)),
  };
  return {
    ...(mediaUrl === undefined ? {} : { mediaUrl }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

const WHOLE_VALUE = /^(?:true|false|null|-?\d+(?:\.\d+)?|[[{"].*)$/s;

/** Values that look like JSON are JSON; everything else is a text. */
function readField(given: string): [string, Metadata[string]] {
  const at = given.indexOf("=");
  if (at < 1)
    throw new AppError(
      "invalid",
      `--set: ${quote(given)} is not key=value. Give for example --set visibility=unlisted.`,
    );
  const key = given.slice(0, at);
  const text = given.slice(at + 1);
  if (!WHOLE_VALUE.test(text)) return [key, text];
  const advice = `A string that begins like JSON is given as --set '${key}="…"'.`;
  return [key, z.json().parse(parseJson({ source: `--set ${key}`, text, advice }))];
}

const STORED_OR_ELSEWHERE = /^(https?:\/\/|r2:\/\/|file_[0-9a-z]{26}$)/i;

interface BroughtMedia extends AsyncDisposable {
  /** As a post names them. */
  readonly urls: readonly string[];
  /** The post that names them is stored; until then they are taken away again at the end. */
  keep(): void;
}

/** What a post names of its media: files of this machine are stored first. */
export async function bringMedia({ ctx, call }: Shell, given: readonly string[]): Promise<BroughtMedia> {
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
  return { urls, keep: () => void (brought = []), [Symbol.asyncDispose]: remove };
}

export const UPLOAD: Row = shellRow({
  name: "upload",
  about: "store a picture, video, sound or PDF, to be posted by its id",
  takes: {
    "<file>": "a file, or an address to fetch it from",
    "--alt <text>": "what can be seen or heard",
    "--name <name>": "its name in lists (default: the file's own name)",
    "--json": JSON_TOO,
  },
  async answer(at, { file: given, alt: altText, name }) {
    requireFileName(given);
    const source = /^https?:\/\//i.test(given) ? { url: given } : { path: given };
    return z.object({ file: File }).parse(await at.use("upload_file", { ...source, altText, name }));
  },
  view: (at, { file }) => showList(at, { files: [file] }),
});
