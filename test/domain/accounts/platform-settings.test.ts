import { describe, expect, it } from "vitest";
import { readPlatformSettings } from "../../../src/domain/accounts/platform-settings.ts";
import { ConfigError, readConfig } from "../../../src/app/config.ts";
import { requiredSettings, settingsOf } from "../../../src/ports/platform-setup.ts";
import { consentWay, createCinema } from "../../support/cinema.ts";

const configurable = (name: string) => {
  const platform = createCinema({ name });
  return { name, settings: settingsOf(platform) };
};
const PLATFORMS = [configurable("cinema"), configurable("cinema_business"), { name: "feed", settings: [] }];

function read(env: Readonly<Record<string, string>>) {
  return readConfig(env, PLATFORMS).config.platformSettings;
}

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("the settings of platforms", () => {
  it("lose the slashes at the end of addresses, and of nothing else", () => {
    expect(
      read({
        POSTHORN_CINEMA_BASE_URL: "https://gateway.example/v1//",
        POSTHORN_CINEMA_CLIENT_SECRET: "bG9uZw==Lw//",
        POSTHORN_CINEMA_BUSINESS_CLIENT_ID: "two",
      }),
    ).toEqual({
      POSTHORN_CINEMA_BASE_URL: "https://gateway.example/v1",
      POSTHORN_CINEMA_CLIENT_SECRET: "bG9uZw==Lw//",
      POSTHORN_CINEMA_BUSINESS_CLIENT_ID: "two",
    });
  });

  it("take only the values that a setting may have", () => {
    const setting = { name: "RESULTS", meaning: "on or off", kind: "text", values: ["on", "off"] } as const;
    const platform = { name: "x", settings: [{ ...setting, default: "off", isRequired: false }] };
    expect(readPlatformSettings({ POSTHORN_X_RESULTS: "yes" }, [platform]).problems).toEqual([
      "POSTHORN_X_RESULTS: must be on or off",
    ]);
    expect(readPlatformSettings({ POSTHORN_X_RESULTS: "on" }, [platform])).toMatchObject({
      values: { POSTHORN_X_RESULTS: "on" },
      problems: [],
    });
  });

  it("are all named at once where they are wrong, with those there are, and never what they hold", () => {
    const problems = problemsOf({
      POSTHORN_CINEMA_CLIENT_SECRT: "canary",
      POSTHORN_CINEMA_SPEED: "canary",
      POSTHORN_CINEMA_BASE_URL: "canary",
      POSTHORN_CINEMA_TOKEN_URL: "https://u:canary@cinema.example/t?tenant=1",
      POSTHORN_CINEMA_REDIRECT_URL: "ftp://canary.example",
      POSTHORN_FEED_BASE_URL: "https://canary.example",
      POSTHORN_CINEMA_BUSINESS_NO: "canary",
      POSTHORN_PORT: "x",
    });
    expect(problems).toEqual([
      expect.stringMatching(/^POSTHORN_PORT: /),
      "POSTHORN_CINEMA_CLIENT_SECRT: no such setting. Did you mean POSTHORN_CINEMA_CLIENT_SECRET?",
      expect.stringMatching(
        /^POSTHORN_CINEMA_SPEED: no such setting\. The settings of the platform cinema are POSTHORN_CINEMA_BASE_URL, POSTHORN_CINEMA_CLIENT_ID, .*_SECRET, .*_AUTH_URL, .*_TOKEN_URL, .*_SCOPES, POSTHORN_CINEMA_REDIRECT_URL\.$/,
      ),
      expect.stringMatching(/^POSTHORN_CINEMA_BASE_URL: must be an http\(s\) address/),
      "POSTHORN_CINEMA_TOKEN_URL: must be without user name and fragment",
      expect.stringMatching(/^POSTHORN_CINEMA_REDIRECT_URL: must be an http\(s\) address/),
      "POSTHORN_FEED_BASE_URL: no such setting. The platform feed has none.",
      expect.stringMatching(
        /^POSTHORN_CINEMA_BUSINESS_NO: no such setting\. The settings of the platform cinema_business/,
      ),
    ]);
    expect(problems.join("\n")).not.toContain("canary");
  });

  it("come each once, the platform's own first, where it has several ways to consent", () => {
    const secret = { name: "CLIENT_SECRET", meaning: "May be empty", kind: "secret", default: null } as const;
    const revoke = "https://cinema.example/revoke";
    const endpoints = { authorize: "https://two.example/a", token: "https://two.example/t", revoke };
    const platform = createCinema({
      settings: [{ ...secret, isRequired: false }],
      connect: [consentWay(), consentWay({ endpoints }), consentWay({ appOf: "theatre" })],
    });
    expect(settingsOf(platform).map(({ name, default: usual }) => [name, usual])).toEqual([
      ["CLIENT_SECRET", null],
      ["CLIENT_ID", null],
      ["AUTH_URL", "https://cinema.example/authorize"],
      ["TOKEN_URL", "https://cinema.example/token"],
      ["REVOKE_URL", revoke],
      ["SCOPES", "film.write film.read"],
      ["REDIRECT_URL", "<POSTHORN_PUBLIC_URL>/connect/callback"],
    ]);
    expect(requiredSettings(platform, platform.connect[0])).toEqual(["POSTHORN_CINEMA_CLIENT_ID"]);
  });

  it("name the address to come back to where a platform sends people back by rules of its own", () => {
    const ways = { instance: "required", redirect: "https", label: "Page", instructions: "Agree." } as const;
    const begin = async () => ({ url: "https://cinema.example", keep: {} });
    const finish = async () => ({ tokens: null, targets: [] });
    const platform = createCinema({
      settings: [],
      connect: [{ kind: "redirect", name: "page", ...ways, begin, finish }],
    });
    expect(settingsOf(platform).map(({ name }) => name)).toEqual(["BASE_URL", "REDIRECT_URL"]);
    expect(requiredSettings(platform, platform.connect[0])).toEqual([]);
  });
});
