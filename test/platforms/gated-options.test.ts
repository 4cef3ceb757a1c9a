import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { checkGated } from "../../src/channels/platform-io/gated-options.ts";
import type { JsonObject } from "../../src/ports/platform-io.ts";
import type { GateFacts, GatedOption } from "../../src/ports/platform.ts";
import { describeStages } from "../support/contract/read-stage.ts";

const { platforms } = await loadCatalog();

const all = platforms.flatMap((platform) =>
  (platform.gated ?? []).map((option) => ({ platform, option, field: option.field, name: platform.name })),
);

function factsOf(of: { scopes?: readonly string[]; limits?: JsonObject; plan?: string }): GateFacts {
  const known = { name: "", handle: null, platformAccountId: null, settings: {} };
  return {
    account: { id: "acc_1", ...known, limits: of.limits ?? {}, scopes: of.scopes ?? [] },
    setting: (name) => (name === "PLAN" ? (of.plan ?? null) : null),
  };
}

const usedAs = ({ field, values = ["a"] }: GatedOption): JsonObject => ({ [field]: values[0] ?? "a" });

describe("an option that not everybody has", () => {
  it.each(all)("is told in the schema, with what to do instead: $name $field", ({ platform, option }) => {
    const schema = platform.metadata.shape[option.field];
    expect(schema?.meta()?.description).toMatch(new RegExp(`only for ${escape(option.who)}`, "i"));
    expect(option.who).not.toMatch(/[.:]$/);
    expect(option.instead).toMatch(/^[A-Z].*\.$/s);
  });

  it.each(all)(
    "is refused, told of, or nothing is said, by its table: $name $field",
    ({ platform, option }) => {
      for (const mayUse of [true, false, null]) {
        const gated = [{ ...option, mayUse: () => mayUse }];
        const { errors, warnings } = checkGated(
          { ...platform, gated },
          { metadata: usedAs(option) },
          factsOf({}),
        );
        expect([errors.length, warnings.length]).toEqual([mayUse === false ? 1 : 0, mayUse === null ? 1 : 0]);
        for (const sentence of [...errors, ...warnings])
          expect(sentence).toContain(`metadata.${option.field}: is only for ${option.who}.`);
      }
    },
  );

  it.each(all)("says nothing where it is not used: $name $field", ({ platform, option }) => {
    const unused = [{}, ...(option.values === undefined ? [{ [option.field]: false }] : [])];
    for (const metadata of unused)
      expect(checkGated(platform, { metadata }, factsOf({ scopes: ["none"] }))).toEqual({
        errors: [],
        warnings: [],
      });
  });
});

await describeStages(
  "by what is gated,",
  (platform, { gated = [] }) => {
    it.each(gated)("%j, of %j, is %s", (metadata, of, verdict) => {
      const { errors, warnings } = checkGated(platform, { metadata }, factsOf(of));
      expect([errors.length, warnings.length]).toEqual([
        verdict === "refused" ? 1 : 0,
        verdict === "warned" ? 1 : 0,
      ]);
    });
  },
  ({ gated = [] }) => gated.length > 0,
);

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
