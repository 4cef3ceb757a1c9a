import { expect, it } from "vitest";
import { Bridge, type ToolAnswer } from "../../../../apps/shared/bridge.ts";

/** A page in a host that answers each call of a tool with `result`. */
async function callIn(result: object): Promise<ToolAnswer> {
  let receive: (event: object) => void = () => {};
  const host = {
    postMessage({ id, method }: { id: number; method: string }) {
      const answer = method === "ui/initialize" ? {} : result;
      if (id !== undefined) receive({ source: host, data: { jsonrpc: "2.0", id, result: answer } });
    },
  };
  const page = { addEventListener: (_: string, listener: typeof receive) => (receive = listener) };
  const ignore = (): void => {};
  const events = {
    onReady: ignore,
    onToolInput: ignore,
    onToolResult: ignore,
    onToolCancelled: ignore,
    onContext: ignore,
  };
  const bridge = new Bridge(host as never, { name: "calendar", title: "Calendar" }, events);
  await bridge.connect(page as never);
  return bridge.callTool("update_post", {});
}

const lost = {
  field: null,
  what: "The channel must be reconnected first.",
  next: [{ do: "reconnect", provider: "bluesky", accountId: "acc_1" }],
};
const SHOWN = "The channel must be reconnected first. Ask your agent to reconnect it.";
const text = (words: string) => [{ type: "text", text: words }];

it("a refusal is worded for the person in front of a view", async () => {
  const refused = { isError: true, content: text("Call connect_channel.") };
  expect(await callIn({ ...refused, _meta: { "posthorn/sentences": { "": [lost] } } })).toMatchObject({
    isError: true,
    text: SHOWN,
  });
  expect(await callIn(refused)).toMatchObject({ isError: true, text: "Call connect_channel." });
});

it("so are the sentences of a result, also where a host passes its text alone", async () => {
  const result = { posts: [{ id: "post_1", error: "Call connect_channel." }] };
  const _meta = { "posthorn/sentences": { "/posts/0/error": [lost] } };
  const shown = { posts: [{ id: "post_1", error: SHOWN }] };
  const whole = await callIn({ structuredContent: result, content: text("for models"), _meta });
  expect(whole.structured).toEqual(shown);
  expect((await callIn({ content: text(JSON.stringify(result)), _meta })).structured).toEqual(shown);
});
