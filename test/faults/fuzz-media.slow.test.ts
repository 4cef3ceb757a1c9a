import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startBuiltServer, type BuiltServer, type Told } from "../support/built-server.ts";
import { makeCorpus, type Seed } from "../support/media-corpus.ts";
import { createRandom } from "../support/random.ts";
import { mutate } from "./mutate-media.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "./report.ts";

/** Of the server with the processes that read for it. */
const MAX_MIB = 1_024;
const MAX_SERVER_MIB = 450;
const AT_ONCE = 4;

const FUZZ_MS = times({ short: 5_000, long: 300_000 });

let server: BuiltServer;
let corpus: Seed[];
beforeAll(async () => {
  corpus = await makeCorpus();
  server = await startBuiltServer(inject("program"));
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/**
 * Tries again and again with seeds of their own, several at once, for the time; answers how many there were.
 */
async function fuzz(name: string, once: (random: () => number) => Promise<void>): Promise<number> {
  const random = randomFor(name);
  const endsAt = performance.now() + FUZZ_MS;
  let count = 0;
  const most = { server: 0, all: 0 };
  const worker = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const seed = Math.floor(random() * 2 ** 32);
      count += 1;
      await once(createRandom(seed)).catch((cause: unknown) => {
        const message = `${name}: seed ${seed} of run ${SEED} broke it. ${String(cause)}\n${server.stderr()}`;
        throw new Error(message, { cause });
      });
      const now = server.memoryMiB();
      most.server = Math.max(most.server, now.server);
      most.all = Math.max(most.all, now.all);
      if (now.all > MAX_MIB || now.server > MAX_SERVER_MIB)
        throw new Error(
          `${name}: about seed ${seed} of run ${SEED}: ${now.server} MiB, ${now.all} with all.`,
        );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  process.stdout.write(
    `${name}: ${count} in ${FUZZ_MS / 1_000} s, seed ${SEED}; at most ${Math.round(most.server)} MiB, ${Math.round(most.all)} with all.\n`,
  );
  return count;
}

/** Taken, or refused with a sentence; never a fault of ours. */
function expectAnswer({ status, body }: Told, taken: readonly number[]): void {
  if (!server.isAlive()) throw new Error("The server ended.");
  if (taken.includes(status)) return;
  expect([400, 404, 405, 409, 410, 412, 413, 415, 423, 460]).toContain(status);
  expect(body).toEqual({ error: expect.stringMatching(/^.{10,500}[.)]$/s) });
}

async function expectUnharmed(openFiles: number): Promise<void> {
  await expect.poll(() => server.openFiles(), { timeout: 30_000 }).toBeLessThanOrEqual(openFiles + 8);
  expect(server.stderr()).not.toMatch(/"level":(50|60)|"level":"(error|fatal)"/);
  const clip = corpus.find(({ name }) => name === "clip.mp4");
  expect((await upload(clip as Seed, clip?.bytes as Buffer)).status).toBe(201);
}

function upload({ mimeType }: Seed, body: Buffer): Promise<Told> {
  return server.ask("POST /api/v1/files?name=x", { headers: { "Content-Type": mimeType }, body });
}

async function forget({ status, body }: Told): Promise<void> {
  if (status === 201) await server.ask(`DELETE /api/v1/files/${body.file.id}`);
}

describe("Fuzzing media", { timeout: TIMEOUT_MS }, () => {
  it("answers each file with a sentence", async () => {
    for (const seed of corpus) {
      const told = await upload(seed, seed.bytes);
      expect([seed.name, told.status, told.body.error]).toEqual([seed.name, 201, undefined]);
    }
    const openFiles = server.openFiles();
    const others = corpus.map(({ bytes }) => bytes);
    const count = await fuzz("media", async (random) => {
      const seed = corpus[Math.floor(random() * corpus.length)] as Seed;
      const told = await upload(seed, mutate(seed.bytes, others, random));
      expectAnswer(told, [201]);
      await forget(told);
    });
    await expectUnharmed(openFiles);
    report({
      fault: "Fuzzing",
      how: "files of every format, changed by their structure, uploaded",
      runs: `${count} files`,
      seen: "the server lives, every answer is a sentence",
      isSeeded: true,
    });
  });

  it("answers each tus request with a sentence", async () => {
    const openFiles = server.openFiles();
    const count = await fuzz("tus", tusSession);
    await delay(500);
    await expectUnharmed(openFiles);
    report({
      fault: "Fuzzing",
      how: "tus requests with wrong offsets, lengths and metadata, several at once, broken off",
      runs: `${count} uploads`,
      seen: "the server lives, every answer is a sentence",
      isSeeded: true,
    });
  });
});

const ODD = [
  "-1",
  "0",
  "1",
  "1e3",
  "0x10",
  "4294967297",
  "9007199254740993",
  "99999999999999999999",
  "",
  " 5",
  "5,5",
  "NaN",
];
const METADATA = [
  "filename eA==",
  "filename",
  "filename %%%",
  "filename eA==,filename eQ==",
  "altText /////w==",
  ",",
  "é x",
  `filename ${"QUJD".repeat(2_000)}`,
];
const TAKEN = [200, 201, 204];

/** One upload, sent as a client would that gets everything wrong now and then. */
async function tusSession(random: () => number): Promise<void> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const isOdd = (): boolean => random() < 0.15;
  const tus = (): Record<string, string> =>
    random() < 0.03 ? {} : { "Tus-Resumable": pick(["1.0.0", "1.0.0", "1.0.0", "0.2.2"]) };
  const seed = pick(corpus);
  const body =
    random() < 0.5
      ? seed.bytes
      : mutate(
          seed.bytes,
          corpus.map(({ bytes }) => bytes),
          random,
        );
  const begun = await server.ask("POST /api/v1/files/uploads", {
    headers: {
      ...tus(),
      "Content-Length": "0",
      ...(random() < 0.05 ? { "Upload-Defer-Length": pick(["1", "2", "x"]) } : {}),
      ...(random() < 0.95 ? { "Upload-Length": isOdd() ? pick(ODD) : String(body.length) } : {}),
      ...(random() < 0.3 ? { "Upload-Metadata": pick(METADATA.slice(0, -2)) } : {}),
    },
  });
  expectAnswer(begun, TAKEN);
  const place = begun.headers["location"];
  if (begun.status !== 201 || typeof place !== "string") return;
  const patch = async (at: number): Promise<void> => {
    const isBroken = random() < 0.15;
    const part = body.subarray(at, random() < 0.5 ? body.length : at + 1 + below(body.length));
    const asked = server.ask(`${random() < 0.97 ? "PATCH" : "PUT"} ${place}`, {
      headers: {
        ...tus(),
        "Upload-Offset": isOdd() ? pick(ODD) : String(at),
        "Content-Type": random() < 0.97 ? "application/offset+octet-stream" : "text/plain",
        ...(random() < 0.05 ? { "Upload-Length": pick(ODD) } : {}),
      },
      body: part,
      ...(isBroken ? { breakAfterBytes: below(part.length) } : {}),
    });
    const told = await asked.catch(() => null);
    if (told !== null) expectAnswer(told, TAKEN);
  };
  for (let round = 0; round < 3; round += 1) {
    const told = await server.ask(`HEAD ${place}`, { headers: tus() });
    const at = Number(told.headers["upload-offset"] ?? 0);
    if (told.status >= 500) throw new Error(`HEAD was answered ${told.status}.`);
    await Promise.all(Array.from({ length: random() < 0.2 ? 3 : 1 }, () => patch(Math.min(at, body.length))));
  }
  const ended = await server.ask(`DELETE ${place}`, { headers: tus() });
  if (ended.status >= 500) throw new Error(`DELETE was answered ${ended.status}.`);
}
