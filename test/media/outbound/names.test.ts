import type { LookupAddress } from "node:dns";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { createNames, type Names } from "../../../src/media/outbound/names.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { startCanary } from "../../support/canary.ts";

const HERE: LookupAddress[] = [{ address: "127.0.0.1", family: 4 }];
const allowedHosts = [{ host: "here.test", port: null }];

/** Names that begin with `slow` are never answered until `answer`. */
function slowResolver() {
  const asked: string[] = [];
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const lookup = async (hostname: string): Promise<LookupAddress[]> => {
    asked.push(hostname);
    if (hostname.startsWith("slow")) await answered;
    if (hostname.startsWith("none"))
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
    return HERE;
  };
  return { lookup, asked, answer: () => answer() };
}

let now: number;
let resolver: ReturnType<typeof slowResolver>;
let names: Names;

beforeEach(() => {
  now = 0;
  resolver = slowResolver();
  names = createNames(resolver.lookup, { monotonic: () => now });
});

afterEach(() => resolver.answer());

const find = (hostname: string, ownerId: string, signal = new AbortController().signal): Promise<void> =>
  names.find(hostname, { ownerId, signal });

describe("a name server that never answers", () => {
  it("holds up the requests of no other owner", async () => {
    await using canary = await startCanary((_request, response) => response.end("yes"));
    await using door = createOutbound({ allowedHosts, lookup: resolver.lookup });
    const slow = Array.from({ length: 20 }, (_, at) =>
      door
        .request({ method: "GET", url: `http://slow${at}.test/`, ownerId: "mallory", timeoutMs: 1_000 })
        .catch((error: unknown) => error),
    );
    const url = `http://here.test:${canary.port}/`;
    const answer = await door.request({ method: "GET", url, ownerId: "alice", timeoutMs: 900 });
    answer.body.destroy();
    expect(answer.status).toBe(200);
    for (const error of await Promise.all(slow))
      expect(error instanceof OutboundFailure && !error.wasSent).toBe(true);
    // One thread waits, and nothing comes of what nobody waits for any more.
    expect(resolver.asked.filter((name) => name.startsWith("slow"))).toEqual(["slow0.test"]);
    await expect(
      door.converse({ url: "ws://slow1.test/", ownerId: "mallory", timeoutMs: 50 }, async () => {}),
    ).rejects.toMatchObject({ wasSent: false });
  });

  it("is asked by each owner for one name at a time, by all of them once for the same one", async () => {
    const all = [find("slow1", "a"), find("slow2", "a"), find("slow1", "b"), find("slow3", "b")];
    await find("quick", "c");
    expect(resolver.asked).toEqual(["slow1", "slow3", "quick"]);
    resolver.answer();
    await Promise.all(all);
    expect(resolver.asked).toEqual(["slow1", "slow3", "quick", "slow2"]);
  });

  it("is not waited for by what was called off", async () => {
    const leaving = new AbortController();
    const [first, second] = [find("slow1", "a", leaving.signal), find("slow2", "a", leaving.signal)];
    leaving.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    await expect(second).rejects.toThrow("enough");
    resolver.answer();
    await find("quick", "a");
    expect(resolver.asked).toEqual(["slow1", "quick"]);
  });
});

describe("what is known of a name", () => {
  it("is remembered for half a minute, and that it is none for ten seconds", async () => {
    const ask = async (): Promise<void> => {
      await find("here", "a");
      await expect(find("none", "b")).rejects.toThrow("ENOTFOUND");
    };
    await ask();
    now = 9_999;
    await ask();
    expect(resolver.asked).toEqual(["here", "none"]);
    now = 10_000;
    await ask();
    expect(resolver.asked).toEqual(["here", "none", "none"]);
    now = 30_000;
    await ask();
    expect(resolver.asked.slice(3)).toEqual(["here", "none"]);
    expect(await names.lookup("here")).toEqual(HERE);
  });

  it("is a thousand names", async () => {
    for (let at = 0; at <= 1_000; at++) await find(`name${at}`, "a");
    await find("name1", "a");
    expect(resolver.asked).toHaveLength(1_001);
    await find("name0", "a");
    expect(resolver.asked).toHaveLength(1_002);
  });

  it("is nothing of an address", async () => {
    for (const address of ["127.0.0.1", "[::1]"]) await find(address, "a");
    expect(resolver.asked).toEqual([]);
  });
});
