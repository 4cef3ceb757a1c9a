import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROMPTS } from "../../../src/mcp/prompts/prompts.ts";
import { send } from "../../support/http.ts";
import { addPosts } from "../../support/post-rows.ts";
import type { Line } from "../peers.ts";
import { connectReader, startRealServer, type Reader, type RealServer } from "../readers.ts";

const LINES: readonly Line[] = ["sdk 1", "sdk 2, sessions", "sdk 2, stateless"];
const prompt = (name: string) => ({ type: "ref/prompt", name });
const template = (uri: string) => ({ type: "ref/resource", uri });

let server: RealServer;

beforeAll(async () => {
  server = await startRealServer();
  await addPosts(server.ctx.store, [
    { id: "post_1", caption: "Opening on Friday", scheduledAt: "2026-11-25T09:00:00Z" },
    { id: "post_2", accountId: "acc_2", provider: "webhook", caption: "Broken", status: "failed" },
    { id: "post_theirs", accountId: "acc_theirs", ownerId: "other", caption: "Not yours" },
  ]);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe.each(LINES)("a client of %s", (line) => {
  let reader: Reader;

  beforeAll(async () => {
    reader = await connectReader(line, server.http.port, await server.http.keyFor("default"));
  });

  afterAll(async () => {
    await reader[Symbol.asyncDispose]();
  });

  it("is offered the tasks, with every argument described", async () => {
    const prompts = await reader.prompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      "plan_week",
      "draft_week",
      "review_drafts",
      "repurpose_post",
      "review_failed_posts",
      "review_results",
    ]);
    for (const { title, description, arguments: args } of prompts) {
      expect([title, description]).toEqual([expect.stringMatching(/^[A-Z]/), expect.stringMatching(/\.$/)]);
      for (const argument of args)
        expect(argument).toMatchObject({
          description: expect.stringMatching(/\.$/),
          required: expect.any(Boolean),
        });
    }
  });

  it("plans a week on the channels it has", async () => {
    const { messages } = await reader.prompt("plan_week", { topics: "the summer sale", week: "2026-12-01" });
    expect(messages).toHaveLength(1);
    for (const part of ["the summer sale", "2026-12-01", "acc_1", "acc_2", "show_calendar", "dryRun"]) {
      expect(messages[0].content.text).toContain(part);
    }
    expect(messages[0].content.text).not.toContain("acc_theirs");
    const narrowed = await reader.prompt("plan_week", { topics: "news", provider: "webhook" });
    expect(narrowed.messages[0].content.text).toContain("acc_2");
    expect(narrowed.messages[0].content.text).not.toContain("acc_1");
  });

  it("drafts a week, and goes through what waits", async () => {
    const { messages } = await reader.prompt("draft_week", { topics: "the summer sale" });
    for (const part of ["the summer sale", "acc_1", "save_draft", "submit", "Publish nothing"])
      expect(messages[0].content.text).toContain(part);
    const review = await reader.prompt("review_drafts");
    for (const part of ["list_drafts", "decide_draft", "waiting"])
      expect(review.messages[0].content.text).toContain(part);
  });

  it("takes a post elsewhere with the post itself", async () => {
    const { messages } = await reader.prompt("repurpose_post", { postId: "post_1", accountId: "acc_2" });
    expect(messages[1].content.resource).toMatchObject({
      uri: "posthorn://posts/post_1",
      mimeType: "application/json",
    });
    expect(JSON.parse(messages[1].content.resource.text)).toMatchObject({ caption: "Opening on Friday" });
  });

  it("reviews what failed, and says when nothing did", async () => {
    const some = await reader.prompt("review_failed_posts");
    expect(some.messages[0].content.text).toContain("resolve_post");
    expect(some.messages[0].content.text).not.toContain("none now");
    const none = await reader.prompt("review_failed_posts", { accountId: "acc_1" });
    expect(none.messages[0].content.text).toContain("none now");
  });

  it.each([
    ["fly", {}, "The prompts are plan_week"],
    ["plan_week", {}, "topics: is required"],
    ["plan_week", { topics: "x", day: "Monday" }, '"day" is not an argument of plan_week'],
    ["plan_week", { topics: "x", accountId: "acc_theirs" }, 'accountId: there is no account "acc_theirs"'],
    ["plan_week", { topics: "x", accountId: "acc_1", provider: "webhook" }, "no channel fits"],
    ["repurpose_post", { postId: "post_theirs" }, "There is no post"],
    ["review_failed_posts", { status: "lost" }, "status: must be one of scheduled"],
  ])("hears why %s with %o cannot be", async (name, args, sentence) => {
    await expect(reader.prompt(name, args)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(sentence),
    });
  });

  it("is offered values while a person types", async () => {
    const values = async (ref: object, name: string, value: string) =>
      (await reader.complete(ref, name, value)).values;
    expect(await values(prompt("plan_week"), "accountId", "")).toEqual(["acc_1", "acc_2"]);
    expect(await values(prompt("plan_week"), "accountId", "acc_2")).toEqual(["acc_2"]);
    expect(await values(prompt("plan_week"), "provider", "b")).toContain("bluesky");
    expect(await values(prompt("plan_week"), "topics", "a")).toEqual([]);
    expect(await values(prompt("repurpose_post"), "postId", "friday")).toEqual(["post_1"]);
    expect(await values(prompt("review_failed_posts"), "status", "p")).toEqual(["publishing", "published"]);
    expect(await values(template("posthorn://accounts/{id}"), "id", "acc")).toEqual(["acc_1", "acc_2"]);
    expect(await values(template("posthorn://posts/{id}"), "id", "")).toEqual(["post_2", "post_1"]);
    expect(await values(template("posthorn://platforms/{provider}"), "provider", "feed")).toEqual(["feed"]);
    expect((await values(template("posthorn://calendar/{month}"), "month", ""))[0]).toBe("2026-11");
    expect(await values(template("posthorn://calendar/{month}"), "month", "2027-0")).toContain("2027-01");
  });

  it.each([
    [prompt("fly"), "x", "The prompts are"],
    [prompt("plan_week"), "day", "Known are topics"],
    [template("posthorn://nowhere/{id}"), "id", "The templates are"],
    [template("posthorn://posts/{id}"), "month", "Known are id"],
  ])("hears what can be completed instead of %o %s", async (ref, name, sentence) => {
    await expect(reader.complete(ref, name, "")).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(sentence),
    });
  });
});

it("says in its prompts only names of tools that exist", () => {
  const names = new Set(server.toolbox.tools.map(({ name }) => name));
  const texts = PROMPTS.flatMap(({ description, messages }) => [description, messages.toString()]);
  const mentioned = texts.flatMap((text) => text.match(/\b[a-z]+_[a-z]+(_[a-z]+)?\b/g) ?? []);
  expect(
    mentioned.filter(
      (name) => /^(get|list|show|schedule|update|resolve|retry|connect)_/.test(name) && !names.has(name),
    ),
  ).toEqual([]);
});

describe("a client that can show forms", () => {
  const capabilities = { elicitation: {} };
  let key: string;

  beforeAll(async () => {
    key = await server.http.keyFor("default");
  });

  it("is asked for what was left out, and the task starts with it", async () => {
    const { result } = await get("plan_week", { week: "2026-12-01" });
    expect(result).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        form: {
          method: "elicitation/create",
          params: { requestedSchema: { properties: { topics: { type: "string" } }, required: ["topics"] } },
        },
      },
    });
    const retry = { inputResponses: { form: { action: "accept", content: { topics: "the summer sale" } } } };
    const { messages } = (
      await get("plan_week", { week: "2026-12-01" }, { ...retry, requestState: result.requestState })
    ).result;
    for (const part of ["the summer sale", "2026-12-01"]) expect(messages[0].content.text).toContain(part);
  });

  it.each([
    [{ action: "decline" }, "plan_week was not started"],
    [{ action: "accept", content: { topics: " " } }, "topics: is required"],
    [{ action: "accept", content: { topics: 5 } }, "topics: is required"],
  ])("answers %j, and is told that nothing was started", async (form, sentence) => {
    const { error } = await get("plan_week", {}, { inputResponses: { form } });
    expect(error.message).toContain(sentence);
  });

  async function get(name: string, args: object, params: object = {}): Promise<any> {
    const version = "2026-07-28";
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const headers = {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": version,
      "Mcp-Method": "prompts/get",
    };
    const { json } = await send(server.http.port, "POST /mcp", {
      key,
      json: {
        jsonrpc: "2.0",
        id: 1,
        method: "prompts/get",
        params: { name, arguments: args, ...params, _meta },
      },
      headers: { ...headers, "Mcp-Name": name },
    });
    return json;
  }
});
