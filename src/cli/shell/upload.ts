import type { Command } from "commander";
import * as z from "zod";
import { File } from "../../domain/files/file.ts";
import type { Host } from "../host.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { printList } from "./views.ts";

interface UploadOptions {
  readonly alt?: string;
  readonly name?: string;
  readonly json?: true;
}

export function addUploadCommand(program: Command, host: Host): void {
  program
    .command("upload")
    .description("store a picture, video or sound, to be posted by its id")
    .argument("<file>", "a file, or an address to fetch it from")
    .option("--alt <text>", "what can be seen or heard")
    .option("--name <name>", "its name in lists (default: the file's own name)")
    .option("--json", "print JSON on a terminal, too")
    .action((file: string, options: UploadOptions) => upload(host, file, options));
}

async function upload(host: Host, file: string, { alt, name, json }: UploadOptions): Promise<void> {
  await using session = await host.openSession();
  const source = /^https?:\/\//i.test(file) ? { url: file } : { path: file };
  const args = { ...source, altText: alt, name };
  const { result } = await session.toolbox.call("upload_file", args, shellCaller(), {
    signal: host.stopSignal,
  });
  const { file: stored } = z.object({ file: File }).parse(result);
  const isTable = host.terminal.isScreen && json !== true;
  await printList(host, session, isTable ? { files: [stored] } : { file: stored }, json);
}
