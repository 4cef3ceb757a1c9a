import { expect, it } from "vitest";
import { renderDocs } from "../../scripts/readme-parts.ts";

it("tells what each tool does in a whole sentence", async () => {
  const page = (await renderDocs()).get("tools.md") ?? "";
  const told = [...page.matchAll(/^\| `\w+` .*\| (.+?) *\|$/gm)].map(([, sentence = ""]) => sentence);
  expect(told.length).toBeGreaterThan(30);
  for (const sentence of told) {
    expect(sentence).toMatch(/\.$/);
    expect(sentence.split("(").length, sentence).toBe(sentence.split(")").length);
  }
});
