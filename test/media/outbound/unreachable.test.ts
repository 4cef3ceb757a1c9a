import { describe, expect, it } from "vitest";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { reasonUnreachable } from "../../../src/media/outbound/connector.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";

const withCode = (code: string) => Object.assign(new Error(code), { code });

describe("a server that is not reached", () => {
  it.each([
    ["EAI_AGAIN", "offline"],
    ["ENOTFOUND", "unknown_name"],
    ["ECONNREFUSED", "refused"],
    ["UND_ERR_CONNECT_TIMEOUT", "silent"],
    ["CERT_HAS_EXPIRED", "certificate"],
    ["ECONNRESET", null],
  ])("tells by %s that it is %s", async (code, reason) => {
    // Where this machine has no network itself, no name tells anything.
    const expected = reason === "unknown_name" ? expect.stringMatching(/^(unknown_name|offline)$/) : reason;
    expect(reasonUnreachable(new Error("around", { cause: withCode(code) }))).toEqual(expected);
    expect(reasonUnreachable(new AggregateError([withCode(code)]))).toEqual(expected);
    const lookup = async (): Promise<never> => {
      throw withCode(code);
    };
    await using door = createOutbound({ allowedHosts: [], lookup });
    const failed = door.request({
      method: "POST",
      url: "https://none.example/",
      body: "x",
      newConnection: true,
    });
    await expect(failed).rejects.toMatchObject({ wasSent: false, reason: expected });
  });

  it("says nothing of one that something was sent to", () => {
    expect(new OutboundFailure("reset", true, { reason: "silent" }).reason).toBeNull();
  });
});
