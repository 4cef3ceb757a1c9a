import { z } from "zod";

export const FILE_TYPES = ["video", "image", "audio", "other"] as const;
export type FileType = (typeof FILE_TYPES)[number];
export const FILE_STATUSES = ["uploading", "ready", "failed"] as const;

/** A file of the service's own store. */
export const File = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    url: z.string().describe("r2:// address; use it as mediaUrl, or use the id."),
    downloadUrl: z.string().nullable().describe("Signed address that expires; null until the file is ready."),
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
