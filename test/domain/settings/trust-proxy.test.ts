import { describe, expect, it } from "vitest";
import { TrustProxy } from "../../../src/domain/settings/http-address.ts";

describe("whose word is taken for an address", () => {
  it.each([
    [undefined, false],
    ["1", 1],
    ["loopback", ["loopback"]],
    ["10.0.0.1, fd00::/8,linklocal", ["10.0.0.1", "fd00::/8", "linklocal"]],
  ])("is read from %j", (text, trusted) => {
    expect(TrustProxy.parse(text)).toEqual(trusted);
  });

  it.each(["true", "0", "10", "-1", "1.5", "proxy.example", "10.0.0.1;10.0.0.2", "10.0.0.0/33", "1,2", ","])(
    "is not %j, and a sentence says what it may be",
    (text) => {
      const { error } = TrustProxy.safeParse(text);
      expect(error?.issues[0]?.message).toMatch(/^must be how many proxies are in front .*10\.0\.0\.0\/8$/);
    },
  );
});
