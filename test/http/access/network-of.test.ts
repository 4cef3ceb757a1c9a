import { expect, it } from "vitest";
import { networkOf } from "../../../src/http/access/network-of.ts";

it("counts an address of IPv4 by itself, however it is written", () => {
  expect(networkOf("192.0.2.7")).toBe("192.0.2.7");
  expect(networkOf("::ffff:192.0.2.7")).toBe("192.0.2.7");
  expect(networkOf("192.0.2.8")).not.toBe(networkOf("192.0.2.7"));
});

it("counts all addresses of one connection's network of IPv6 as one, and no other's", () => {
  const one = networkOf("2001:db8:1:2300::1");
  expect(networkOf("2001:db8:1:23ff:ffff::2")).toBe(one);
  expect(networkOf("2001:db8:1:2400::1")).not.toBe(one);
  expect(networkOf("fe80::1%eth0")).toBe(networkOf("fe80::2"));
});

it("takes what is no address as it is", () => {
  expect([networkOf(undefined), networkOf("unix:")]).toEqual(["", "unix:"]);
});
