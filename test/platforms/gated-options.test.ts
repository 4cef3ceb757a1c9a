import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { checkGated } from "../../src/platform-io/gated-options.ts";
import type { JsonObject } from "../../src/ports/platform-io.ts";
import type { GateFacts, GatedOption } from "../../src/ports/platform.ts";

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

const usedAs = ({ field, values = ["x"] }: GatedOption): JsonObject => ({ [field]: values[0] ?? "x" });

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

const USUAL: readonly [name: string, metadata: JsonObject, of: Parameters<typeof factsOf>[0]][] = [
  ["x", { quote: "19" }, {}],
  ["x", { quote: "19" }, { plan: "self-serve" }],
  ["vimeo", { visibility: "unlisted" }, { limits: { plan: "free" } }],
  ["vimeo", { downloadEnabled: true }, { limits: { plan: "basic" } }],
  ["threads", { locationId: "1" }, { scopes: ["threads_basic"] }],
  ["threads", { shareToInstagram: true }, { scopes: ["threads_basic"] }],
  ["facebook", { firstComment: "First" }, { scopes: ["pages_manage_posts"] }],
  ["instagram", { firstComment: "First" }, { scopes: ["instagram_basic"] }],
  ["instagram", { comments: false }, { scopes: ["instagram_business_basic"] }],
];

it.each(USUAL)("the usual account has it not: %s %j %j", (name, metadata, of) => {
  const platform = platforms.find((one) => one.name === name);
  if (platform === undefined) throw new Error(`No ${name}.`);
  expect(checkGated(platform, { metadata }, factsOf(of)).errors).toHaveLength(1);
});

const TOLD: typeof USUAL = [
  ["x", { replySettings: "subscribers" }, {}],
  ["vimeo", { visibility: "unlisted" }, {}],
  ["youtube", { thumbnailUrl: "https://a.example/a.png" }, { limits: { longUploads: "eligible" } }],
  ["instagram", { trialReel: "manual" }, {}],
];

it.each(TOLD)("it is told where nobody knows: %s %j %j", (name, metadata, of) => {
  const platform = platforms.find((one) => one.name === name);
  if (platform === undefined) throw new Error(`No ${name}.`);
  const { errors, warnings } = checkGated(platform, { metadata }, factsOf(of));
  expect([errors.length, warnings.length]).toEqual([0, 1]);
});

const FREE: typeof USUAL = [
  ["x", { quote: "19" }, { plan: "enterprise" }],
  ["x", { replySettings: "following" }, {}],
  ["vimeo", { visibility: "unlisted" }, { limits: { plan: "starter" } }],
  ["threads", { locationId: "1" }, { scopes: [] }],
  ["facebook", { firstComment: "First" }, { scopes: ["pages_manage_engagement"] }],
  ["instagram", { comments: true }, { scopes: ["instagram_basic"] }],
];

it.each(FREE)("whoever has it hears nothing of it: %s %j %j", (name, metadata, of) => {
  const platform = platforms.find((one) => one.name === name);
  if (platform === undefined) throw new Error(`No ${name}.`);
  expect(checkGated(platform, { metadata }, factsOf(of))).toEqual({ errors: [], warnings: [] });
});

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
