import { readdirSync, rmSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeLeftovers, UNFINISHED } from "../../../src/store/backup/durable.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function leave(folder: string, count: number): Promise<string> {
  const data = join(folder, "leftovers");
  await mkdir(data);
  for (let n = 0; n < count; n++) await writeFile(join(data, `${UNFINISHED}${n}`), "");
  return data;
}

it("removes what killed ones left, and nothing else", async () => {
  using folder = temporaryFolder();
  const data = await leave(folder.path, 3);
  await writeFile(join(data, "kept"), "");
  await removeLeftovers(data, UNFINISHED);
  expect(await readdir(data)).toEqual(["kept"]);
});

it("leaves what is being written now, and minds none that is finished while it looks", async () => {
  using folder = temporaryFolder();
  const data = await leave(folder.path, 500);
  const removing = removeLeftovers(data, UNFINISHED, Date.now() - 60_000);
  // It has its list by now, and looks at one after the other.
  await readdir(data);
  expect(readdirSync(data)).toHaveLength(500);
  for (let n = 1; n < 500; n++) rmSync(join(data, `${UNFINISHED}${n}`));
  await removing;
  expect(await readdir(data)).toEqual([`${UNFINISHED}0`]);
});
