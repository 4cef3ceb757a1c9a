import { describe, expect, it } from "vitest";
import { keysHeader, signatureOf } from "../../../src/platforms/x/api.ts";

describe("signing with four keys", () => {
  it("makes the signature of RFC 5849's example (1.2)", () => {
    const request = {
      method: "GET",
      url: "http://photos.example.net/photos",
      query: { file: "vacation.jpg", size: "original" },
    } as const;
    const oauth = {
      oauth_consumer_key: "dpf43f3p2l4k3l03",
      oauth_token: "nnch734d00sl2jdk",
      oauth_signature_method: "HMAC-SHA1",
      oauth_timestamp: "137131202",
      oauth_nonce: "chapoH",
    };
    const secrets = { apiSecret: "kd94hf93k423kf44", accessSecret: "pfkkdhi9sl3r4s00" };
    expect(signatureOf(request, oauth, secrets)).toBe("MdpQcU8iPSUjWoN/UDMsK2sui9I=");
  });

  it("makes the signature of X's own example", () => {
    const request = {
      method: "POST",
      url: "https://api.x.com/1.1/statuses/update.json?include_entities=true",
      query: { status: "Hello Ladies + Gentlemen, a signed OAuth request!", left_out: null },
    } as const;
    const oauth = {
      oauth_consumer_key: "xvz1evFS4wEEPTGEFPHBog",
      oauth_nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
      oauth_signature_method: "HMAC-SHA1",
      oauth_timestamp: "1318622958",
      oauth_token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
      oauth_version: "1.0",
    };
    const secrets = {
      apiSecret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
      accessSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
    };
    expect(signatureOf(request, oauth, secrets)).toBe("Ls93hJiZbQ3akF3HF3x1Bz8/zU4=");
  });

  it("names no secret, and no request twice alike", () => {
    const request = { method: "GET", url: "https://api.x.com/2/users/me" } as const;
    const secrets = { apiKey: "key", apiSecret: "canary-1", accessToken: "token", accessSecret: "canary-2" };
    const [first, second] = [keysHeader(request, secrets, 0), keysHeader(request, secrets, 0)];
    expect(first).toMatch(/^OAuth oauth_consumer_key="key", .*oauth_signature="[\w%]+"$/);
    expect(first).not.toContain("canary");
    expect(second).not.toBe(first);
  });
});
