import { agentsWordsFor } from "../../../src/toolkit/words.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROLE_NAMES, ROLES } from "../../../src/domain/permissions.ts";
import { PROMPTS } from "../../../src/mcp/prompts/prompts.ts";
import { callerOf } from "../../support/context.ts";
import { addPosts } from "../../support/post-rows.ts";
import { connectReader, startRealServer, type Reader, type RealServer } from "../readers.ts";

const LINE = "sdk 2, stateless";

let server: RealServer;
let reader: Reader;

beforeAll(async () => {
  server = await startRealServer();
  await addPosts(server.ctx.store, [{ id: "post_1", caption: "Opening on Friday", status: "failed" }]);
  reader = await connectReader(LINE, server.http.port, await server.http.keyFor("default"));
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const WHERE = /on Posthorn's page under Review, or with `posthorn drafts`/;

describe("a model", () => {
  it("is told where a person decides what waits, in both forms of an answer", async () => {
    const draft = { caption: "Hello", targets: [{ accountId: "acc_1" }], scheduledAt: "2031-01-30T09:00" };
    const open = await reader.call("save_draft", draft);
    expect(open.structuredContent.note).toBeUndefined();
    const table = { csv: "channel,text\nacc_1,From a table", as: "drafts", dryRun: false };
    for (const { structuredContent, content } of [
      await reader.call("save_draft", { ...draft, submit: true }),
      await reader.call("import_posts", table),
      await reader.call("list_drafts", {}),
    ]) {
      expect(structuredContent.note).toMatch(WHERE);
      expect(JSON.parse(content[0].text).note).toMatch(WHERE);
      expect(structuredContent.note).not.toContain("http");
    }
  });

  it("is told which file an upload becomes", async () => {
    const { structuredContent } = await reader.call("upload_file", {});
    expect(structuredContent.note).toMatch(
      /^Send the bytes there with PUT\. Then give file_\w+ as mediaUrl\.$/,
    );
  });
});

describe.each(ROLE_NAMES)("a %s", (role) => {
  const caller = callerOf({ permissions: [...ROLES[role]], isProgram: true });
  const scope = () => ({ ...server, caller, signal: new AbortController().signal });

  it("is led by the tasks to its own tools alone", async () => {
    const own = server.toolbox.names(caller);
    const all = server.toolbox.tools.map(({ name }) => name);
    const args = { topics: "news", postId: "post_1" };
    for (const { name, tool, messages } of PROMPTS.filter(({ tool = "list_posts" }) => own.includes(tool))) {
      const said = JSON.stringify(await messages(args, scope()));
      const named = all.filter((one) => new RegExp(`\\b${one}\\b`).test(said));
      expect(
        named.filter((one) => !own.includes(one)),
        `${name} of ${tool}`,
      ).toEqual([]);
    }
  });

  it("is told of tools that an answer names and that it does not have", async () => {
    const slot = { caption: "x", targets: [{ accountId: "acc_1" }], slot: "next", submit: true };
    if (!server.toolbox.names(caller).includes("save_draft")) return;
    const said = await server.toolbox.call("save_draft", slot, caller).catch(agentsWordsFor);
    const open = { ...slot, submit: false };
    const { outOfReach } = await server.toolbox.call("save_draft", open, caller, { isByModel: true });
    const told =
      "A person does that, on Posthorn's page or the command line: this assistant does not have update_account.";
    if (role === "admin") {
      expect(said).not.toContain("does not have");
      expect(outOfReach).toBeNull();
    } else {
      expect(said).toMatch(new RegExp(`Set slots with update_account.*${told}$`));
      expect(outOfReach).toBe(told);
    }
  });
});

describe("a task", () => {
  it("takes a channel by its name, and tells two of one name apart", async () => {
    const { messages } = await reader.prompt("plan_week", { topics: "news", accountId: "webhook" });
    expect(messages[0].content.text).toContain("acc_2");
    expect(messages[0].content.text).not.toContain("acc_1");
    const all = await reader.prompt("plan_week", { topics: "news", provider: "rss" });
    expect(all.messages[0].content.text).toContain("acc_1");
    await expect(reader.prompt("plan_week", { topics: "news", accountId: "Bakery" })).rejects.toThrow(
      /there is no channel "Bakery"/,
    );
  });

  it.each([
    ["review_results", { month: "last month" }, /month: "last month" is none\. Give it as yyyy-mm/],
    ["plan_week", { topics: "x", week: "next" }, /week: "next" is none\. Give it as yyyy-mm-dd/],
  ])("%s takes no words for a time", async (name, args, sentence) => {
    await expect(reader.prompt(name, args)).rejects.toThrow(sentence);
  });
});
