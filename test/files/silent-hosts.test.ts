import { expect, it } from "vitest";
import { SilentHosts } from "../../src/files/silent-hosts.ts";
import { OutboundFailure } from "../../src/ports/outbound.ts";

it("a host that did not answer is left alone for a while, and others are asked", async () => {
  let now = 0;
  const hosts = new SilentHosts(() => now, 60);
  const failure = new OutboundFailure("No answer.", false);
  await expect(hosts.ask("https://a.example/1", () => Promise.reject(failure))).rejects.toBe(failure);
  now = 59;
  await expect(hosts.ask("https://a.example/2", async () => "here")).rejects.toBe(failure);
  expect(await hosts.ask("https://b.example/1", async () => "here")).toBe("here");
  now = 60;
  expect(await hosts.ask("https://a.example/2", async () => "here")).toBe("here");
  // What it answers is no silence.
  await expect(hosts.ask("https://a.example/3", () => Promise.reject(new Error("404")))).rejects.toThrow();
  expect(await hosts.ask("https://a.example/4", async () => "here")).toBe("here");
});
