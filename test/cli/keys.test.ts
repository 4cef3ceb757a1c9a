import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Created {
  readonly key: string;
  readonly apiKey: { readonly id: string };
}

describe("posthorn keys", () => {
  it("creates, lists and revokes", async () => {
    using folder = temporaryFolder();
    const made = await runCli(["keys", "create", "--name", "Script", "--permissions", "read, publish", "--expires", "90d"], folder);
    const { key, apiKey } = JSON.parse(made.stdout) as Created;
    expect(key).toMatch(/^phk_[0-9a-z]+_[0-9a-f]+$/);
    expect(apiKey).toMatchObject({ name: "Script", permissions: ["read", "publish"], status: "active" });

    const listed = await runCli(["keys", "list"], folder);
    expect(JSON.parse(listed.stdout)).toMatchObject({ keys: [{ id: apiKey.id, status: "active" }] });
    expect(listed.stdout).not.toContain(key.split("_")[2]);

    expect(JSON.parse((await runCli(["keys", "revoke", key], folder)).stdout)).toMatchObject({ apiKey: { status: "revoked" } });
    expect(await runCli(["keys", "revoke", "key_none"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("no such key"),
    });
  });

  it("keeps owners apart", async () => {
    using folder = temporaryFolder();
    await runCli(["keys", "create", "--owner", "alice"], folder);
    expect(JSON.parse((await runCli(["keys", "list"], folder)).stdout)).toEqual({ keys: [] });
    expect(JSON.parse((await runCli(["keys", "list", "--owner", "alice"], folder)).stdout)).toMatchObject({ keys: [{ ownerId: "alice" }] });
  });

  it.each([
    [["--permissions", "read,write"], '"write" is not a permission'],
    [["--expires", "2001-01-01"], "not in the future"],
    [["--accounts", "acc_none"], "acc_none"],
  ])("refuses %j", async (options, sentence) => {
    using folder = temporaryFolder();
    expect(await runCli(["keys", "create", ...options], folder)).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
  });
});
