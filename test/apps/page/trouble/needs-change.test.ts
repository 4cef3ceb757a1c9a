import { expect, it } from "vitest";
import { needsChange } from "../../../../apps/page/post/post-facts.ts";
import { keepBehind } from "../../../../apps/shared/sentences.ts";

it.each([
  ["Title is missing. Add what is missing, then send the post again.", true],
  ["Telegram could not use the media. Give another file, or set asDocument.", true],
  ["Bluesky refused the request. Change the post, then send it again.", true],
  ["The server did not answer. It was tried 8 times. Send it again.", false],
  ["It missed its time. Send it again.", false],
  ['Mastodon says: "Change the post". Send it again.', false],
  [null, false],
])("%s: must be changed first: %s", (error, isSo) => expect(needsChange({ error })).toBe(isSo));

it("what is said of a field must be changed, whatever it says", () => {
  const post = { error: "Title is no title." };
  expect(needsChange(post)).toBe(false);
  keepBehind(post, "error", [{ field: "metadata.title", what: "is no title.", next: [] }]);
  expect(needsChange(post)).toBe(true);
});
