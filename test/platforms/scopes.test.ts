import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { MORE } from "../../src/platforms/shared/consent.ts";
import type { OAuthWay } from "../../src/ports/connect.ts";
import { settingsOf, wayName } from "../../src/ports/platform-setup.ts";
import { readStage } from "../support/contract/read-stage.ts";

const { platforms } = await loadCatalog();

const consents = platforms.flatMap(({ name, connect }) =>
  connect.flatMap((way) => (way.kind === "oauth" ? [{ name, way }] : [])),
);
const usual = consents.filter(({ way }) => way.name !== MORE);
const more = consents.filter(({ way }) => way.name === MORE);

/** The usual way that a way asks more than: the one whose scopes it begins with. */
function lessOf({ name, way }: { readonly name: string; readonly way: OAuthWay }): OAuthWay | undefined {
  const found = usual.filter((one) => one.name === name && one.way.label === way.label.split(", with ")[0]);
  return found[0]?.way;
}

describe("a consent where a person wants nothing more", () => {
  it.each(usual)(
    "asks for no scope that it did not ask for before: $name $way.name",
    async ({ name, way }) => {
      const known = (await readStage(name)).scopes?.[way.name] ?? [];
      expect(way.scopes.filter((scope) => !known.includes(scope))).toEqual([]);
      for (const needed of way.neededScopes ?? []) expect(way.scopes).toContain(needed);
    },
  );
});

describe("a consent that asks for more", () => {
  it.each(more)("says when it asks for each scope: $name", async ({ name, way }) => {
    const when = (await readStage(name)).askedOnlyWhen ?? {};
    const less = lessOf({ name, way });
    expect(less?.scopes.length).toBeGreaterThan(0);
    expect(way.scopes.filter((scope) => less?.scopes.includes(scope) !== true).toSorted()).toEqual(
      Object.keys(when).toSorted(),
    );
    for (const sentence of Object.values(when)) expect(sentence).toMatch(/^asked for only when /);
  });

  it.each(more)("is never the way that is taken by itself: $name", ({ name, way }) => {
    const platform = platforms.find((one) => one.name === name);
    expect(platform?.connect[0]).not.toBe(way);
    expect(platform?.connect.at(-1)).toBe(way);
  });
});

describe("no two ways share a setting with two meanings", () => {
  it.each(platforms.filter(({ connect }) => connect.length > 1))("$name", (platform) => {
    const { connect } = platform;
    const ways = connect.filter((way) => way.kind === "oauth");
    const scopes = ways.map((way) => wayName(way, "SCOPES"));
    expect(new Set(scopes).size).toBe(scopes.length);
    const all = settingsOf(platform);
    for (const way of ways) {
      const setting = all.find(({ name }) => name === wayName(way, "SCOPES"));
      expect(setting?.default).toBe(way.scopes.join(" "));
    }
    // Two apps of one platform have settings of their own.
    const apps = ways.filter(({ appOf, register }) => appOf === undefined && register === undefined);
    expect(new Set(apps.map((way) => wayName(way, "CLIENT_ID"))).size).toBe(apps.length);
  });
});
