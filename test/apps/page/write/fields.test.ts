import { describe, expect, it } from "vitest";
import { fieldsOf, isShared, labelOf, takesKey } from "../../../../apps/page/rooms/write/fields.ts";
import { wordsOfValue } from "../../../../src/domain/posts/for-people.ts";
import { COMMON_METADATA_SCHEMA } from "../../../../src/domain/posts/common-metadata.ts";

const kinds = (properties: object, required: readonly string[] = []) =>
  Object.fromEntries(
    fieldsOf({ type: "object", properties, required }).map((field) => [field.key, field.kind]),
  );

describe("fields of a schema", () => {
  it("have a control each", () => {
    expect(
      kinds({
        title: { type: "string", maxLength: 300 },
        description: { type: "string", maxLength: 10_000 },
        link: { type: "string", format: "uri" },
        story: { type: "boolean" },
        coverSeconds: { type: "integer" },
        license: { type: "string", enum: ["youtube", "creativeCommon"] },
        tags: { type: "array", items: { type: "string" } },
        playlistId: { type: "string", description: "One of the channel's playlists, from list_choices." },
        thumbnailUrl: { type: "string", media: "thumbnail" },
        replyRules: { anyOf: [{ type: "string", enum: ["everybody", "nobody"] }, { type: "array" }] },
      }),
    ).toEqual({
      title: "text",
      description: "long",
      link: "address",
      story: "flag",
      coverSeconds: "number",
      license: "choice",
      tags: "list",
      playlistId: "lookup",
      thumbnailUrl: "picture",
      replyRules: "choice",
    });
  });

  it("leave out what has fields of its own on the page, and what no form can hold", () => {
    expect(
      kinds({
        altText: { type: "string" },
        moreMedia: { type: "array", items: { type: "object" } },
        thread: { type: "array", items: { type: "object" } },
        poll: { type: "object" },
      }),
    ).toEqual({});
  });

  it("say what they are, without words for agents", () => {
    const [playlist, level] = fieldsOf({
      properties: {
        playlistId: { type: "string", description: "One of the channel's playlists, from list_choices." },
        privacyLevel: {
          type: "string",
          enum: ["SELF_ONLY"],
          description:
            "Who can see it: required, unless mode is inbox. list_choices tells what the account may choose.",
        },
      },
    });
    expect(playlist).toMatchObject({
      label: "Playlist",
      help: "One of the channel's playlists.",
      isRequired: false,
    });
    expect(level).toMatchObject({
      help: "Who can see it: required, unless mode is inbox.",
      isRequired: true,
    });
  });

  it("know what is required", () => {
    const fields = fieldsOf({
      properties: { title: { type: "string" }, boardId: { type: "string" } },
      required: ["boardId"],
    });
    expect(fields.map(({ isRequired }) => isRequired)).toEqual([false, true]);
  });

  it("of an unknown platform are none", () => {
    expect(fieldsOf(undefined)).toEqual([]);
    expect(takesKey(undefined, "thread")).toBe(false);
  });

  it("that mean the same everywhere are asked for once", () => {
    const ours = Object.keys(COMMON_METADATA_SCHEMA ?? {});
    const elsewhere = ["altText", "moreMedia", "thread"];
    expect(ours.filter((key) => !elsewhere.includes(key) && !isShared(key))).toEqual([]);
  });
});

it("makes labels of names", () => {
  expect(labelOf("boardId")).toBe("Board");
  expect(labelOf("madeForKids")).toBe("Made for kids");
  expect(labelOf("spoilerText")).toBe("Content warning");
  expect(wordsOfValue("PUBLIC_TO_EVERYONE")).toBe("Public to everyone");
  expect(wordsOfValue("creativeCommon")).toBe("Creative common");
});
