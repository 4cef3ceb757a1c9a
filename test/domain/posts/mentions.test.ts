import { describe, expect, it } from "vitest";
import { mentionToken, plainMentions, withPlainMentions } from "../../../src/domain/posts/mentions.ts";

describe("mentions", () => {
  it.each([
    ["Thanks, @[Ann Example](urn:li:person:1)!", "Thanks, @Ann Example!"],
    ["@[@ann](did:plc:1) and @[Bo](2)", "@ann and @Bo"],
    ["mail a@[b] or [x](https://a.example)", "mail a@[b] or [x](https://a.example)"],
    ["@[two\nlines](1)", "@[two\nlines](1)"],
    ["@[](1) @[x]()", "@[](1) @[x]()"],
  ])("are names where there are none: %j", (text, plain) => {
    expect(plainMentions(text)).toBe(plain);
  });

  it("are looked for in the caption, the thread and the first comment", () => {
    const mention = "@[A](1)";
    const metadata = { title: mention, thread: [{ caption: mention }], firstComment: mention };
    expect(withPlainMentions({ caption: mention, metadata })).toEqual({
      caption: "@A",
      metadata: { title: mention, thread: [{ caption: "@A" }], firstComment: "@A" },
    });
  });

  it("can be made of any name", () => {
    const token = mentionToken("Ann\n[the] 😀", "a");
    expect(token).toBe("@[Ann the 😀](a)");
    expect(plainMentions(token)).toBe("@Ann the 😀");
  });
});
