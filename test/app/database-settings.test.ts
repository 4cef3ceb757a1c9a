import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../../src/app/config.ts";
import { readSettings } from "../../src/app/setup.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Env = Readonly<Record<string, string>>;

const URL_TEXT = "postgres://posthorn:canary%40word@db.example:5432/posthorn?sslmode=verify-full";
const KEY = "0123456789abcdef".repeat(4);
const BUCKET: Env = {
  POSTHORN_S3_ENDPOINT: "https://s3.example",
  POSTHORN_S3_BUCKET: "media",
  POSTHORN_S3_REGION: "auto",
  POSTHORN_S3_ACCESS_KEY_ID: "0123456789abcdef",
  POSTHORN_S3_SECRET_ACCESS_KEY: "canary-of-a-bucket",
};

function problemsOf(env: Env): readonly string[] {
  try {
    readConfig(env, []);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("DATABASE_URL", () => {
  it("is a secret, with the connections beside it", () => {
    const { config, secrets } = readConfig({ ...BUCKET, DATABASE_URL: URL_TEXT }, []);
    expect(config.database).toEqual({ connections: 10 });
    expect(secrets.database).toEqual({ url: URL_TEXT, directUrl: null });
    expect(JSON.stringify(config)).not.toContain("canary");
    const pooled = {
      DATABASE_URL: "postgresql://pooler/posthorn",
      DATABASE_DIRECT_URL: URL_TEXT,
      POSTHORN_DATABASE_CONNECTIONS: "3",
      POSTHORN_FILES: "folder",
    };
    const other = readConfig(pooled, []);
    expect(other.config.database).toEqual({ connections: 3 });
    expect(other.secrets.database).toEqual({ url: pooled.DATABASE_URL, directUrl: URL_TEXT });
  });

  it("is none without it, and other programs' names are no matter of ours", () => {
    const { config, secrets } = readConfig({ DATABASE_HOST: "db", DATABASE_URL: "" }, []);
    expect([config.database, config.secretKeyFile, config.bucket]).toEqual([null, null, null]);
    expect([secrets.database, secrets.secretKey]).toEqual([null, null]);
  });

  it.each([
    "mysql://posthorn:canary@db/posthorn",
    "db.example/canary",
    "postgres://posthorn:can#ary@db/posthorn",
    "postgres://posthorn:canary%@db/posthorn",
    "file:canary.db",
  ])("is refused as %s, without what it holds", (url) => {
    const all = { ...BUCKET, DATABASE_URL: url, DATABASE_DIRECT_URL: url };
    for (const problem of problemsOf(all))
      expect(problem).toMatch(
        /^DATABASE_(DIRECT_)?URL: must be an address of PostgreSQL, for example postgres:/,
      );
    expect(problemsOf(all)).toHaveLength(2);
    expect(problemsOf(all).join()).not.toMatch(/canary|ary@db/);
  });

  it("wants files where every host finds them, and names both ways", () => {
    const sentence =
      /^POSTHORN_FILES: is not set, but DATABASE_URL is\. Files must .* POSTHORN_S3_ settings .* POSTHORN_FILES=folder /;
    expect(problemsOf({ DATABASE_URL: URL_TEXT })).toEqual([expect.stringMatching(sentence)]);
    expect(problemsOf({ DATABASE_URL: URL_TEXT, POSTHORN_FILES: "folder" })).toEqual([]);
    expect(problemsOf({ DATABASE_URL: URL_TEXT, ...BUCKET })).toEqual([]);
  });

  it.each([
    ["DATABASE_DIRECT_URL", URL_TEXT],
    ["POSTHORN_DATABASE_CONNECTIONS", "5"],
    ["POSTHORN_SECRET_KEY", KEY],
    ["POSTHORN_SECRET_KEY_FILE", "/run/secrets/posthorn"],
  ])("is missed by %s alone", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([
      `${name}: has no meaning without DATABASE_URL. Set that to the address of PostgreSQL, or leave this one out`,
    ]);
  });

  it("is suggested to who gives it our prefix", () => {
    expect(problemsOf({ POSTHORN_DATABASE_URL: URL_TEXT })).toEqual([
      "POSTHORN_DATABASE_URL: no such setting. Did you mean DATABASE_URL?",
    ]);
  });
});

describe("POSTHORN_FILES", () => {
  it("keeps files in the folder beside the settings of a bucket, and misses a bucket", () => {
    expect(readConfig({ ...BUCKET, POSTHORN_FILES: "folder" }, []).config.bucket).toBeNull();
    expect(readConfig({ ...BUCKET, POSTHORN_FILES: "bucket" }, []).config.bucket).toMatchObject({
      name: "media",
    });
    expect(problemsOf({ POSTHORN_FILES: "bucket" })).toEqual([
      expect.stringContaining("but no bucket is set"),
    ]);
    expect(problemsOf({ POSTHORN_FILES: "disk" })).toEqual(["POSTHORN_FILES: must be folder or bucket"]);
  });
});

describe("the secret key of many hosts", () => {
  const shared: Env = { DATABASE_URL: URL_TEXT, POSTHORN_FILES: "folder" };

  it("is read from the setting or from a file, and from one of them", async () => {
    using temporary = temporaryFolder();
    const file = join(temporary.path, "key");
    writeFileSync(file, `${KEY}\n`, { mode: 0o600 });
    const keyOf = async (env: Env): Promise<string> =>
      (await readSettings({ ...temporary.env, ...shared, ...env })).masterKey.toString("hex");
    expect(await keyOf({ POSTHORN_SECRET_KEY: KEY.toUpperCase() })).toBe(KEY);
    expect(await keyOf({ POSTHORN_SECRET_KEY_FILE: file })).toBe(KEY);
    await expect(keyOf({ POSTHORN_SECRET_KEY: KEY, POSTHORN_SECRET_KEY_FILE: file })).rejects.toThrow(
      /POSTHORN_SECRET_KEY: is set, and POSTHORN_SECRET_KEY_FILE too/,
    );
  });

  it("is the folder's own without, and the same at the next start", async () => {
    using temporary = temporaryFolder();
    const [first, again] = [
      await readSettings({ ...temporary.env, ...shared }),
      await readSettings({ ...temporary.env, ...shared }),
    ];
    expect(first.masterKey).toEqual(again.masterKey);
  });

  it("is refused when it is short, missing, damaged, or open to others", async () => {
    using temporary = temporaryFolder();
    expect(problemsOf({ ...shared, POSTHORN_SECRET_KEY: KEY.slice(1) })).toEqual([
      "POSTHORN_SECRET_KEY: must be 64 hexadecimal digits, as `openssl rand -hex 32` makes them",
    ]);
    const file = join(temporary.path, "key");
    const start = () => readSettings({ ...temporary.env, ...shared, POSTHORN_SECRET_KEY_FILE: file });
    await expect(start()).rejects.toThrow(`POSTHORN_SECRET_KEY_FILE: ${file} is not there.`);
    writeFileSync(file, KEY.slice(2), { mode: 0o600 });
    await expect(start()).rejects.toThrow(`${file} is damaged: it must hold 64 hexadecimal digits.`);
    writeFileSync(file, KEY);
    chmodSync(file, 0o644);
    await expect(start()).rejects.toThrow(/can read .*key, which holds keys or secrets. Run: chmod 600/);
  });

  it("and the address make a file of settings that nobody else may read", async () => {
    using temporary = temporaryFolder();
    const file = join(temporary.path, "data", "posthorn.env");
    await readSettings(temporary.env);
    writeFileSync(file, `DATABASE_URL=${URL_TEXT}\nPOSTHORN_FILES=folder\n`);
    chmodSync(file, 0o644);
    await expect(readSettings(temporary.env)).rejects.toThrow(/which holds keys or secrets/);
    chmodSync(file, 0o600);
    expect((await readSettings(temporary.env)).secrets.database?.url).toBe(URL_TEXT);
  });
});
