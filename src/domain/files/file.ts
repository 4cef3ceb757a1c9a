import { decodedPart } from "../text/read-text.ts";
import * as z from "zod";

export const FILE_TYPES = ["video", "image", "audio", "document", "other"] as const;
export type FileType = (typeof FILE_TYPES)[number];
export const FILE_STATUSES = ["uploading", "ready", "failed"] as const;

/** A file of the service's own store. */
export const File = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    url: z.string().describe("r2:// address. Use it or the id as mediaUrl."),
    downloadUrl: z.string().nullable().describe("Signed address that expires. Null until the file is ready."),
    mimeType: z.string(),
    type: z.enum(FILE_TYPES),
    sizeBytes: z.int().min(0),
    width: z.int().nullable(),
    height: z.int().nullable(),
    durationSeconds: z.number().nullable(),
    pages: z.int().nullable().describe("Of a document."),
    sha256: z.string().nullable(),
    altText: z.string().nullable(),
    status: z.enum(FILE_STATUSES),
    usedByPosts: z.int().min(0).describe("Waiting posts that use it."),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: "File" });
export type File = z.infer<typeof File>;

/** Which files, and which page of them. */
export const ListFilesArgs = z.strictObject({
  search: z.string().max(200).optional().describe("Words in the name or alt text."),
  type: z.enum(FILE_TYPES).optional().describe("Only files of this type."),
  limit: z.int().min(1).max(500).default(50).describe("Files per page."),
  cursor: z.string().optional().describe("nextCursor of the previous page."),
});
export type ListFilesArgs = z.infer<typeof ListFilesArgs>;

/** Where a file comes from; without `url` and `path` its bytes are sent to an address. */
export const UploadFileArgs = z.strictObject({
  url: z.string().optional().describe("http(s) address to fetch the file from."),
  path: z
    .string()
    .optional()
    .describe(
      "A file of this machine, absolute or from ~/: in the person's Desktop, Documents, Downloads, Pictures, … or the project. They may be asked for others.",
    ),
  name: z.string().min(1).max(255).optional().describe("File name. Default: from the address."),
  altText: z.string().max(5_000).optional().describe("What can be seen or heard."),
});
export type UploadFileArgs = z.infer<typeof UploadFileArgs>;

const MAX_NAME_CHARS = 200;

/** Control characters, and those that turn the direction of text: a name must look like what it is. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Characters that some file systems and shells give a meaning to. */
const RESERVED = /[<>:"|?*]/g;

/** What a file is by its MIME type, where its bytes are not at hand. */
export function fileTypeOf(mimeType: string): FileType {
  if (mimeType === "application/pdf") return "document";
  const [kind] = mimeType.split("/");
  return FILE_TYPES.find((type) => type === kind) ?? "other";
}

/** Where the store has the picture of an own file without what is personal. It goes with the file. */
export function keyOfCleanCopy(fileId: string): string {
  return `clean/${fileId}`;
}

/** What the file at an address is called; null where the address does not say. */
export function nameInAddress(url: string): string | null {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  return last === "" ? null : decodedPart(last);
}

/** A name for display and downloads, never for a path: clean, and with the extension of its content. */
export function cleanFileName(name: string | null, extension: string): string {
  const [stem, ending] = cleanName(name);
  return isSameKind(ending, extension)
    ? `${stem}.${ending}`
    : `${stem}${ending === "" ? "" : `.${ending}`}.${extension}`;
}

/** The same without an ending. */
export function titleOfFile(name: string | null): string {
  return cleanName(name)[0];
}

function cleanName(name: string | null): [string, string] {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? "";
  const shown = last.replace(UNSEEN, "").replace(RESERVED, "_").replace(/\s+/g, " ").trim();
  const bare = shown.replace(/^\.+/, "");
  const [stem, ending] = splitEnding(bare === "" ? "file" : bare);
  return [[...stem].slice(0, MAX_NAME_CHARS).join("").trim(), ending];
}

function splitEnding(name: string): [string, string] {
  const match = /^(.+)\.([A-Za-z0-9]{1,8})$/.exec(name);
  return match?.[1] === undefined || match[2] === undefined ? [name, ""] : [match[1], match[2]];
}

const OTHER_SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  jpg: ["jpeg", "jpe", "jfif"],
  png: ["apng"],
  tiff: ["tif"],
  heic: ["heif"],
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
