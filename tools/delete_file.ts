import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { File } from "../src/domain/files/file.ts";
import { deleteFile } from "../src/files/files.ts";
import { askToDeleteFile } from "../src/posts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "delete_file",
  title: "Delete a file",
  description:
    'Delete a file (list_files) for good. Not while a waiting post uses it. Example: {"id":"file_…"}',
  permission: "files",
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  input: z.strictObject({ id: z.string().describe("Its id.") }),
  output: z.strictObject({ file: File, warnings: z.array(Said).describe("Done.") }),
  question: (args, call) => askToDeleteFile(call, args),
  handle: (args, call) => deleteFile(call, args),
});
