import * as z from "zod";
import { File, UploadFileArgs } from "../src/domain/files/file.ts";
import { uploadFile } from "../src/files/file-uploads.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  file: File.optional(),
  uploadUrl: z.string().optional().describe("Where to send the bytes."),
  method: z.literal("PUT").optional().describe("For uploadUrl: PUT."),
  headers: z.record(z.string(), z.string()).optional().describe("To send along."),
  expiresAt: z.iso.datetime().optional().describe("Until when it works."),
});

export default defineTool({
  name: "upload_file",
  title: "Upload a file",
  description:
    "Brings a picture, video, sound or PDF into the store, for mediaUrl in save_draft or schedule_post. With url it is fetched. Without a source: an address for one upload within 15 minutes. " +
    'Example: {"url":"https://example.com/a.jpg","altText":"A lake"}',
  permission: "files",
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  localFields: ["path"],
  input: UploadFileArgs,
  output,
  handle: (args, call) => uploadFile(call, args),
});
