import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  findOwnDatabase,
  locateDataFolder,
  openDataFolder,
  readEnvironment,
  readSecretKey,
} from "../../src/app/data-folder.ts";
import { createWhole } from "../../src/store/backup/durable.ts";
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe("the data folder", () => {
  it("is where the settings say, else data/ of the checkout", () => {
    expect(locateDataFolder({ POSTHORN_DATA_DIR: "/srv/posthorn" })).toBe("/srv/posthorn");
    expect(locateDataFolder({})).toBe(join(import.meta.dirname, "..", "..", "data"));
    expect(locateDataFolder({ POSTHORN_DATA_DIR: "" })).toBe(locateDataFolder({}));
  });

  it("is made for this user alone", async () => {
    using temporary = temporaryFolder();
    const folder = await openDataFolder(join(temporary.path, "a", "b"));
    expect(modeOf(folder.path)).toBe(0o700);
  });

  it.each([
    ["a file", (path: string): void => writeFileSync(path, ""), /there is a file of this name\. Point/],
    ["below a file", (path: string): void => writeFileSync(join(path, ".."), ""), /is a file\. Point/],
  ])("is refused in one sentence where there is %s", async (_case, spoil, advice) => {
    using temporary = temporaryFolder();
    const path = join(temporary.path, "x", "data");
    if (_case === "a file") mkdirSync(join(temporary.path, "x"));
    spoil(path);
    const refused = await openDataFolder(path).catch((error: unknown) => String(error));
    expect(refused).toMatch(/The data folder .*\/x\/data cannot be used: .*POSTHORN_DATA_DIR/);
    // A file is made no folder by making it writable.
    expect(refused).toMatch(advice);
  });
});

describe("posthorn.env", () => {
  it("stands beneath the environment", async () => {
    using temporary = temporaryFolder();
    writeFileSync(
      join(temporary.path, "posthorn.env"),
      '# a comment\nPOSTHORN_PORT=1\nPOSTHORN_TIMEZONE="Europe/Berlin"\n',
    );
    const { env } = await readEnvironment(temporary.path, { POSTHORN_PORT: "2", POSTHORN_TIMEZONE: "" });
    expect(env).toMatchObject({ POSTHORN_PORT: "2", POSTHORN_TIMEZONE: "Europe/Berlin" });
    expect((await readEnvironment(join(temporary.path, "none"), { A: "b" })).env).toEqual({ A: "b" });
  });

  it("is read line by line, and each bad one is named with the bad settings of the environment", async () => {
    using temporary = temporaryFolder();
    mkdirSync(join(temporary.path, "data"), { mode: 0o700 });
    const lines = [
      "\uFEFF# a comment",
      "POSTHORN_TIMEZONE canary",
      "PORT=8080",
      "export POSTHORN_RATE_LIMIT=none",
      'POSTHORN_METRICS_TOKEN="two',
      'lines, the second without a sign of its own"',
      "POSTHRON_HOST=::1",
      "canary==",
    ];
    writeFileSync(join(temporary.path, "data", "posthorn.env"), lines.join("\r\n"), { mode: 0o600 });
    const env = {
      ...temporary.env,
      POSTHORN_PUBLIC_URL: "https://a:canary@posts.example/?b=c",
      POSTHRON_X: "1",
    };
    const { status, stderr } = await runCli(["keys", "list"], { env });
    expect(status).toBe(1);
    expect(stderr.split("\n")).toEqual([
      "6 settings are wrong, so nothing was started:",
      "  posthorn.env, line 2: must be NAME=value, the name in capital letters",
      "  posthorn.env, line 8: must be NAME=value, the name in capital letters",
      "  POSTHORN_PUBLIC_URL: must be without user name, query and fragment",
      "  POSTHORN_RATE_LIMIT: must be a whole number of requests a minute, 1 or more",
      "  PORT: no such setting. Did you mean POSTHORN_PORT?",
      "  POSTHRON_HOST: no such setting. Did you mean POSTHORN_HOST?",
      "The page docs/settings.md lists all settings.",
      "",
    ]);
    expect(existsSync(join(temporary.path, "data", "secret.key"))).toBe(false);
  });

  it("cannot move the folder it is in", async () => {
    using temporary = temporaryFolder();
    writeFileSync(join(temporary.path, "posthorn.env"), "POSTHORN_DATA_DIR=/elsewhere\n");
    await expect(readEnvironment(temporary.path, {})).rejects.toThrow(
      "POSTHORN_DATA_DIR cannot stand in a file of the data folder",
    );
  });
});

describe("posthorn.env that others can reach", () => {
  const KEY = "POSTHORN_API_KEY=0123456789abcdef0123456789abcdef\n";

  it.each([
    ["a key", KEY, 0o644],
    ["a key", KEY, 0o640],
    ["a bucket's secret", "POSTHORN_S3_SECRET_ACCESS_KEY=x\n", 0o604],
    ["a platform's secret", "POSTHORN_SOMEWHERE_CLIENT_SECRET=x\n", 0o644],
    ["a token", "POSTHORN_METRICS_TOKEN=0123456789abcdef\n", 0o666],
    ["no secret", "POSTHORN_TIMEZONE=Europe/Berlin\n", 0o666],
    ["no secret", "POSTHORN_TIMEZONE=Europe/Berlin\n", 0o620],
  ])("is refused with %s (%s, mode %i)", async (_case, text, mode) => {
    using temporary = temporaryFolder();
    const file = join(temporary.path, "posthorn.env");
    writeFileSync(file, text);
    chmodSync(file, mode);
    await expect(readEnvironment(temporary.path, {})).rejects.toThrow(
      /^Other users of this machine can (read|change) .*posthorn\.env.* Run: chmod 600 /,
    );
    chmodSync(file, 0o600);
    expect(Object.keys((await readEnvironment(temporary.path, {})).env)).toHaveLength(1);
  });

  it("is taken where it holds no secret and nobody else can change it", async () => {
    using temporary = temporaryFolder();
    writeFileSync(join(temporary.path, "posthorn.env"), "POSTHORN_TIMEZONE=Europe/Berlin\n", { mode: 0o644 });
    expect((await readEnvironment(temporary.path, {})).env).toEqual({ POSTHORN_TIMEZONE: "Europe/Berlin" });
  });

  // Only root can give a file away.
  it.skipIf(process.getuid?.() !== 0)(
    "is taken where another user owns it, as a container's mount",
    async () => {
      using temporary = temporaryFolder();
      const file = join(temporary.path, "posthorn.env");
      writeFileSync(file, KEY, { mode: 0o644 });
      chownSync(file, 12_345, 12_345);
      expect(Object.keys((await readEnvironment(temporary.path, {})).env)).toEqual(["POSTHORN_API_KEY"]);
      chmodSync(file, 0o664);
      await expect(readEnvironment(temporary.path, {})).rejects.toThrow("can change");
    },
  );

  it("is a problem for the doctor", async () => {
    using temporary = temporaryFolder();
    const path = temporary.env["POSTHORN_DATA_DIR"]!;
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(path, "posthorn.env"), KEY);
    chmodSync(join(path, "posthorn.env"), 0o666);
    const { status, stdout } = await runCli(["doctor"], temporary);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^PROBLEM +settings +Other users of this machine can change/m);
  });
});

describe("secret.key", () => {
  it("is not made anew beside a database that another one opens", async () => {
    using temporary = temporaryFolder();
    await runCli(["keys", "list"], temporary);
    const file = join(temporary.path, "data", "secret.key");
    const kept = readFileSync(file);
    rmSync(file);
    const { status, stderr } = await runCli(["keys", "list"], temporary);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /secret\.key is missing\. Only this key opens the tokens in the database\. Put your copy/,
    );
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, kept, { mode: 0o600 });
    expect((await runCli(["keys", "list"], temporary)).status).toBe(0);
  });

  it("is not made anew beside a database that is a folder of files", async () => {
    using temporary = temporaryFolder();
    const folder = await openDataFolder(temporary.path);
    writeFileSync(folder.epoch, "1");
    mkdirSync(folder.database);
    expect(findOwnDatabase(folder)).toEqual({ place: folder.database, isEmpty: true });
    writeFileSync(join(folder.database, "table"), "rows");
    expect(findOwnDatabase(folder).isEmpty).toBe(false);
    await expect(readSecretKey(folder)).rejects.toThrow(/secret\.key is missing\./);
    expect(existsSync(folder.secretKey)).toBe(false);
  });

  it("is made once, by whoever comes first, for this user alone", async () => {
    using temporary = temporaryFolder();
    const folder = await openDataFolder(temporary.path);
    const keys = await Promise.all([1, 2, 3, 4].map(() => readSecretKey(folder)));
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
    expect(keys[0]).toHaveLength(32);
    expect(modeOf(join(folder.path, "secret.key"))).toBe(0o600);
  });

  it.each([0o640, 0o604, 0o666])("is refused when others can read it (%i)", async (mode) => {
    using temporary = temporaryFolder();
    const folder = await openDataFolder(temporary.path);
    await readSecretKey(folder);
    chmodSync(join(folder.path, "secret.key"), mode);
    await expect(readSecretKey(folder)).rejects.toThrow(/Run: chmod 600 /);
  });

  it("is made where a start that was killed left an empty file, once by several", async () => {
    using temporary = temporaryFolder();
    const folder = await openDataFolder(temporary.path);
    writeFileSync(folder.secretKey, "", { mode: 0o600 });
    const keys = await Promise.all([1, 2, 3, 4].map(() => readSecretKey(folder)));
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
    expect(readFileSync(folder.secretKey, "utf8")).toBe(`${keys[0]!.toString("hex")}\n`);
  });

  it("stays empty beside a database that it may have sealed", async () => {
    using temporary = temporaryFolder();
    const folder = await openDataFolder(temporary.path);
    writeFileSync(folder.secretKey, "", { mode: 0o600 });
    writeFileSync(folder.database, "something");
    await expect(readSecretKey(folder)).rejects.toThrow("is damaged");
    expect(readFileSync(folder.secretKey, "utf8")).toBe("");
  });

  it("is never replaced, not even when damaged", async () => {
    using temporary = temporaryFolder();
    const folder = await openDataFolder(temporary.path);
    const file = join(folder.path, "secret.key");
    writeFileSync(file, "damaged", { mode: 0o600 });
    await expect(readSecretKey(folder)).rejects.toThrow("is damaged");
    expect(readFileSync(file, "utf8")).toBe("damaged");
  });
});

it("writes a file once", async () => {
  using temporary = temporaryFolder();
  const file = join(temporary.path, "once");
  expect(await createWhole(file, "first")).toBe(true);
  expect(await createWhole(file, "second")).toBe(false);
  expect(readFileSync(file, "utf8")).toBe("first");
  expect(modeOf(file)).toBe(0o600);
});
