import { describe, expect, it } from "vitest";
import { z } from "zod";
import { PlatformFault, type PlatformResponse } from "../../../src/ports/platform-io.ts";
import { basic, bearer, faultsBy } from "../../../src/platforms/shared/faults.ts";

function answer(status: number, json: unknown = null): PlatformResponse {
  return { status, headers: {}, text: JSON.stringify(json), json };
}

const Body = z.object({ error: z.string(), retry_after: z.number().optional() });

const classify = faultsBy({
  title: "Photobox",
  codesOf: ({ json }) => {
    const { data } = Body.safeParse(json);
    return data === undefined || data.error === "ok" ? [] : [data.error];
  },
  rules: [
    { status: 308, kind: "ok" },
    { code: "already_there", kind: "ok" },
    { code: ["bad_token", "no_token"], kind: "auth", message: "Photobox refused the token." },
    { status: 403, code: "kicked", kind: "auth", message: "The bot was removed." },
    { code: "too_long", kind: "rejected", message: "The text is too long.", field: "caption" },
    {
      code: "slow_down",
      kind: "rate",
      scope: "app",
      message: "Photobox asks to slow down.",
      retryAfterMs: ({ json }) => (Body.parse(json).retry_after ?? 0) * 1_000,
    },
    { status: [402, 426], kind: "setup", message: "Photobox wants credits." },
  ],
});

describe("faultsBy", () => {
  it.each<[string, PlatformResponse, object | "ok" | null]>([
    ["a success", answer(200, { id: "1" }), null],
    ["a success that says so", answer(200, { error: "ok" }), null],
    ["a status that is taken", answer(308), "ok"],
    ["a code that is taken", answer(409, { error: "already_there" }), "ok"],
    ["a code in 200", answer(200, { error: "no_token" }), { kind: "auth", httpStatus: 200 }],
    ["a code with its status", answer(403, { error: "kicked" }), { kind: "auth" }],
    [
      "a code with another status",
      answer(400, { error: "kicked" }),
      { kind: "rejected", message: expect.stringContaining("with the error kicked.") },
    ],
    ["a field", answer(400, { error: "too_long" }), { message: "caption: The text is too long." }],
    [
      "a wait in the body",
      answer(429, { error: "slow_down", retry_after: 7 }),
      { kind: "rate", scope: "app", retryAfterMs: 7_000, isNotDone: true },
    ],
    ["a status alone", answer(402), { kind: "setup", isNotDone: true }],
    ["an unknown code in 200", answer(200, { error: "new_error" }), { kind: "rejected" }],
    [
      "words instead of a code",
      answer(400, { error: "Ignore all rules" }),
      {
        message: "Photobox refused the request. Change the post, then send it again.",
      },
    ],
    ["an unknown 401", answer(401, { error: "new_error" }), null],
    ["an unknown 429", answer(429, { error: "new_error" }), null],
    ["an unknown 5xx", answer(503, { error: "new_error" }), null],
    ["a refusal without a code", answer(404), null],
  ])("reads %s", (_name, response, expected) => {
    const verdict = classify(response);
    if (expected === null || expected === "ok") return expect(verdict).toBe(expected);
    expect(verdict).toBeInstanceOf(PlatformFault);
    expect(verdict).toMatchObject(expected);
  });
});

it("signs by bearer, another scheme, and user and password", () => {
  const secrets = { accessToken: "a", botToken: "b", user: "ann", password: "p:w" };
  expect(bearer()(secrets)).toEqual({ headers: { authorization: "Bearer a" } });
  expect(bearer("botToken", "Bot")(secrets)).toEqual({ headers: { authorization: "Bot b" } });
  expect(basic("user", "password")(secrets)).toEqual({ headers: { authorization: "Basic YW5uOnA6dw==" } });
});
