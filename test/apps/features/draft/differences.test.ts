import { describe, expect, it } from "vitest";
import { differencesOf, type Piece } from "../../../../apps/features/draft/differences.ts";

/** `[-removed-]` and `{+added+}` in the text. */
function told(before: string, after: string): string {
  return differencesOf(before, after)
    .map(({ kind, text }) => (kind === "same" ? text : kind === "added" ? `{+${text}+}` : `[-${text}-]`))
    .join("");
}

function only(pieces: readonly Piece[], without: Piece["kind"]): string {
  return pieces
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join("");
}

describe("differences of texts", () => {
  it("marks words, not letters", () => {
    expect(told("The huts open on 1 May.", "The huts open on 8 May.")).toBe(
      "The huts open on [-1-]{+8+} May.",
    );
    expect(told("Book early", "Book early, places are few")).toBe("Book early{+, places are few+}");
    expect(told("one two three", "two three")).toBe("[-one -]two three");
    expect(told("same", "same")).toBe("same");
    expect(told("", "new")).toBe("{+new+}");
    expect(told("old", "")).toBe("[-old-]");
  });

  it("takes changed words side by side as one change", () => {
    expect(told("a big red ball", "a small blue ball")).toBe("a [-big red-]{+small blue+} ball");
  });

  it("keeps lines and writing without spaces", () => {
    expect(told("a\nb", "c\nd")).toBe("[-a-]{+c+}\n[-b-]{+d+}");
    expect(told("明日は晴れです", "明日は雨です")).toBe("明日は[-晴れ-]{+雨+}です");
  });

  it("loses no letter of either text", () => {
    const words = ["snow", "hut", " ", "\n", "!", "ä", "🏔️"];
    let seed = 7;
    const text = (): string =>
      Array.from({ length: 40 }, () => words[(seed = (seed * 48_271) % 2_147_483_647) % words.length]).join(
        "",
      );
    for (let round = 0; round < 60; round++) {
      const [before, after] = [text(), text()];
      const pieces = differencesOf(before, after);
      expect(only(pieces, "added")).toBe(before);
      expect(only(pieces, "removed")).toBe(after);
    }
  });

  it("tells very long texts that differ all over as new", () => {
    const before = Array.from({ length: 3_000 }, (_, at) => `a${at}`).join(" ");
    const after = Array.from({ length: 3_000 }, (_, at) => `b${at}`).join(" ");
    expect(differencesOf(before, after).map(({ kind }) => kind)).toEqual(["removed", "added"]);
  });
});
