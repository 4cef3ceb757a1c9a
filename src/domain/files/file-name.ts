const MAX_NAME_CHARS = 200;

/** Control characters, and those that turn the direction of text: a name must look like what it is. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Characters that some file systems and shells give a meaning to. */
const RESERVED = /[<>:"|?*]/g;

/**
 * A name for display and for downloads, never for a path: its last part, without hidden characters, and with
 * the extension that its content has.
 */
export function cleanFileName(name: string | null, extension: string): string {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? "";
  const shown = last.replace(UNSEEN, "").replace(RESERVED, "_").replace(/\s+/g, " ").trim();
  const bare = shown.replace(/^\.+/, "");
  const [stem, ending] = splitEnding(bare === "" ? "file" : bare);
  const short = [...stem].slice(0, MAX_NAME_CHARS).join("").trim();
  return isSameKind(ending, extension)
    ? `${short}.${ending}`
    : `${short}${ending === "" ? "" : `.${ending}`}.${extension}`;
}

function splitEnding(name: string): [string, string] {
  const match = /^(.+)\.([A-Za-z0-9]{1,8})$/.exec(name);
  return match?.[1] === undefined || match[2] === undefined ? [name, ""] : [match[1], match[2]];
}

const OTHER_SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  jpg: ["jpeg", "jpe", "jfif"],
  png: ["apng"],
  tiff: ["tif"],
  mp4: ["m4v"],
  m4v: ["mp4"],
  mov: ["qt"],
  m4a: ["mp4"],
  ts: ["m2ts", "mts"],
  ogg: ["oga", "opus"],
  opus: ["ogg", "oga"],
};

function isSameKind(ending: string, extension: string): boolean {
  const lower = ending.toLowerCase();
  return lower === extension || (OTHER_SPELLINGS[extension]?.includes(lower) ?? false);
}
