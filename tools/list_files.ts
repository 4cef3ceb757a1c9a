import { z } from "zod";
import { File, FILE_TYPES } from "../src/domain/files/file.ts";
import { listFiles } from "../src/services/files/files.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  files: z.array(File).describe("Newest first."),
  nextCursor: z.string().nullable().describe("Null on the last page."),
});

export default defineTool({
  name: "list_files",
  title: "List files",
  description:
    'Lists the stored media files, newest first, a page at a time. Use a file\'s id or url as mediaUrl in schedule_post. Example: {"search": "beach", "type": "image"}.',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({
    search: z.string().max(200).optional().describe("Words in the name or alt text, in any order."),
    type: z.enum(FILE_TYPES).optional().describe("Only files of this type."),
    limit: z.int().min(1).max(500).default(50).describe("Files per page."),
    cursor: z.string().optional().describe("nextCursor of the previous page, with the same filters."),
  }),
  output,
  handle: (args, call) => listFiles(call, args),
});
