import { hash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readFile, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../domain/errors.ts";
import { plainText, quote } from "../domain/text/plain-text.ts";
import type { CallContext } from "../context.ts";
import { homedir } from "node:os";

/** Without waiting for the other end of a pipe, and no link in the place of the file; Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const NO_LINK = constants.O_NOFOLLOW ?? 0;

/** A longer path could not be read in a question. */
const MAX_ASKED_CHARS = 500;

const ELSE = "Give one that is, give url, or leave path out to get an upload address";

const SENTENCES = {
  set: `path: is not a file below one of the folders in POSTHORN_UPLOAD_FOLDERS, or is hidden there. ${ELSE}.`,
  usual: `path: is not a picture, video or sound in the person's Desktop, Documents, Downloads, Movies, Music, Pictures or Videos folder. ${ELSE}. Or ask them to move it there, or to name its folder in POSTHORN_UPLOAD_FOLDERS.`,
  declined:
    "The person does not want this file to be read, so nothing was done. Ask them which one they mean.",
  closed:
    "path: is outside the open folders. The person was asked and gave no answer, so nothing was done. Ask them what they want, or to move it to their Downloads or Pictures folder.",
} as const;

/**
 * Opens a file of this machine for the person at it, or for their agent: below a folder that is open,
 * nothing hidden in its way, and no link that leads out. Where no folders are set, those are open that a
 * person usually has and those that the client works in; for another picture, film or sound the person is
 * asked. Throws `invalid` with one sentence for what is missing and what may not be read, `conflict` after a
 * no, and `forbidden` where no folder is open.
 */
export async function openLocalFile(call: CallContext, path: string): Promise<FileHandle> {
  const { uploadFolders, homeFolder } = call.ctx.settings;
  assertTaken(call, path);
  const home = await findHome(homeFolder);
  const usual = home === null ? [] : await findUsualFolders(home);
  const named = await Promise.all((uploadFolders ?? []).map(findRealPath));
  const openFolders = uploadFolders === null ? usual : named.filter((folder) => folder !== null);
  const real = await findRealPath(path);
  if (real === null) throw (await isMissingIn(openFolders, path)) ? notThere(path) : notAllowed(call);
  const isOpen = openFolders.includes(real) || isIn(openFolders, real);
  if (!isOpen && (uploadFolders !== null || isHidden(real))) throw notAllowed(call);
  const handle = await open(real, FLAGS | NO_LINK).catch(() => null);
  if (handle === null) throw notAllowed(call);
  try {
    if (isOpen && (await handle.stat()).isDirectory())
      throw new AppError("invalid", "path: is a folder. Give the whole path of one file in it.");
    if (!(await isStill(handle, real))) throw notAllowed(call);
    if (!isOpen && !isIn(await askForFolders(call, home), real)) await ask(call, real, handle);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function assertTaken({ ctx, caller }: CallContext, path: string): void {
  const { uploadFolders } = ctx.settings;
  if (!caller.isLocal) {
    throw new AppError(
      "invalid",
      "path: is only taken where Posthorn runs on your own machine (stdio, command line). Give url, or leave both out to get an upload address.",
    );
  }
  if (uploadFolders?.length === 0) {
    throw new AppError(
      "forbidden",
      "path: no folder is open, as POSTHORN_UPLOAD_FOLDERS says. Give url, or leave both out to get an upload address.",
    );
  }
  if (!isAbsolute(path) || path.includes("\0"))
    throw new AppError(
      "invalid",
      "path: must be absolute, or begin with ~/ for the home folder. Give the whole path of the file.",
    );
  // Windows would sign in at a server that such a path names.
  if (uploadFolders === null && /^[\\/]{2}/.test(path)) throw new AppError("invalid", SENTENCES.usual);
}

/** Whether a path leads into one of these folders, and to nothing. */
async function isMissingIn(folders: readonly string[], path: string): Promise<boolean> {
  const parent = await findRealPath(dirname(path));
  const there = parent === null ? null : await lstat(path).catch(() => null);
  return parent !== null && there === null && isIn(folders, join(parent, basename(path)));
}

function notThere(path: string): AppError {
  return new AppError(
    "invalid",
    `path: there is no file ${quote(path)}. Look at its name, or give url, or leave path out to get an upload address.`,
  );
}

/** The same for a file that is missing and one outside: what lies elsewhere is not told. */
function notAllowed({ ctx }: CallContext): AppError {
  return new AppError("invalid", ctx.settings.uploadFolders === null ? SENTENCES.usual : SENTENCES.set);
}

/** Whether what was opened is a file with content that stands there without links: one may be new in its way. */
async function isStill(handle: FileHandle, real: string): Promise<boolean> {
  const [opened, realNow, there] = await Promise.all([
    handle.stat({ bigint: true }),
    findRealPath(real),
    lstat(real, { bigint: true }).catch(() => null),
  ]);
  const isSame = realNow === real && there?.dev === opened.dev && there.ino === opened.ino;
  return isSame && opened.isFile() && opened.size > 0n;
}

function isIn(open: readonly string[], real: string): boolean {
  return open.some((folder) => isBelow(folder, real) && !isHidden(relative(folder, real)));
}

/** A client that works in all of the home folder says nothing about what may be posted. */
async function askForFolders({ client }: CallContext, home: string | null): Promise<readonly string[]> {
  if (home === null || client?.canAnswer("folders") !== true) return [];
  const { folders } = client.ask({ folders: { kind: "folders" } });
  const paths = folders.uris.flatMap((uri) => {
    try {
      return fileURLToPath(uri);
    } catch {
      return [];
    }
  });
  return findRealFolders(paths, home);
}

/** Throws unless the person at the client agrees. They are only asked about media. */
async function ask(call: CallContext, real: string, handle: FileHandle): Promise<void> {
  const shown = plainText(real, MAX_ASKED_CHARS);
  // A name that looks like another one is no question for a person.
  if (call.client?.canAnswer("form") !== true || shown !== real) throw notAllowed(call);
  const head = Buffer.alloc(call.ctx.probe.headBytes);
  const { bytesRead } = await handle.read(head, { position: 0 });
  const format = await call.ctx.probe.identify(head.subarray(0, bytesRead)).catch(() => null);
  if (format === null || format.type === "other") throw notAllowed(call);
  // One answer is for one file.
  const name = `read-${hash("sha256", real).slice(0, 16)}`;
  const message = `May Posthorn read this file to post it? It is outside the open folders: ${shown}`;
  const schema = { type: "object", properties: {} };
  const { action } = call.client.ask({ [name]: { kind: "form", message, schema } })[name] ?? {};
  if (action === "decline") throw new AppError("conflict", SENTENCES.declined);
  if (action !== "accept") throw new AppError("invalid", SENTENCES.closed);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "is not there",
  ENOTDIR: "is not there",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
};

/**
 * Opens any file that the person at the command line names, from where they are: they could read it as well
 * themselves. Throws `invalid` with the reason.
 */
export async function openOwnFile(path: string): Promise<FileHandle> {
  const refuse = (reason: string): AppError =>
    new AppError(
      "invalid",
      `path: the file ${quote(path)} ${reason}. Give the path of a picture, video or sound.`,
    );
  if (path === "" || path.includes("\0")) throw refuse("has no name that a file can have");
  const handle = await open(resolve(path), FLAGS).catch((error: NodeJS.ErrnoException) => {
    throw refuse(REASONS[error.code ?? ""] ?? "cannot be read");
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw refuse("is no plain file");
}

/** Where people have what they post; macOS calls its videos Movies. */
const NAMES = ["Desktop", "Documents", "Downloads", "Movies", "Music", "Pictures", "Videos"];

/** The same folders where they have other names, as freedesktop.org's `user-dirs.dirs` has them. */
const XDG_LINE = /^XDG_(?:DESKTOP|DOCUMENTS|DOWNLOAD|MUSIC|PICTURES|VIDEOS)_DIR="(\$HOME)?\/([^"]+)"/gm;

/**
 * The folders in which a person usually has pictures, films, sounds and documents, by their real paths: those of the home
 * folder (a real path), of its OneDrive, and what `user-dirs.dirs` names. None that holds the home folder.
 */
async function findUsualFolders(home: string): Promise<readonly string[]> {
  const plain = [home, join(home, "OneDrive")].flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const text = await readFile(join(home, ".config", "user-dirs.dirs"), "utf8").catch(() => "");
  const named = [...text.matchAll(XDG_LINE)].map(([, isBelowHome, path = ""]) =>
    isBelowHome === undefined ? `/${path}` : join(home, path),
  );
  return findRealFolders([...plain, ...named], home);
}

/** Those that are there, without what is hidden in the home folder, and without those that hold all of it. */
async function findRealFolders(paths: readonly string[], home: string): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(findRealPath));
  return found
    .filter((folder) => folder !== null)
    .filter((folder) => folder !== home && !isBelow(folder, home))
    .filter((folder) => !isBelow(home, folder) || !isHidden(relative(home, folder)));
}

/** The home folder's real path; null for a user without one, as containers have them. */
async function findHome(given?: string): Promise<string | null> {
  try {
    return await realpath(given ?? homedir());
  } catch {
    return null;
  }
}

/** `~/` as shells write the home folder, at the beginning of a path; every other path as it is. */
export async function withHome(path: string, homeFolder?: string): Promise<string> {
  const home = /^~[\\/]/.test(path) ? await findHome(homeFolder) : null;
  return home === null ? path : join(home, path.slice(2));
}

/** Whether a path lies below a folder; both without links and relative parts. */
function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether a part of a path is hidden, as keys and settings of programs are. */
export function isHidden(way: string): boolean {
  return way.split(sep).some((part) => part.startsWith("."));
}

/** Null for what is not there. */
function findRealPath(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}
