import { describe, expect, it } from "vitest";
import { endOf } from "../../support/contract/ends.ts";
import { readStage } from "../../support/contract/read-stage.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { createTestContext } from "../../support/context.ts";
import { describedBy } from "../../support/described.ts";
import { addAccount, addPost } from "../../support/publishing.ts";

describe("a stage", () => {
  it("that is missing is told by its file", async () => {
    await expect(readStage("photobox")).rejects.toThrow(
      "photobox has no stage: write test/platforms/photobox/stage.ts.",
    );
  });

  it("says what was asked wrongly before what became of the post", async () => {
    await using ctx = await createTestContext({ media: createStageMedia() });
    const account = await addAccount(ctx);
    const { id } = await addPost(ctx, account);
    const stage = { ctx, account, wrong: ["There is no POST /poste."] };
    await expect(endOf(stage as never, id)).rejects.toThrow("asked wrongly: There is no POST /poste.");
  });
});

describe("describedBy", () => {
  it("fills every {…} of a path, whatever a description calls it", async () => {
    const read = describedBy({
      source: "invented",
      ids: { "team.id": "\\d+" },
      operations: { "GET /teams/{team.id}/users/{user-id}/posts/{post_id}": {} },
    });
    const ask = (path: string) =>
      read({ method: "GET", url: `https://a.example${path}` }, "https://a.example");
    expect(await ask("/teams/7/users/ann/posts/p_1")).toMatchObject({ id: "7", ids: ["7", "ann", "p_1"] });
    expect(await ask("/teams/x/users/ann/posts/p_1")).toMatch(/^There is no/);
  });

  const SPEC = {
    source: "invented",
    definitions: { tags: { type: "array", items: { enum: ["horn", "post"] } } },
    operations: {
      "GET /posts": {
        query: { tags: { $ref: "spec#/definitions/tags" }, limit: { type: "integer" } },
        required: ["tags"],
      },
      "POST /posts": {
        body: { type: "object", properties: { text: { type: "string" } }, additionalProperties: false },
        form: {
          ...{ type: "object", additionalProperties: false, required: ["file"] },
          properties: {
            file: { type: "object", properties: { type: { const: "image/png" } } },
            isLoud: { type: "boolean" },
            said: { contentSchema: { type: "object", required: ["text"] } },
          },
        },
      },
      "PUT /files": { file: "^image/" },
    },
  };
  const base = "https://a.example";
  const read = describedBy(SPEC);
  const send = (path: string, type: string, body: Buffer, more = {}) => {
    const headers = { "content-type": type, "content-length": String(body.length), ...more };
    return read({ method: path === "/files" ? "PUT" : "POST", url: `${base}${path}`, headers, body }, base);
  };
  const sendForm = async (parts: Readonly<Record<string, string | File>>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(parts)) form.append(name, value);
    const whole = new Response(form);
    const type = whole.headers.get("content-type") ?? "";
    return send("/posts", type, Buffer.from(await whole.arrayBuffer()));
  };

  it("types what a query has, and divides an array", async () => {
    const ask = (query: string) => read({ method: "GET", url: `${base}/posts?${query}` }, base);
    const given = { tags: ["horn", "post"], limit: 5 };
    expect(await ask("tags=horn,post&limit=5")).toMatchObject({ given });
    expect(await ask("tags=horn&tags=post&limit=5")).toMatchObject({ given });
    for (const wrong of [
      "limit=5",
      "tags=harp",
      "tags=horn&limit=x",
      "tags=horn&limit=1&limit=2",
      "tags=horn&x=",
    ])
      expect(await ask(wrong)).toMatch(/^GET \/posts: /);
  });

  it("reads the parts of a form, its files and its JSON", async () => {
    const file = new File(["x"], "a.png", { type: "image/png" });
    const said = JSON.stringify({ text: "A horn" });
    expect(await sendForm({ file, isLoud: "true", said })).toMatchObject({
      given: { file: { size: 1 }, isLoud: true, said: { text: "A horn" } },
    });
    for (const wrong of [
      {},
      { file: "a text" },
      { file, said: "{}" },
      { file, said: "A horn" },
      { file, files: "" },
    ])
      expect(await sendForm(wrong)).toMatch(/^POST \/posts: /);
  });

  it("takes no other body, and none of another length", async () => {
    const json = Buffer.from('{"text":"A horn"}');
    expect(await send("/posts", "application/json; charset=utf-8", json)).toMatchObject({
      given: { text: "A horn" },
    });
    expect(await send("/posts", "text/plain", json)).toBe("POST /posts: a body of text/plain.");
    expect(await send("/posts", "application/json", json, { "content-length": "3" })).toMatch(
      /17 bytes came/,
    );
    expect(await send("/files", "image/png", json)).toMatchObject({ body: json, given: {} });
    expect(await send("/files", "video/mp4", json)).toBe("PUT /files: a body of video/mp4.");
    expect(await read({ method: "POST", url: "https://b.example/posts" }, base)).toMatch(/^There is no/);
  });
});
