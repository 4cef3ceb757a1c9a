import { existsSync, lstatSync, statSync } from "node:fs";
import { access, constants, mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";
import { reasonOf } from "./durable.ts";

/** Makes the data folder where it is missing. Throws `unavailable` with the reason where it cannot be used. */
export async function makeDataPath(path: string): Promise<void> {
  await explainingFolder(path, async () => {
    await makeFolder(path);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  });
}

/** Throws what `makeDataPath` would throw for a missing folder, and does not make it. */
export async function tryDataPath(path: string): Promise<void> {
  await explainingFolder(path, async () => {
    if (linkToNowhere(path) !== null) throw new Error("A part of the path leads nowhere.");
    // Permissions do not tell: in some folders of the system no user can make anything (/proc).
    await rmdir(await mkdtemp(join(nearestFolder(path), ".posthorn-")));
  });
}

const ELSEWHERE = "Point POSTHORN_DATA_DIR at another folder.";
/** Where that may help. */
const WRITABLE = "Make it writable for this user, or point POSTHORN_DATA_DIR at another folder.";
const REFUSED: readonly string[] = ["EACCES", "EPERM", "EROFS"];

/** Node's `recursive` never ends in folders where no user can make anything (/proc). */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    if (codeOf(error) !== "ENOENT" || existsSync(dirname(path))) throw error;
    await makeFolder(dirname(path));
    await makeFolder(path);
  }
}

async function explainingFolder(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const link = linkToNowhere(path);
    const reason =
      link !== null
        ? `${link === path ? "it" : link} is a link, and nothing is where that leads`
        : codeOf(cause) === "ENOENT"
          ? "the system lets no user make a folder there"
          : reasonOf(cause);
    const wayOut = link === null && REFUSED.includes(codeOf(cause)) ? WRITABLE : ELSEWHERE;
    throw new AppError("unavailable", `The data folder ${path} cannot be used: ${reason}. ${wayOut}`, {
      cause,
    });
  }
}

/** The part of the path that is a link to nothing; null where there is none. */
function linkToNowhere(path: string): string | null {
  if (existsSync(path) || dirname(path) === path) return null;
  return isLink(path) ? path : linkToNowhere(dirname(path));
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}
