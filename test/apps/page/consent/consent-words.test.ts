import { describe, expect, it } from "vitest";
import { doubtAbout, placeInWords } from "../../../../apps/page/rooms/consent/consent-words.ts";

describe("a program that asks", () => {
  it.each([
    ["claude.ai", "claude.ai"],
    ["localhost", "A program on this device (localhost)"],
    ["[::1]", "A program on this device ([::1])"],
    ["cursor:", "A program on this device (cursor:)"],
    ["localhost.example.com", "localhost.example.com"],
  ])("is answered at %s: %s", (callbackHost, words) => {
    expect(placeInWords({ callbackHost })).toBe(words);
  });

  it("is doubted where nobody vouches, and where anybody could take the answer", () => {
    expect(doubtAbout({ host: "claude.ai", isVerified: true })).toBeNull();
    expect(doubtAbout({ host: null, isVerified: false })).toContain("says of itself");
    expect(doubtAbout({ host: "claude.ai", isVerified: false })).toContain("any program on this device");
  });
});
