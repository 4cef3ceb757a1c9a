import { expect, it } from "vitest";
import { checkPoll, checkSeen } from "../../../src/platforms/shared/checks.ts";

const POLL = { options: ["a", "b"], hours: 1 };

it("finds what is wrong with a poll, and nothing with a post that has none", () => {
  const whole = { caption: "Which?", mediaUrl: "", metadata: { poll: POLL } };
  expect(checkPoll(whole, "Pinboard")).toEqual([]);
  expect(checkPoll({ caption: null, mediaUrl: "a", metadata: { format: "markdown" } }, "Pinboard")).toEqual(
    [],
  );
  const wrong = { caption: " ", mediaUrl: "a", metadata: { poll: POLL, format: "markdown" } } as const;
  expect(checkPoll(wrong, "Pinboard").map((error) => error.split(":")[0])).toEqual([
    "caption",
    "metadata.poll",
    "metadata.format",
  ]);
});

it.each([
  ["[a]: https://a.example", "markdown", 1],
  ["[a]: https://a.example", "plain", 0],
  ["*a*", "markdown", 0],
  [" ", "markdown", 0],
  [null, "markdown", 0],
] as const)("finds a text that shows nothing: %s as %s", (text, format, errors) => {
  expect(checkSeen("caption", text, format)).toHaveLength(errors);
});
