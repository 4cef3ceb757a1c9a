import { plural } from "../../domain/plain-text.ts";
import * as z from "zod";
import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import { quote } from "../../domain/time.ts";
import { plainCall } from "../../context.ts";
import { deleteFile } from "../../files/files.ts";
import { uploadFile } from "../../files/file-uploads.ts";
import type { Host, Session } from "../host.ts";
import { collect, parseJson, requireFileName } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { File } from "../../domain/files/file.ts";
import { printList } from "./views.ts";

export interface ContentOptions {
  readonly media: readonly string[];
  readonly alt: readonly string[];
  readonly title?: string;
  readonly link?: string;
  readonly set: readonly string[];
}

export function addContentOptions(command: Command): Command {
  return command
    .option("--media <file>", "a file, an address or the id of a stored file (may be repeated)", collect, [])
    .option("--alt <text>", "what can be seen in it, for each --media in turn", collect, [])
    .option("--title <title>", "its title, where the platform has one")
    .option("--link <address>", "a link, where the platform has one")
    .option(
      "--set <key=value>",
      "another field of the platform, null to empty it (may be repeated)",
      collect,
      [],
    );
}

/** The media of a post, and its platform's fields, as `schedule_post` takes them. Throws `invalid`. */
export function readMetadata(
  { title, link, alt, set }: ContentOptions,
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
  return { urls, keep: () => void (brought = []), [Symbol.asyncDispose]: remove };
}

interface UploadOptions {
  readonly alt?: string;
  readonly name?: string;
  readonly json?: true;
}

export function addUploadCommand(program: Command, host: Host): void {
  program
    .command("upload")
    .description("store a picture, video, sound or PDF, to be posted by its id")
    .argument("<file>", "a file, or an address to fetch it from")
    .option("--alt <text>", "what can be seen or heard")
    .option("--name <name>", "its name in lists (default: the file's own name)")
    .option("--json", "print JSON on a terminal, too")
    .action(async (given: string, { alt: altText, name, json }: UploadOptions) => {
      requireFileName(given);
      await using session = await host.openSession();
      const source = /^https?:\/\//i.test(given) ? { url: given } : { path: given };
      const args = { ...source, altText, name };
      const { result } = await session.toolbox.call("upload_file", args, shellCaller(), {
        signal: host.stopSignal,
      });
      const { file } = z.object({ file: File }).parse(result);
      const isTable = host.terminal.isScreen && json !== true;
      await printList(host, session, { result: isTable ? { files: [file] } : { file }, json });
    });
}
