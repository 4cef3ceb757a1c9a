import { describe, expect, it } from "vitest";
import {
  askedFor,
  appOwner,
  cannotComeBack,
  comesBackHere,
  needsServer,
  otherMissing,
  partsOf,
  readInstructions,
  readRefusal,
  stepForPage,
  type Way,
} from "../../../../apps/page/rooms/channels/guide.ts";

const WAY: Way = {
  name: "oauth",
  label: "Sign in",
  kind: "oauth",
  instructions: "",
  missing: [],
  secretsSchema: null,
  scopes: [],
};

describe("a text of a guide", () => {
  it("has its addresses as links, without the sentence's own signs", () => {
    expect(partsOf("Open https://a.example/x?y=1, then (https://b.example/).", [])).toEqual([
      { kind: "text", text: "Open " },
      { kind: "link", text: "https://a.example/x?y=1" },
      { kind: "text", text: ", then (" },
      { kind: "link", text: "https://b.example/" },
      { kind: "text", text: ")." },
    ]);
    expect(partsOf("https://a.example/x_(y).", [])).toEqual([
      { kind: "link", text: "https://a.example/x_(y)" },
      { kind: "text", text: "." },
    ]);
  });

  it("links to nothing but web addresses", () => {
    expect(partsOf("javascript:alert(1) data:text/html,x mailto:a@b.example", [])).toEqual([
      { kind: "text", text: "javascript:alert(1) data:text/html,x mailto:a@b.example" },
    ]);
  });

  it("has what is to be copied, addresses of our own and scopes among it", () => {
    expect(
      partsOf("Enter http://localhost/back. Tick read write.", ["http://localhost/back", "read write"]),
    ).toEqual([
      { kind: "text", text: "Enter " },
      { kind: "copy", text: "http://localhost/back" },
      { kind: "text", text: ". Tick " },
      { kind: "copy", text: "read write" },
      { kind: "text", text: "." },
    ]);
  });

  it("names the fields below in the place of settings", () => {
    expect(
      stepForPage(
        "Copy both into POSTHORN_A_CLIENT_ID and POSTHORN_A_CLIENT_SECRET and start Posthorn again.",
      ),
    ).toBe("Copy both into “App id” and “App secret” below.");
    expect(stepForPage("Put it into POSTHORN_A_PAGE_CLIENT_ID and, if any, POSTHORN_A_CLIENT_SECRET.")).toBe(
      "Put it into “App id” below and, if any, “App secret” below.",
    );
  });
});

describe("instructions", () => {
  it("are split into their steps and what is pasted", () => {
    expect(readInstructions("Before. 1. Open 2.5 things. 2. Close. \na:\n  b")).toEqual({
      lead: "Before.",
      steps: ["Open 2.5 things.", "Close."],
      block: "a:\n  b",
    });
  });

  it("may have no steps", () => {
    expect(readInstructions("Sign in and agree.")).toEqual({
      lead: "Sign in and agree.",
      steps: [],
      block: null,
    });
  });
});

describe("what is missing for a way", () => {
  it("is an app of the platform, of another one, or something else", () => {
    const known = ["google", "google_business", "youtube"];
    const of = (...missing: string[]): Way => ({ ...WAY, missing });
    expect(appOwner(of("POSTHORN_YOUTUBE_CLIENT_ID"), "youtube", known)).toBe("youtube");
    expect(appOwner(of("POSTHORN_YOUTUBE_CLIENT_ID"), "google_business", known)).toBe("youtube");
    expect(appOwner(of("POSTHORN_GOOGLE_BUSINESS_PAGE_CLIENT_ID"), "youtube", known)).toBe("google_business");
    expect(appOwner(of("POSTHORN_YOUTUBE_TEAM"), "youtube", known)).toBeNull();
    expect(otherMissing(of("POSTHORN_YOUTUBE_CLIENT_ID", "POSTHORN_YOUTUBE_TEAM"))).toEqual([
      "POSTHORN_YOUTUBE_TEAM",
    ]);
  });

  it("may be the server, which is asked before the platform is opened", () => {
    const setting = (more: object) => ({
      provider: "social",
      settings: [
        {
          name: "POSTHORN_SOCIAL_BASE_URL",
          meaning: "",
          kind: "address" as const,
          default: null,
          isRequired: false,
          isSet: false,
          ...more,
        },
      ],
    });
    expect(needsServer(setting({}), WAY)).toBe(true);
    expect(needsServer(setting({ isSet: true }), WAY)).toBe(false);
    expect(needsServer(setting({ default: "https://api.example" }), WAY)).toBe(false);
    const secrets = {
      ...WAY,
      kind: "secrets" as const,
      secretsSchema: { properties: { token: { title: "Access token" } } },
    };
    expect(needsServer(setting({}), secrets)).toBe(false);
    expect(askedFor(setting({}), secrets, null)).toEqual(["Server", "Access token"]);
    expect(askedFor(setting({}), secrets, "acc_1")).toEqual(["Access token"]);
    expect(askedFor(setting({ isSet: true }), secrets, null)).toEqual(["Access token"]);
    expect(askedFor(setting({}), WAY, null)).toEqual([]);
  });

  it("may be an https address", () => {
    const setup = {
      url: "https://a.example",
      needs: ["An https address, and this Posthorn has none. X"],
      steps: [],
      warnings: [],
    };
    expect(cannotComeBack({ setup })).toBe(true);
    expect(cannotComeBack({ setup: { ...setup, needs: [] } })).toBe(false);
    expect(cannotComeBack({ setup: null })).toBe(false);
  });
});

it("knows whether the platform sends people back to the address that the page is open at", () => {
  const redirectUrl = "http://127.0.0.1:4000/connect/callback";
  expect(comesBackHere({ redirectUrl }, "http://127.0.0.1:4000")).toBe(true);
  expect(comesBackHere({ redirectUrl }, "http://127.0.0.1:400")).toBe(false);
  expect(comesBackHere({ redirectUrl: "https://example.com/back" }, "http://127.0.0.1:4000")).toBe(false);
  expect(comesBackHere({ redirectUrl: null }, "http://127.0.0.1:4000")).toBe(false);
});

describe("a refusal", () => {
  const said = (field: string, what: string) => [{ field, what, next: [] }];

  it("stands beside its field, in words", () => {
    expect(readRefusal(said("instanceUrl", "is not an address."), ["instanceUrl"])).toEqual({
      field: "instanceUrl",
      sentence: "The server's address is not an address.",
    });
    expect(readRefusal(said("otherField", "is wrong."), [])).toEqual({
      field: null,
      sentence: "Other field is wrong.",
    });
  });

  it("leaves to the button beside it what begins another connection", () => {
    const over = { field: null, what: "You said no.", next: [{ do: "connect_again" } as const] };
    expect(readRefusal([over], []).sentence).toBe("You said no.");
  });
});
