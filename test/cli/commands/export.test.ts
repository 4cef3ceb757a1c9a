import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const typesOf = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { type: string }).type);

it("writes lines to standard output, or to a file that was not there", async () => {
  using folder = temporaryFolder();
  await runCli(["call", "upload_file", "{}"], folder);
  expect(typesOf((await runCli(["export"], folder)).stdout)).toEqual(["export", "account", "file", "end"]);
  const file = join(folder.path, "export.jsonl");
  expect(await runCli(["export", file], folder)).toMatchObject({
    status: 0,
    stdout: "",
    stderr: expect.stringContaining("4 lines"),
  });
  expect(typesOf(readFileSync(file, "utf8"))).toEqual(["export", "account", "file", "end"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await runCli(["export", file], folder)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("is there already"),
  });
  expect(await runCli(["export", "--owner", "nobody"], folder)).toMatchObject({ status: 1, stdout: "" });
});
