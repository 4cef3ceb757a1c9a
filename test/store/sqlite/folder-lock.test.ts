import { expect, it } from "vitest";
import { isUnused, shareFolder, takeFolder } from "../../../src/store/local/locks.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("is shared by those who work on the folder, and had alone by who replaces it", () => {
  using folder = temporaryFolder();
  const [first, second] = [shareFolder(folder.path), shareFolder(folder.path)];
  expect(() => takeFolder(folder.path)).toThrow("Posthorn is at work on this data folder");
  first?.release();
  expect(isUnused(folder.path)).toBe(false);
  expect(() => takeFolder(folder.path)).toThrow("Posthorn is at work on this data folder");
  second?.release();
  expect(isUnused(folder.path)).toBe(true);
  const alone = takeFolder(folder.path);
  expect(() => shareFolder(folder.path)).toThrow("being restored");
  expect(() => takeFolder(folder.path)).toThrow("at work");
  alone.release();
  shareFolder(folder.path).release();
});
