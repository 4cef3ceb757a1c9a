import { jsonToLex, lexicons, RichText } from "@atproto/api";
import { cidForLex } from "@atproto/lex-cbor";
import { jsonToLex as parseLinks } from "@atproto/lex-json";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/ports/platform-io.ts";
import { BlueskyMetadata, makeContent, findSpans, toFacets } from "../../src/platforms/bluesky/metadata.ts";
import { gatesOf } from "../../src/platforms/bluesky/publish.ts";
import { cidOf, newTid, POST } from "../../src/platforms/bluesky/api.ts";

const NOW = 1_795_251_600_000;

/** What the network's own library finds in a text. */
function official(text: string): unknown[] {
  const rich = new RichText({ text });
  rich.detectFacetsWithoutResolution();
  return (rich.facets ?? []).map(({ index, features }) => ({
    byteStart: index.byteStart,
    byteEnd: index.byteEnd,
    type: features[0]?.$type,
    value: Object.entries(features[0] ?? {}).find(([key]) => key !== "$type")?.[1],
  }));
}

function ours(text: string): unknown[] {
  const spans = findSpans(text);
  const dids = new Map(spans.map(({ value }) => [value, value]));
  return toFacets(text, spans, dids).map(({ index, features }) => ({
    byteStart: index.byteStart,
    byteEnd: index.byteEnd,
    type: features[0]?.$type,
    value: Object.entries(features[0] ?? {}).find(([key]) => key !== "$type")?.[1],
  }));
}

describe("facets", () => {
  const word = fc.constantFrom(
    "https://example.com",
    "https://example.com/path?q=1#top",
    "example.com",
    "example.co.uk/a",
    "@alice.bsky.social",
    "#tag",
    "#日本語",
    "plain",
    "Ünïcode",
    "👩‍👩‍👧",
    "日本",
    "node.js",
    "1,000",
    "e.g.",
  );
  const end = fc.constantFrom("", "", "", ".", ",", "!", "?", ":");

  it("are those of the official library wherever words are set apart", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, end), { maxLength: 8 }), (words) => {
        const text = words.map((pair) => pair.join("")).join(" ");
        expect(ours(text)).toEqual(official(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

const blob = {
  $type: "blob",
  ref: { $link: "bafkreibme22gw2h7y2h7tg2fhqotaqjucnbc24deqo72b6mkl2egezxhvy" },
  mimeType: "image/png",
  size: 100,
};

describe("records", () => {
  const io = {
    account: {
      id: "acc_1",
      name: "Alice",
      handle: "alice.test",
      platformAccountId: "did:plc:alice",
      settings: {},
    },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    setting: () => null,
    request: async () => {
      throw new Error("Nothing is looked up here.");
    },
  };
  const metadata = BlueskyMetadata.parse({
    langs: ["en", "pt-BR"],
    tags: ["one", "#two"],
    sensitive: true,
    replyRules: ["mentioned", "following"],
    allowQuotes: false,
  });

  it("are valid by the official lexicons, gates too", async () => {
    const content = await makeContent({ text: "Hello #world https://example.com", media: [] }, metadata, io);
    const images = [{ alt: "A picture", image: blob, aspectRatio: { width: 4, height: 3 } }];
    const record = {
      ...content,
      createdAt: new Date(NOW).toISOString(),
      embed: { $type: "app.bsky.embed.images", images },
    };
    const gates = gatesOf(metadata, {
      did: "did:plc:alice",
      rkey: newTid(NOW),
      createdAt: new Date(NOW).toISOString(),
    });
    const all = [{ collection: POST, value: record }, ...gates];
    expect(all.map(({ collection }) => collection)).toEqual([
      POST,
      "app.bsky.feed.threadgate",
      "app.bsky.feed.postgate",
    ]);
    for (const { collection, value } of all) {
      expect(lexicons.validate(collection, jsonToLex(value))).toMatchObject({ success: true });
    }
  });

  it("have the content id that the official codec gives them", async () => {
    const value: fc.Arbitrary<JsonObject> = fc.dictionary(
      // Names of fields are ours, never a user's: none is that of an object's own machinery, which the codec
      // refuses.
      fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
        .filter((key) => !key.startsWith("$") && !(key in {})),
      fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(fc.integer(), { maxLength: 4 }),
        fc.constant(blob),
      ),
      { maxKeys: 8, noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(value, async (record) => {
        expect(await cidOf(record)).toBe((await cidForLex(parseLinks(record))).toString());
      }),
      { numRuns: 500 },
    );
  });
});
