import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

/** Where people have what they post; macOS calls its videos Movies. */
const NAMES = ["Desktop", "Documents", "Downloads", "Movies", "Music", "Pictures", "Videos"];

/** The same folders where they have other names, as freedesktop.org's `user-dirs.dirs` has them. */
const XDG_LINE = /^XDG_(?:DESKTOP|DOCUMENTS|DOWNLOAD|MUSIC|PICTURES|VIDEOS)_DIR="(\$HOME)?\/([^"]+)"/gm;

/**
 * The folders in which a person usually has pictures, films and sounds, by their real paths: those of the home
 * folder (a real path), of its OneDrive, and what `user-dirs.dirs` names. None that holds the home folder.
 */
export async function usualFolders(home: string): Promise<readonly string[]> {
  const places = [home, join(home, "OneDrive")];
  const plain = places.flatMap((place) => NAMES.map((name) => join(place, name)));
  return realFolders([...plain, ...(await xdgFolders(home))], home);
}

/** Those that are there, without what is hidden in the home folder, and without those that hold all of it. */
export async function realFolders(paths: readonly string[], home: string): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(realPath));
  return found
    .filter((folder) => folder !== null)
    .filter((folder) => folder !== home && !isBelow(folder, home))
    .filter((folder) => !isBelow(home, folder) || !isHidden(relative(home, folder)));
}

/** The home folder's real path; null for a user without one, as containers have them. */
export async function findHome(given?: string): Promise<string | null> {
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
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether a part of a path is hidden, as keys and settings of programs are. */
export function isHidden(way: string): boolean {
  return way.split(sep).some((part) => part.startsWith("."));
}

/** Null for what is not there. */
export function realPath(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

async function xdgFolders(home: string): Promise<string[]> {
  const text = await readFile(join(home, ".config", "user-dirs.dirs"), "utf8").catch(() => "");
  return [...text.matchAll(XDG_LINE)].map(([, isBelowHome, path = ""]) =>
    isBelowHome === undefined ? `/${path}` : join(home, path),
  );
}
