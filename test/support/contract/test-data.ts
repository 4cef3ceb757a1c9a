import { readdirSync } from "node:fs";
import { IANAZone } from "luxon";
import { expect, it } from "vitest";
import { showCapabilities } from "../../../src/domain/accounts/capabilities.ts";
import { z } from "zod";
import { Capabilities, MEDIA_KINDS } from "../../../src/domain/accounts/account.ts";
import { commonMetadata } from "../../../src/domain/posts/common-metadata.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { settingsOf } from "../../../src/ports/platform-setup.ts";

/** What a platform says of itself. */
export function testData(platform: AnyPlatform): void {
  const { capabilities } = platform;
  const keys = Object.keys(platform.metadata.shape);

  it("has a folder of its name, a title and a page it follows", () => {
    expect(readdirSync(new URL(`../../../src/platforms/${platform.name}/`, import.meta.url))).toContain(
      "index.ts",
    );
    expect(platform.name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(platform.title).toMatch(/^[A-Z]/);
    expect(platform.docs).toMatch(/^https:\/\//);
    const settings = settingsOf(platform);
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
    for (const { name, meaning, kind } of settings) {
      expect(name).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
      expect(meaning).toMatch(/^[A-Z].*[^.]$/);
      // What opens the door to a host is an address, and the other way round.
      expect(kind === "address").toBe(name.endsWith("_URL"));
    }
  });

  it("has well-formed capabilities", () => {
    expect(Capabilities.safeParse(showCapabilities(capabilities, true)).error).toBeUndefined();
    const kinds = capabilities.media.accepts.map(({ kind }) => kind);
    expect(MEDIA_KINDS).toEqual(expect.arrayContaining(kinds));
    // Several of one kind are told apart by their types.
    const types = capabilities.media.accepts.flatMap(({ kind, mimeTypes }) =>
      mimeTypes.map((type) => `${kind} ${type}`),
    );
    expect(new Set(types).size).toBe(types.length);
    expect(kinds).toEqual(expect.arrayContaining([...capabilities.fetchesMedia]));
    expect(capabilities.caption.unit === "weighted").toBe(platform.measure !== undefined);
    const quotas = capabilities.quotas.map(({ name }) => name);
    expect(new Set(quotas).size).toBe(quotas.length);
    for (const { from } of capabilities.quotas)
      expect(from === "rolling" || IANAZone.isValidZone(from)).toBe(true);
    for (const limit of capabilities.media.accepts) {
      expect(limit.mimeTypes.length).toBeGreaterThan(0);
      if (limit.kind === "document") expect(limit.mimeTypes).toEqual(["application/pdf"]);
      else expect(limit.mimeTypes.filter((type) => !type.startsWith(`${limit.kind}/`))).toEqual([]);
      expect(limit.maxItems).toBeGreaterThan(0);
      expect(limit.maxItems).toBeLessThanOrEqual(capabilities.media.maxItems);
    }
    const { min, default: usual, max } = capabilities.leadMinutes;
    expect([min, usual, max]).toEqual([min, usual, max].toSorted((a, b) => a - b));
  });

  it("says that it can do exactly what it does", () => {
    expect(capabilities.editPublished.fields.length > 0).toBe(platform.edit !== undefined);
    expect(capabilities.thumbnail.replaceAfterPublish).toBe(platform.setThumbnail !== undefined);
    expect(capabilities.thumbnail.set).toBe(keys.includes("thumbnailUrl"));
    expect(capabilities.analytics.account.length > 0).toBe(platform.analytics !== undefined);
    if (capabilities.analytics.post.length > 0) expect(platform.insights).toBeDefined();
    expect(["caption", ...keys]).toEqual(expect.arrayContaining([...capabilities.editPublished.fields]));
  });

  it("takes metadata that is strict, described, and fit for JSON Schema", () => {
    expect(platform.metadata.safeParse({ noSuchField: 1 }).success).toBe(false);
    const schema = z.toJSONSchema(platform.metadata, {
      target: "draft-2020-12",
      io: "input",
      reused: "inline",
    });
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    const bare = Object.entries(schema.properties ?? {}).filter(
      ([, field]) => typeof field === "boolean" || field.description === undefined,
    );
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it("means by a common name what all mean by it", () => {
    const common = keys.filter((key) => Object.hasOwn(commonMetadata, key));
    const typeOf = (field: z.core.$ZodType): unknown =>
      z.toJSONSchema(field, { io: "input", reused: "inline" }).type;
    for (const key of common) {
      const field = platform.metadata.shape[key];
      if (field !== undefined)
        expect([key, typeOf(field)]).toEqual([
          key,
          typeOf(commonMetadata[key as keyof typeof commonMetadata]),
        ]);
    }
  });

  it("asks for secrets in words", () => {
    expect(new Set(platform.connect.map(({ name }) => name)).size).toBe(platform.connect.length);
    for (const way of platform.connect) {
      expect(way.label).toMatch(/^[A-Z]/);
      expect(way.instructions).toMatch(/^[A-Z].*\.$/s);
      if (way.kind !== "secrets") continue;
      expect(new Set(way.fields.map(({ name }) => name)).size).toBe(way.fields.length);
      for (const field of way.fields) {
        expect(field.label).not.toBe("");
        expect(field.help).toMatch(/\.$/);
      }
      expect(way.fields.some(({ isSecret }) => isSecret)).toBe(true);
    }
  });
}
