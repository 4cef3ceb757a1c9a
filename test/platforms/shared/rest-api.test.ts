import { expect, it } from "vitest";
import { z } from "zod";
import type { FaultTable } from "../../../src/platforms/shared/faults.ts";
import { type ApiCall, restApi } from "../../../src/platforms/shared/rest-api.ts";
import type { PlatformIo, PlatformRequest, PlatformResponse } from "../../../src/ports/platform-io.ts";

const Refusal = z.looseObject({ error: z.string() });

const FAULTS: FaultTable = {
  title: "Photobox",
  codesOf: ({ status, json }) => (status < 400 ? [] : [Refusal.parse(json).error]),
  rules: [
    { code: "rude", kind: "rejected", message: "It is rude." },
    { code: "no_api", kind: "auth", message: "The API is off." },
  ],
};

/** An API that answers so, and what it makes of the answer. */
function answering(status: number, error: string) {
  const response: PlatformResponse = { status, headers: {}, text: "", json: { error } };
  const request = async ({ classify }: PlatformRequest): Promise<PlatformResponse> => {
    const verdict = classify?.(response) ?? null;
    if (verdict !== null && verdict !== "ok") throw verdict;
    return response;
  };
  const ask: PlatformIo["ask"] = async (asked, schema) => schema.parse((await request(asked)).json);
  const io = { ask, request, setting: () => null, account: {} } as unknown as PlatformIo;
  const api = restApi({ base: "https://photobox.example", faults: FAULTS });
  return {
    ask: (call: Partial<ApiCall> = {}) => api.ask(io, { path: "/me", ...call }, Refusal),
    askOrGone: (call: Partial<ApiCall> = {}) => api.askOrGone(io, { path: "/me", ...call }, Refusal),
    sendOrGone: (call: Partial<ApiCall> = {}) => api.sendOrGone(io, { path: "/me", ...call }),
  };
}

it("reads errors by the rules of the call, then by those of the API", async () => {
  const photobox = answering(400, "rude");
  await expect(photobox.ask()).rejects.toThrow("It is rude.");
  const rules = [{ code: "rude", kind: "setup", message: "Not here." }] as const;
  await expect(photobox.ask({ rules })).rejects.toMatchObject({ kind: "setup", sentence: "Not here." });
  const other = [{ code: "other", kind: "setup", message: "Not here." }] as const;
  await expect(photobox.ask({ rules: other })).rejects.toThrow("It is rude.");
  expect(await photobox.ask({ rules: [{ code: "rude", kind: "ok" }] })).toEqual({ error: "rude" });
  const faults = { ...FAULTS, rules: [] };
  await expect(photobox.ask({ faults })).rejects.toThrow("with the error rude");
});

it("gives null for what is gone, which the call or the API may say otherwise", async () => {
  const photobox = answering(404, "unknown");
  expect(await photobox.askOrGone()).toBeNull();
  expect(await photobox.sendOrGone()).toBeNull();
  await expect(photobox.ask()).rejects.toMatchObject({ kind: "rejected" });
  await expect(photobox.askOrGone({ gone: [{ status: 410 }] })).rejects.toMatchObject({ kind: "rejected" });
  expect(await answering(400, "rude").askOrGone({ gone: [{ code: "rude" }] })).toBeNull();
});

it("takes nothing for gone that the table takes for another trouble", async () => {
  await expect(answering(404, "no_api").askOrGone()).rejects.toMatchObject({ kind: "auth" });
});
