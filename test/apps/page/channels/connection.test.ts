import { describe, expect, it } from "vitest";
import {
  afterCheck,
  connectedInWords,
  type OpenLink,
} from "../../../../apps/page/rooms/channels/connection.ts";

const LINK: OpenLink = {
  connectId: "con_1",
  url: "http://localhost/connect/x",
  note: null,
  isChoosing: false,
};

describe("a connection that a person is busy with", () => {
  it("waits, says what went wrong on the page, and that something is to be chosen", () => {
    expect(afterCheck(LINK, { status: "pending", accounts: [], error: null })).toEqual({
      step: "waiting",
      link: LINK,
    });
    expect(afterCheck(LINK, { status: "pending", accounts: [], error: "It is wrong." })).toEqual({
      step: "waiting",
      link: { ...LINK, note: "It is wrong." },
    });
    expect(afterCheck(LINK, { status: "choose", accounts: [], error: null })).toEqual({
      step: "waiting",
      link: { ...LINK, isChoosing: true },
    });
  });

  it("ends", () => {
    expect(afterCheck(LINK, { status: "connected", accounts: [], error: null })).toEqual({
      step: "connected",
      accounts: [],
    });
    const error = "You said no.";
    expect(afterCheck(LINK, { status: "failed", accounts: [], error })).toEqual({
      step: "failed",
      sentence: error,
    });
    expect(afterCheck(LINK, { status: "expired", accounts: [], error })).toEqual({ step: "expired" });
  });

  it("tells who was connected", () => {
    expect(connectedInWords([])).toBe("Connected.");
    expect(connectedInWords([{ name: "Alice", handle: "@alice" }])).toBe("Connected: @alice");
    expect(
      connectedInWords([
        { name: "One", handle: null },
        { name: "Two", handle: null },
      ]),
    ).toBe("Connected: One and Two");
  });
});
