import * as z from "zod";
import { File, ListFilesArgs } from "../src/domain/files/file.ts";
import { listFiles } from "../src/files/files.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  files: z.array(File).describe("Newest first."),
  nextCursor: z.string().nullable().describe("Null on the last page."),
});

export default defineTool({
  name: "list_files",
  title: "List files",
  description:
    'Stored files, newest first. Use an id as mediaUrl in schedule_post. Example: {"search":"beach"}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: ListFilesArgs,
  output,
  handle: (args, call) => listFiles(call, args),
});
