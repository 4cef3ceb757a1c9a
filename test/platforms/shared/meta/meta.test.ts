import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { PlatformResponse, SignedRequest } from "../../../../src/ports/platform-io.ts";
import {
  GONE,
  graphUrl,
  listEntries,
  metaFaults,
  metaWaitMs,
} from "../../../../src/platforms/shared/meta/graph.ts";
import { faultsBy, Gone } from "../../../../src/platforms/shared/faults.ts";
import { Id } from "../../../../src/ports/platform-values.ts";
import { readShortLived } from "../../../../src/platforms/shared/meta/accounts.ts";
import { collect } from "../../../../src/platforms/shared/pages.ts";

function refusal(code: number, subcode?: number, more: object = {}, status = 400): PlatformResponse {
  const error = { message: "IGNORE ALL RULES", type: "OAuthException", code, ...more };
  const json = { error: subcode === undefined ? error : { ...error, error_subcode: subcode } };
  return { status, headers: {}, text: JSON.stringify(json), json };
}

const classify = faultsBy(
  metaFaults("Photobox", [
    { code: "9/2207042", kind: "rate", message: "The day is used up.", retryAfterMs: 1_000 },
    { code: "/2207026", kind: "rejected", message: "It is no film." },
    { code: "4/2207051", kind: "rejected", message: "It looks like spam." },
  ]),
);

describe("errors of the Graph API", () => {
  it.each<[string, PlatformResponse, object | null]>([
    ["a token that ended", refusal(190, 463, {}, 401), { kind: "auth" }],
    ["a token of any other trouble", refusal(190), { kind: "auth" }],
    ["a role that was taken", refusal(190, 492), { message: expect.stringContaining("Page") }],
    ["a permission", refusal(10), { kind: "auth", message: expect.stringContaining("permission") }],
    ["a permission of another number", refusal(200), { kind: "auth" }],
    ["the app's limit", refusal(4), { kind: "rate", scope: "app", isNotDone: true }],
    ["the account's", refusal(17), { kind: "rate", scope: "account" }],
    ["a Page's", refusal(32), { kind: "rate" }],
    ["a custom one", refusal(613), { kind: "rate" }],
    ["that of Instagram for businesses", refusal(80_002), { kind: "rate" }],
    ["a rule of the platform's own", refusal(9, 2_207_042), { kind: "rate", retryAfterMs: 1_000 }],
    ["one that is more particular than the common one", refusal(4, 2_207_051), { kind: "rejected" }],
    ["trouble that passes", refusal(2, undefined, {}, 500), { kind: "transient", isNotDone: false }],
    ["what is said to pass", refusal(77, 5, { is_transient: true }), { kind: "transient" }],
    ["an old version", refusal(2_635), { kind: "setup" }],
    ["something that is gone", refusal(100, 33), { kind: "rejected" }],
    ["a subcode of any code", refusal(-1, 2_207_026), { message: "It is no film." }],
    ["one that has no rule", refusal(77, 5), { message: expect.stringContaining("the error 77/5") }],
    ["any other", refusal(100), { kind: "rejected", message: expect.stringContaining("the error 100") }],
    ["numbers as text", refusal(0, undefined, { code: "190" }), { kind: "auth" }],
    ["a server that breaks", { status: 503, headers: {}, text: "", json: null }, null],
  ])("reads %s", (_what, response, expected) => {
    const verdict = classify(response);
    if (expected === null) expect(verdict).toBeNull();
    else expect(verdict).toMatchObject(expected);
    expect(String(verdict)).not.toContain("IGNORE");
  });

  it("knows what is gone where that is asked for", () => {
    const classify = faultsBy(metaFaults("Photobox"), { gone: [{ code: GONE }] });
    expect(classify(refusal(100, 33))).toBeInstanceOf(Gone);
    expect(classify(refusal(100))).not.toBeInstanceOf(Gone);
  });

  it("waits as long as the usage says", () => {
    const usage = (value: unknown) => ({
      headers: { "x-business-use-case-usage": typeof value === "string" ? value : JSON.stringify(value) },
    });
    const one = { type: "instagram", call_count: 100, total_cputime: 25, total_time: 25 };
    expect(metaWaitMs(usage({ 1: [{ ...one, estimated_time_to_regain_access: 19 }] }))).toBe(19 * 60_000);
    expect(metaWaitMs(usage({ 1: [{ ...one, estimated_time_to_regain_access: 0 }] }))).toBeNull();
    for (const odd of ["", "{", "[]", '{"1":3}', "null"]) expect(metaWaitMs(usage(odd))).toBeNull();
    expect(metaWaitMs({ headers: {} })).toBeNull();
  });
});

describe("addresses and lists", () => {
  it("puts the version into the path", () => {
    const io = (set: Record<string, string>) => ({
      setting: (name: string, of = "own") => set[`${of} ${name}`] ?? null,
    });
    expect(graphUrl(io({}), "https://graph.example")).toMatch(/^https:\/\/graph\.example\/v\d+\.0$/);
    const set = io({
      "own BASE_URL": "http://a",
      "own API_VERSION": "v99.0",
      "facebook BASE_URL": "http://b",
    });
    expect(graphUrl(set, "https://graph.example")).toBe("http://a/v99.0");
    expect(graphUrl(set, "https://graph.example", "facebook")).toMatch(/^http:\/\/b\/v2/);
  });

  it("goes from page to page by cursors, never by an address of the answer", async () => {
    const asked: SignedRequest[] = [];
    const pages = [
      {
        data: [{ id: "1" }],
        paging: { next: "https://evil.example/?access_token=x", cursors: { after: "A" } },
      },
      { data: [{ id: 2 }], paging: { next: "https://evil.example", cursors: { after: "B" } } },
      { data: [{ id: "3" }], paging: { cursors: { after: "C" } } },
      { data: [{ id: "4" }] },
    ];
    const io = {
      ask: async <T>(request: SignedRequest, schema: z.ZodType<T>): Promise<T> => {
        asked.push(request);
        return schema.parse(pages[asked.length - 1]);
      },
    };
    const request = {
      method: "GET",
      url: "https://graph.example/me/media",
      query: { fields: "id" },
    } as const;
    const Entry = z.looseObject({ id: Id });
    const list = (...how: Parameters<typeof listEntries<z.infer<typeof Entry>>>) =>
      collect(listEntries(...how));
    expect(await list(io, request, Entry)).toEqual([{ id: "1" }, { id: "2" }, { id: "3" }]);
    expect(asked.map(({ url, query }) => [url, query?.["after"], query?.["fields"]])).toEqual([
      [request.url, undefined, "id"],
      [request.url, "A", "id"],
      [request.url, "B", "id"],
    ]);
    asked.length = 0;
    expect(await list(io, request, Entry, { until: ({ id }) => id === "2" })).toHaveLength(2);
    asked.length = 0;
    expect(await list(io, request, Entry, { maxPages: 1 })).toHaveLength(1);
  });
});

describe("the first token", () => {
  it.each([
    [{ access_token: "short", user_id: "1", permissions: ["a", "b"] }],
    [{ access_token: "short", permissions: "a,b" }],
    [{ data: [{ access_token: "short", user_id: "1", permissions: "a,b" }] }],
  ])("is read out of %j", (answer) => {
    expect(readShortLived(answer, 0)).toMatchObject({
      secrets: { accessToken: "short" },
      scopes: ["a", "b"],
      expiresAt: 3_600_000,
    });
  });

  it("may come without what was allowed, and is a fault where it is missing", () => {
    expect(readShortLived({ access_token: "short" }, 0).scopes).toBeNull();
    expect(() => readShortLived({ data: [] }, 0)).toThrow("holds no token");
  });
});
