import * as z from "zod";

export const FILE_TYPES = ["video", "image", "audio", "other"] as const;
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
  search: z.string().max(200).optional().describe("Words in the name or alt text, in any order."),
  type: z.enum(FILE_TYPES).optional().describe("Only files of this type."),
  limit: z.int().min(1).max(500).default(50).describe("Files per page."),
  cursor: z.string().optional().describe("nextCursor of the previous page, with the same filters."),
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
  altText: z.string().max(5_000).optional().describe("What can be seen or heard, for those who cannot."),
});
export type UploadFileArgs = z.infer<typeof UploadFileArgs>;
