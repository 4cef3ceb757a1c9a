import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/app/config.ts";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { runCli } from "../support/cli.ts";
import { startFakeS3, type FakeS3 } from "../support/fake-s3.ts";
import { send, type Answer, type Ask } from "../support/http.ts";
import { fixture } from "../support/media.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Finding } from "../../src/domain/health/findings.ts";
import type { BackupResult, RestoreResult } from "../../src/domain/health/backups.ts";

const KEY = "a-key-of-32-characters-or-more-for-tests";
const CLIP = fixture("clip.mp4");
const PHOTO = fixture("photo.jpg");
/** A video of more than one part: players skip a box that is called free. */
const VIDEO = Buffer.concat([CLIP, freeBox(9 * 1024 ** 2)]);

type Env = Readonly<Record<string, string>>;

function freeBox(sizeBytes: number): Buffer {
  const box = Buffer.alloc(sizeBytes);
  box.writeUInt32BE(sizeBytes);
  box.write("free", 4);
  return box;
}

function settingsFor({ bucket, secretAccessKey }: FakeS3): Env {
  return {
    POSTHORN_S3_ENDPOINT: bucket.endpoint,
    POSTHORN_S3_BUCKET: bucket.name,
    POSTHORN_S3_REGION: bucket.region,
    POSTHORN_S3_ACCESS_KEY_ID: bucket.accessKeyId,
    POSTHORN_S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

/** The whole server, as `posthorn serve` starts it. Everything it answers is kept. */
async function start(env: Env) {
  const setup = await readSetup({
    ...env,
    POSTHORN_PORT: "0",
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_API_KEY: KEY,
  });
  const server = await startServer({ setup, self: { host: "test", pid: process.pid }, role: "serve" });
  const port = Number(new URL(server.address).port);
  const answers: Answer[] = [];
  return {
    answers,
    async ask(target: string, ask: Ask = {}): Promise<Answer> {
      const answer = await send(port, target, { key: KEY, ...ask });
      answers.push(answer);
      return answer;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

type Running = Awaited<ReturnType<typeof start>>;

async function published({ ask }: Running, id: string): Promise<any> {
  for (;;) {
    const { post } = (await ask(`GET /api/v1/posts/${id}`)).json;
    if (post.status === "published" || post.status === "failed") return post;
    await delay(50);
  }
}

const keyOf = (url: string): string => url.slice("r2://".length);
/** Path and query of an address of ours. */
const targetOf = (url: string): string => `GET ${new URL(url).pathname}${new URL(url).search}`;

describe("files in a bucket", () => {
  it("go the whole way from an upload to the feed's readers, and nothing of them stays on this machine", async () => {
    await using s3 = await startFakeS3();
    using folder = temporaryFolder();
    await using running = await start({ ...folder.env, ...settingsFor(s3) });
    const { ask } = running;
    const uploaded = await ask("POST /api/v1/files?name=sea.mp4", {
      body: CLIP,
      headers: { "Content-Type": "video/mp4" },
    });
    const { file } = uploaded.json;
    expect(uploaded.status).toBe(201);
    expect(s3.objects.get(keyOf(file.url))?.bytes.equals(CLIP)).toBe(true);
    expect((await ask(targetOf(file.downloadUrl), { key: null })).headers).toMatchObject({
      "content-length": String(CLIP.length),
    });

    const { accounts } = (await ask("GET /api/v1/accounts")).json;
    const { post } = (
      await ask("POST /api/v1/posts", {
        json: { accountId: accounts[0].id, caption: "The sea", mediaUrl: file.id },
      })
    ).json;
    expect(await published(running, post.id)).toMatchObject({ status: "published", error: null });
    const feed = (await ask(`GET /feed/${accounts[0].id}.json`, { key: null })).json;
    const [attachment] = feed.items[0].attachments;
    expect((await ask(targetOf(attachment.url), { key: null })).headers).toMatchObject({
      "content-type": "video/mp4",
      "content-length": String(CLIP.length),
    });
    const part = await ask(targetOf(attachment.url), { key: null, headers: { Range: "bytes=100-199" } });
    expect(part).toMatchObject({
      status: 206,
      headers: { "content-range": `bytes 100-199/${CLIP.length}`, "content-length": "100" },
    });
    expect([...s3.objects.values()].map(({ bytes }) => bytes.equals(CLIP))).toEqual([true, true]);

    expect((await ask(`DELETE /api/v1/files/${file.id}`)).status).toBe(200);
    expect([...s3.objects.keys()].every((key) => key.startsWith("feed/"))).toBe(true);
    expect(s3.uploads.size).toBe(0);
    expect(() => readFileSync(join(folder.env["POSTHORN_DATA_DIR"] ?? "", "files"))).toThrow("ENOENT");
    expect(JSON.stringify(running.answers)).not.toContain(s3.secretAccessKey);
  });

  it("come in parts by resumable uploads too, and a refused one leaves nothing", async () => {
    await using s3 = await startFakeS3();
    using folder = temporaryFolder();
    await using running = await start({ ...folder.env, ...settingsFor(s3) });
    const { ask } = running;
    const tus = { "Tus-Resumable": "1.0.0" };
    const begin = (sizeBytes: number): Promise<Answer> =>
      ask("POST /api/v1/files/uploads", { headers: { ...tus, "Upload-Length": String(sizeBytes) } });
    const { location } = (await begin(VIDEO.length)).headers;
    const half = VIDEO.length >> 1;
    const send = (from: number, to: number): Promise<Answer> => {
      const headers = {
        ...tus,
        "Upload-Offset": String(from),
        "Content-Type": "application/offset+octet-stream",
      };
      return ask(`PATCH ${new URL(location ?? "", "http://any/api/v1/files/uploads").pathname}`, {
        headers,
        body: VIDEO.subarray(from, to),
      });
    };
    expect((await send(0, half)).status).toBe(204);
    const done = await send(half, VIDEO.length);
    const { file } = (await ask(`GET ${done.headers["content-location"]}`)).json;
    expect(file).toMatchObject({ type: "video", sizeBytes: VIDEO.length, status: "ready" });
    expect(s3.objects.get(keyOf(file.url))?.bytes.equals(VIDEO)).toBe(true);
    expect(s3.operations().filter((operation) => operation === "UploadPart").length).toBe(2);

    s3.fail = ({ operation }) => (operation === "UploadPart" ? [403, "AccessDenied"] : null);
    const refused = await ask("POST /api/v1/files", {
      body: VIDEO,
      headers: { "Content-Type": "video/mp4" },
    });
    expect(refused).toMatchObject({
      status: 503,
      json: { error: expect.stringContaining("may not do this in the bucket") },
    });
    expect([s3.objects.size, s3.uploads.size]).toEqual([1, 0]);
    expect((await ask("GET /api/v1/files")).json.files.length).toBe(1);
  });

  it("keep a post waiting while the bucket is out of order, and let it go out afterwards", async () => {
    await using s3 = await startFakeS3();
    using folder = temporaryFolder();
    await using running = await start({ ...folder.env, ...settingsFor(s3) });
    const { ask } = running;
    const { file } = (
      await ask("POST /api/v1/files", { body: PHOTO, headers: { "Content-Type": "image/jpeg" } })
    ).json;
    const { accounts } = (await ask("GET /api/v1/accounts")).json;
    let refused = 0;
    s3.fail = ({ operation, key }) =>
      operation === "PutObject" && key.startsWith("feed/") && (refused += 1) < 3
        ? [403, "AccessDenied"]
        : null;
    const { post } = (
      await ask("POST /api/v1/posts", {
        json: { accountId: accounts[0].id, caption: "The sea", mediaUrl: file.id },
      })
    ).json;
    expect(await published(running, post.id)).toMatchObject({ status: "published", error: null });
    expect(refused).toBeGreaterThanOrEqual(3);
  });
});

describe("settings of a bucket", () => {
  const ALL: Env = {
    POSTHORN_S3_ENDPOINT: "https://abc.r2.cloudflarestorage.com/",
    POSTHORN_S3_BUCKET: "media",
    POSTHORN_S3_REGION: "auto",
    POSTHORN_S3_ACCESS_KEY_ID: "0123456789abcdef",
    POSTHORN_S3_SECRET_ACCESS_KEY: "canary-secret-of-a-bucket",
  };

  it("are read together", () => {
    const { config, secrets } = readConfig(ALL, []);
    expect(config.bucket).toEqual({
      endpoint: "https://abc.r2.cloudflarestorage.com",
      name: "media",
      region: "auto",
      accessKeyId: "0123456789abcdef",
    });
    expect(secrets.bucketSecretKey).toBe("canary-secret-of-a-bucket");
    expect(JSON.stringify(config)).not.toContain("canary");
    expect(readConfig({}, []).config.bucket).toBeNull();
  });

  it.each(Object.keys(ALL))("are bad without %s, which is named", (name) => {
    expect(() => readConfig({ ...ALL, [name]: "" }, [])).toThrow(
      new RegExp(`^${name}: is missing. The POSTHORN_S3_ settings work together`),
    );
  });

  it("are all named when they are bad, without what they hold", () => {
    const bad = Object.fromEntries(Object.keys(ALL).map((name) => [name, "canary value"]));
    const message = messageOf(() => readConfig({ ...bad, POSTHORN_PORT: "x" }, []));
    for (const name of [...Object.keys(ALL), "POSTHORN_PORT"]) expect(message).toContain(`${name}: must be`);
    expect(message).not.toContain("canary");
    const twice = { ...ALL, POSTHORN_S3_ENDPOINT: "https://abc.r2.cloudflarestorage.com/media" };
    expect(messageOf(() => readConfig(twice, []))).toContain("must end before the name of the bucket");
    const withUser = { ...ALL, POSTHORN_S3_ENDPOINT: "https://user:canary@example.com" };
    expect(messageOf(() => readConfig(withUser, []))).toBe(
      "POSTHORN_S3_ENDPOINT: must be without user name, query and fragment",
    );
  });

  it("end the start when the bucket refuses them, but not when it is out of reach", async () => {
    await using s3 = await startFakeS3();
    using folder = temporaryFolder();
    const wrong = { ...folder.env, ...settingsFor(s3), POSTHORN_S3_BUCKET: "elsewhere" };
    await expect(start(wrong)).rejects.toThrow("POSTHORN_S3_BUCKET: there is no bucket elsewhere");
    s3.fail = () => [503, "ServiceUnavailable"];
    await using running = await start({ ...folder.env, ...settingsFor(s3) });
    expect((await running.ask("GET /healthz")).status).toBe(200);
  });

  it("are examined by the doctor", async () => {
    await using s3 = await startFakeS3();
    using folder = temporaryFolder();
    const examine = async (env: Env): Promise<Finding[]> => {
      const { stdout } = await runCli(["doctor", "--json"], {
        env: { ...folder.env, ...settingsFor(s3), ...env },
      });
      expect(stdout).not.toContain(s3.secretAccessKey);
      return (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(
        ({ topic }) => topic === "files",
      );
    };
    expect((await examine({})).map(({ verdict }) => verdict)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(await examine({ POSTHORN_S3_SECRET_ACCESS_KEY: "canary-wrong" })).toEqual([
      {
        topic: "files",
        verdict: "problem",
        text: expect.stringMatching(/^POSTHORN_S3_SECRET_ACCESS_KEY: it does not belong/),
      },
    ]);
    expect(s3.objects.size).toBe(0);
  });
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
}

describe("backups and a bucket", () => {
  async function addFile(env: Env): Promise<any> {
    const picture = join(dirname(env["POSTHORN_DATA_DIR"] ?? ""), "picture.jpg");
    writeFileSync(picture, PHOTO);
    const run = await runCli(["call", "upload_file", JSON.stringify({ path: picture })], {
      env: { ...env, POSTHORN_UPLOAD_FOLDERS: dirname(picture) },
    });
    return JSON.parse(run.stdout).file;
  }

  it("leave the files there and name them, and look for them when restoring", async () => {
    await using s3 = await startFakeS3();
    using folder = temporaryFolder();
    const env = { ...folder.env, ...settingsFor(s3) };
    const [kept, lost] = [await addFile(env), await addFile(env)];
    const backup = join(folder.path, "backup.tar");
    const made = await runCli(["backup", backup], { env });
    expect(made.stderr).toContain(
      `The files stay in the bucket posthorn-test at ${s3.bucket.endpoint}. The backup names 2 of them.`,
    );
    expect(JSON.parse(made.stdout) as BackupResult).toMatchObject({
      files: 0,
      filesInBucket: 2,
      missing: [],
    });
    const bytes = readFileSync(backup);
    expect([
      bytes.includes(keyOf(kept.url)),
      bytes.includes(PHOTO),
      bytes.includes(s3.secretAccessKey),
    ]).toEqual([true, false, false]);

    s3.objects.delete(keyOf(lost.url));
    const without = await runCli(["restore", backup], { env: folder.env });
    expect(without).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`The files of this backup are in the bucket posthorn-test at`),
    });
    const restored = await runCli(["restore", backup], { env });
    expect(restored.stderr).toContain(`1 file is not in the bucket any more: ${keyOf(lost.url)}`);
    expect(JSON.parse(restored.stdout) as RestoreResult).toMatchObject({
      files: 0,
      missing: [keyOf(lost.url)],
    });
  });

  it("bring the files of a folder into a bucket", async () => {
    await using s3 = await startFakeS3();
    using folder = temporaryFolder();
    const file = await addFile(folder.env);
    const backup = join(folder.path, "backup.tar");
    await runCli(["backup", backup], { env: folder.env });
    const restored = await runCli(["restore", backup], { env: { ...folder.env, ...settingsFor(s3) } });
    expect(JSON.parse(restored.stdout) as RestoreResult).toMatchObject({ files: 1, missing: [] });
    expect(s3.objects.get(keyOf(file.url))?.bytes.equals(PHOTO)).toBe(true);
  });
});
