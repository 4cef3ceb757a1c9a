import { expect, it } from "vitest";
import { explainNoAddress, parseUrl } from "../../src/domain/parse-url.ts";

it("reads letters of other alphabets, however often it was called", () => {
  const text = "https://münchen.example/ä";
  const wrong = Array.from({ length: 50_000 }, () => parseUrl(text)?.href).filter(
    (href) => href !== "https://xn--mnchen-3ya.example/%C3%A4",
  );
  expect(wrong).toEqual([]);
});

it("completes an address from its base, and tells what is none", () => {
  expect(parseUrl("../b?c=1", "https://example.com/a/x")?.href).toBe("https://example.com/b?c=1");
  expect(parseUrl("/b")).toBeNull();
  expect(parseUrl("https://")).toBeNull();
  expect(parseUrl("")).toBeNull();
});

it.each([
  ["not a server!!", /^is not an http\(s\) address\. Give one that begins with https/],
  ["ftp://example.com", /^is not an http\(s\) address/],
  ["https://not a server!!", /^has a blank/],
  ["HTTPS://ex ample.com/", /^has a blank/],
  ["https://", /^has no host/],
  ["https://[::1", /^has no host/],
])("says of %s what is wrong with it, and nothing that it has", (text, sentence) => {
  expect(explainNoAddress(text)).toMatch(sentence);
});
