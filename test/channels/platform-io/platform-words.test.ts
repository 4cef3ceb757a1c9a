import { Readable } from "node:stream";
import { expect, it } from "vitest";
import type { PlatformRequest } from "../../../src/ports/platform-io.ts";
import { createConnectIo } from "../../../src/channels/platform-io/connect-io.ts";
import { createPhotobox } from "../../support/connect-fixtures.ts";
import { createTestContext } from "../../support/context.ts";

const TOKEN = "secret-token-of-the-channel/+=&";

/** The sentence about a request that is answered so. */
async function sentenceFor(
  status: number,
  body: string | object,
  request: Partial<PlatformRequest> = {},
): Promise<string> {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const answer = async () => ({ status, headers: {}, url: "", body: Readable.from([bytes]) });
  await using ctx = await createTestContext({
    platformList: [createPhotobox().platform],
    outbound: { request: answer, assertAllowed: () => new URL("https://photobox.example") },
    feed: {} as never,
  });
  const signal = new AbortController().signal;
  const knownSecrets = new Set([TOKEN, "two  words\nof a secret"]);
  const io = await createConnectIo(ctx, { provider: "photobox", ownerId: "default", knownSecrets }, signal);
  const asked = { method: "POST", url: "https://photobox.example/posts", ...request } as const;
  return io.request(asked).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
}

const OURS = "Photobox refused the request (HTTP 422).";

it.each([
  [{ error: "Validation failed: Text is not allowed" }, "Validation failed: Text is not allowed"],
  [{ error: "invalid_grant", error_description: "The code is spent" }, "The code is spent"],
  [{ error: "InvalidRequest", message: "Input/text is too long" }, "Input/text is too long"],
  [{ error: { code: 100, message: "(#100) no", error_user_msg: "Take a JPEG." } }, "Take a JPEG."],
  [{ title: "Invalid Request", detail: "One is wrong", errors: [{ message: "text: no" }] }, "text: no"],
  [{ errors: [{ message: "Cannot save.", context: "The title is empty." }] }, "The title is empty."],
  [{ message: "Invalid Form Body", errors: { content: { _errors: [{ message: "Too long" }] } } }, "Too long"],
  [
    { message: "Not valid", errors: { a: ["a is required"], b: ["b is too big"] } },
    "a is required; b is too big",
  ],
  [{ error: "half\ud800 a character" }, "half a character"],
  [{ meta: { status: 400, msg: "Bad tags" }, response: [] }, "Bad tags"],
  [
    { json: { errors: [["NO_SR", "that subreddit is not there", "sr"]] } },
    "NO_SR; that subreddit is not there; sr",
  ],
  ["Rate limit reached", "Rate limit reached"],
  [`say "yes"\u001b[31m\u202e\n\nnow`, "say 'yes'[31m now"],
])("quotes what the platform says in %j", async (body, words) => {
  expect(await sentenceFor(422, body)).toBe(`${OURS} Photobox says: "${words}"`);
});

it.each(["", "<html><title>Welcome</title></html>", "x".repeat(301), {}, [], { ok: false, status: 422 }])(
  "says nothing where the platform says nothing for people: %j",
  async (body) => {
    expect(await sentenceFor(422, body)).toBe(OURS);
  },
);

it("cuts the words at 300 characters, emoji whole", async () => {
  const sentence = await sentenceFor(422, { error: "👩‍👩‍👧 ".repeat(2_000) });
  const words = sentence.slice(`${OURS} Photobox says: "`.length, -1);
  expect([...words]).toHaveLength(300);
  expect(words).toMatch(/…$/);
});

it("never quotes a title of what was asked for", async () => {
  const classify = () => null;
  expect(await sentenceFor(200, { title: "My film", description: "mine" }, { classify })).toBe("");
});

const code = "code-that-was-exchanged";

it.each([
  ["as it is", `You sent ${TOKEN}.`],
  ["encoded", `You sent ${encodeURIComponent(TOKEN)} and ${new URLSearchParams({ a: TOKEN }).toString()}`],
  ["with marks that nobody sees", `You sent ${[...TOKEN].join("\u200b")}`],
  ["on another line", "You sent two  words\nof a secret, or two words of a secret."],
  ["of the form", `You sent code=${code}`],
  ["at the cut", `${"\u200b".repeat(1_990)}${TOKEN}`],
  ["at the cut, after many", `${TOKEN.repeat(70).slice(0, 2_010)}`],
])("strikes out a secret that the platform repeats %s", async (_case, words) => {
  const form = { grant_type: "authorization_code", code };
  const sentence = await sentenceFor(422, { error: words }, { form });
  expect(sentence).not.toMatch(/secret-token|of the channel|two\s+words|code-that/);
});

it("takes an answer that is nested too deep, or has too many values, for one that was lost", async () => {
  const deep = `{"access_token":"t","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const wide = `[${"1,".repeat(200_000)}1]`;
  for (const body of [deep, wide]) {
    expect(await sentenceFor(422, body)).toBe(OURS);
    expect(await sentenceFor(500, body)).toContain("it may have done what was asked");
  }
});
