import { afterEach, describe, expect, it, vi } from "vitest";
import { type CallError, callTool, said } from "../../../apps/page/data/wire.ts";
import { sentencesBehind } from "../../../apps/shared/sentences.ts";
import { sentenceOf } from "../../../apps/shared/texts.ts";

afterEach(() => vi.unstubAllGlobals());

function answer(status: number, body: unknown): void {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body), { status }));
}

const lost = {
  field: null,
  what: "The channel must be reconnected first.",
  next: [{ do: "reconnect", provider: "bluesky", accountId: "acc_1" }],
};
const empty = { field: "caption", what: "is empty.", next: [] };

describe("a refusal", () => {
  it("is worded for people, and tells what it says of each field", async () => {
    answer(400, { error: "caption: is empty. Call connect_channel.", sentences: [empty, lost] });
    const error: unknown = await callTool("update_post").catch((reason: unknown) => reason);
    expect(sentenceOf(error)).toBe(
      "The text is empty. The channel must be reconnected first. Reconnect it under Channels.",
    );
    expect(said(error)).toEqual([empty, lost]);
    expect((error as CallError).status).toBe(400);
  });

  it("is told as it came where it came as a text", async () => {
    answer(503, { error: "Posthorn is being stopped." });
    await expect(callTool("update_post")).rejects.toThrow("Posthorn is being stopped.");
    answer(502, "a gateway's page");
    await expect(callTool("update_post")).rejects.toThrow("The server answered with status 502.");
    expect(said(new Error("No."))).toEqual([{ field: null, what: "No.", next: [] }]);
  });
});

it("a result has people's words where the server sent sentences", async () => {
  answer(200, {
    result: { post: { id: "post_1", error: "Call connect_channel." }, warnings: ["caption: is empty."] },
    sentences: { "/post/error": [lost], "/warnings/0": [empty] },
  });
  const result = await callTool("get_post");
  expect(result).toEqual({
    post: { id: "post_1", error: "The channel must be reconnected first. Reconnect it under Channels." },
    warnings: ["The text is empty."],
  });
  expect(sentencesBehind(result["post"] as object, "error")).toEqual([lost]);
});
