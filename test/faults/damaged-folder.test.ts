import {
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
  closeSync,
} from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { INTERNAL_ERROR_SENTENCE } from "../../src/domain/errors.ts";
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PAGE_BYTES = 4_096;

/** One or two sentences and nothing else: no JSON, no stack, no "something went wrong". */
const SENTENCES = /^[^{\n]{10,600}\n$/;

type Env = { readonly env: Readonly<Record<string, string>> };

/** Every way to start; none says more than a sentence of what it finds. */
async function expectSentences(folder: Env, wanted?: RegExp): Promise<number> {
  let refused = 0;
  for (const args of [["call", "list_posts"], ["keys", "list"], ["serve"], ["backup", "/nowhere/x.tar"]]) {
    const run = await runCli(args, {
      env: { ...folder.env, POSTHORN_PORT: "0" },
      onOutput: (output, stop) => void (output.includes("Data folder") && stop()),
    });
    if (run.status === 0) continue;
    refused += 1;
    expect(run.stderr).toMatch(SENTENCES);
    expect(run.stderr).not.toContain(INTERNAL_ERROR_SENTENCE);
    if (wanted !== undefined) expect(run.stderr).toMatch(wanted);
  }
  const doctor = await runCli(["doctor"], folder);
  expect(doctor.stdout).not.toContain(INTERNAL_ERROR_SENTENCE);
  return refused;
}

describe("a damaged data folder", { timeout: 120_000 }, () => {
  it("is told in a sentence, whichever page of the database it is", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    await runCli(["call", "list_accounts"], folder);
    const file = join(data, "posthorn.db");
    const whole = join(folder.path, "whole.db");
    copyFileSync(file, whole);
    const pages = statSync(file).size / PAGE_BYTES;
    let refused = 0;
    // Each third, in turn with what is broken.
    for (let page = 1; page < pages; page += 3) {
      for (const name of readdirSync(data)) if (name.startsWith("posthorn.db")) rmSync(join(data, name));
      copyFileSync(whole, file);
      const handle = openSync(file, "r+");
      writeSync(handle, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, page * PAGE_BYTES);
      closeSync(handle);
      refused += await expectSentences(folder);
    }
    expect(refused).toBeGreaterThan(0);
  });

  it.each(["locks", "posthorn.db", "generation", "secret.key", "posthorn.env"])(
    "is told in a sentence where %s is something else",
    async (name) => {
      using folder = temporaryFolder();
      const place = join(folder.path, "data", name);
      mkdirSync(join(folder.path, "data"), { mode: 0o700 });
      if (name === "locks") writeFileSync(place, "");
      else mkdirSync(place);
      expect(await expectSentences(folder, new RegExp(name))).toBe(4);
    },
  );

  it("is told in a sentence where a link leads nowhere", async () => {
    using folder = temporaryFolder();
    symlinkSync(join(folder.path, "nowhere"), join(folder.path, "data"));
    expect(await expectSentences(folder, /it is a link, and nothing is where that leads/)).toBe(4);
  });

  it.skipIf(platform() !== "linux")("is refused where the system lets nobody make one", async () => {
    const env = { POSTHORN_DATA_DIR: "/proc/foo/bar" };
    expect(await expectSentences({ env }, /The data folder \/proc\/foo\/bar cannot be used/)).toBe(4);
  });
});
