import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PERMISSIONS } from "../../../src/domain/permissions.ts";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Created {
  readonly key: string;
  readonly apiKey: { readonly id: string };
}

describe("posthorn keys", () => {
  it("creates, lists and revokes", async () => {
    using folder = temporaryFolder();
    const made = await runCli(
      ["keys", "create", "--name", "Script", "--permissions", "read, publish", "--expires", "90d"],
      folder,
    );
    const { key, apiKey } = JSON.parse(made.stdout) as Created;
    expect(key).toMatch(/^phk_[0-9a-z]+_[0-9a-f]+$/);
    expect(apiKey).toMatchObject({ name: "Script", permissions: ["read", "publish"], status: "active" });

    const listed = await runCli(["keys", "list"], folder);
    expect(JSON.parse(listed.stdout)).toMatchObject({ keys: [{ id: apiKey.id, status: "active" }] });
    expect(listed.stdout).not.toContain(key.split("_")[2]);

    expect(JSON.parse((await runCli(["keys", "revoke", key], folder)).stdout)).toMatchObject({
      apiKey: { status: "revoked" },
    });
    expect(await runCli(["keys", "revoke", "key_none"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("no such key"),
    });
  });

  it.each([
    ["key_<id>", (id: string) => id],
    ["<id>", (id: string) => id.replace(/^key_/, "")],
  ])("revokes a key that is named by %s", async (_form, name) => {
    using folder = temporaryFolder();
    const { apiKey } = JSON.parse((await runCli(["keys", "create"], folder)).stdout) as Created;
    const revoked = await runCli(["keys", "revoke", name(apiKey.id)], folder);
    expect(JSON.parse(revoked.stdout)).toMatchObject({ apiKey: { id: apiKey.id, status: "revoked" } });
  });

  it("makes a publisher's key that says so, unless another role is asked for", async () => {
    using folder = temporaryFolder();
    const make = async (...options: string[]) => {
      const { stdout, stderr } = await runCli(["keys", "create", ...options], folder);
      return { apiKey: (JSON.parse(stdout) as Created).apiKey, stderr };
    };
    const plain = await make("--name", "Nightly");
    expect(plain.apiKey).toMatchObject({
      role: "publisher",
      permissions: ["read", "draft", "publish", "files"],
    });
    expect(plain.stderr).toContain(
      "Its role is publisher: it has the permissions read, draft, publish, files. Ask for another role with --role, for everything with --role admin. It never expires.",
    );
    const admin = await make("--role", "admin", "--expires", "2099-01-01T00:00:00Z");
    expect(admin.apiKey).toMatchObject({ permissions: PERMISSIONS });
    expect(admin.stderr).toMatch(/^Its role is admin: .* It expires on \w+day .* \d{4}, \d{2}:\d{2} \(/);
    expect((await make("--role", "viewer")).apiKey).toMatchObject({ permissions: ["read"] });
    expect((await make("--role", "writer")).apiKey).toMatchObject({
      permissions: ["read", "draft", "files"],
    });
    expect((await make("--permissions", "publish")).apiKey).toMatchObject({ role: null });

    const table = await runCli(["keys", "list"], { ...folder, columns: 120 });
    expect(table.stdout).toMatch(/^NAME +STATUS +MAY +EXPIRES +LAST USED +ID/);
    expect(table.stdout).toMatch(/^Nightly +active +publisher +never +never +key_/m);
    expect(table.stdout).toMatch(/^API key +active +publish +never +never/m);
  });

  it("keeps owners apart", async () => {
    using folder = temporaryFolder();
    await runCli(["keys", "create", "--owner", "alice"], folder);
    expect(JSON.parse((await runCli(["keys", "list"], folder)).stdout)).toEqual({ keys: [] });
    expect(JSON.parse((await runCli(["keys", "list", "--owner", "alice"], folder)).stdout)).toMatchObject({
      keys: [{ ownerId: "alice" }],
    });
  });

  it.each([
    [["--permissions", "read,write"], '"write" is not a permission'],
    [["--expires", "2001-01-01"], "not in the future"],
    [["--expires", "soon"], "for example 90d"],
    [["--accounts", "acc_none"], "acc_none"],
    [["--owner", ""], "It is empty. Name an owner, or leave it out."],
    [["--owner", " "], "It is empty. Name an owner, or leave it out."],
    [["--role", "boss"], "Allowed choices are viewer, writer, publisher, admin."],
    [["--role", "viewer", "--permissions", "read"], "cannot be used with option"],
  ])("refuses %j", async (options, sentence) => {
    using folder = temporaryFolder();
    expect(await runCli(["keys", "create", ...options], folder)).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
  });
});

describe("posthorn keys rotate-secret", () => {
  it("replaces the key, keeps the old one where it is told to, and says which is in use", async () => {
    using folder = temporaryFolder();
    const { key } = JSON.parse((await runCli(["keys", "create"], folder)).stdout) as Created;
    const file = join(folder.path, "data", "secret.key");
    const before = readFileSync(file, "utf8");
    const kept = join(folder.path, "old.key");
    const run = await runCli(["keys", "rotate-secret", "--keep-old", kept], folder);
    const { oldKeyId, newKeyId } = JSON.parse(run.stdout) as { oldKeyId: string; newKeyId: string };
    expect(run.stderr).toContain("make a new backup");
    expect(readFileSync(kept, "utf8")).toBe(before);
    expect(readFileSync(file, "utf8")).not.toBe(before);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(oldKeyId).not.toBe(newKeyId);
    expect((await runCli(["doctor"], folder)).stdout).toContain(`${newKeyId}, readable only by this user`);
    expect((await runCli(["keys", "revoke", key], folder)).status).toBe(0);
    expect(await runCli(["keys", "rotate-secret", "--keep-old", kept], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("is there already"),
    });
  });

  it("is refused while anything works on the folder, and where there is nothing", async () => {
    using folder = temporaryFolder();
    expect(await runCli(["keys", "rotate-secret"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("no database"),
    });
    let refused: Promise<void> | null = null;
    const server = runCli(["serve"], {
      env: { ...folder.env, POSTHORN_PORT: "0" },
      onOutput(output, stop) {
        if (!output.includes("Data folder")) return;
        refused ??= runCli(["keys", "rotate-secret"], folder)
          .then((run) =>
            expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining("Posthorn is at work") }),
          )
          .then(() => {})
          .finally(stop);
      },
    });
    await server;
    await refused;
    expect(refused).not.toBeNull();
  });
});
