import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../../src/domain/errors.ts";
import type { Metadata } from "../../src/domain/posts/post.ts";
import { MINUTE } from "../../src/domain/time.ts";
import type { Outbound, OutboundResponse } from "../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { cardOf, withLinkCard } from "../../src/posts/link-cards.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { startCanary } from "../support/canary.ts";
import { createTestContext } from "../support/context.ts";

const LINK = "https://horn.example/a/page";
const PLATFORM = { showsLinkCards: true } as AnyPlatform;

async function openWith(
  answer: (url: string) => Partial<OutboundResponse> & { readonly html?: string | Buffer },
) {
  const asked: string[] = [];
  const outbound: Outbound = {
    assertAllowed: (field, url) => {
      if (new URL(url).hostname === "127.0.0.1") throw new AppError("invalid", `${field}: is private.`);
      return new URL(url);
    },
    request: async (request) => {
      asked.push(request.url);
      expect(request).toMatchObject({ method: "GET", timeoutMs: 5_000, maxRedirects: 3 });
      const { html = "", ...more } = answer(request.url);
      const body = Readable.from([Buffer.from(html as string)]);
      return { status: 200, headers: { "content-type": "text/html" }, url: request.url, body, ...more };
    },
  };
  const ctx = await createTestContext({ outbound });
  const read = (metadata: Metadata) => withLinkCard(ctx, PLATFORM, metadata);
  return { ctx, asked, read, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

describe("the card of a link", () => {
  it("is read from its page, once in ten minutes, and told", async () => {
    const html =
      '<head><title>Old</title><meta property="og:title" content="Horns &amp; more"><meta name=description content=Loud>' +
      "<meta property='og:image' content='/horn.png'></head>";
    await using world = await openWith(() => ({ html }));
    const { metadata, warnings } = await world.read({ link: LINK });
    expect(metadata).toEqual({
      link: LINK,
      title: "Horns & more",
      description: "Loud",
      thumbnailUrl: "https://horn.example/horn.png",
    });
    expect(warnings).toEqual([
      'metadata.title: was read from the page of the link: "Horns & more". Give another to change it.',
    ]);
    await world.read({ link: LINK });
    expect(world.asked).toEqual([LINK]);
    await world.ctx.clock.advance(11 * MINUTE);
    await world.read({ link: LINK });
    expect(world.asked).toHaveLength(2);
  });

  it("gives way to what was given", async () => {
    await using world = await openWith(() => ({
      html: "<title>Theirs</title><meta name=description content=Theirs>",
    }));
    const own = { link: LINK, description: "Mine" };
    expect((await world.read(own)).metadata).toEqual({ ...own, title: "Theirs" });
    const whole = { link: LINK, title: "Mine" };
    expect(await world.read(whole)).toEqual({ metadata: whole, warnings: [] });
  });

  it.each([
    ["is not there", { status: 404 }],
    ["is no page", { headers: { "content-type": "application/pdf" } }],
    ["says nothing", { html: "<p>Hello</p>" }],
  ])("is a warning where the page %s", async (_what, answer) => {
    await using world = await openWith(() => answer);
    const { metadata, warnings } = await world.read({ link: LINK });
    expect(metadata).toEqual({ link: LINK });
    expect(warnings).toEqual(["metadata.link: its page told no title for the card. Give one as title."]);
  });

  it("is a warning where the network fails, and is not asked for by others", async () => {
    await using world = await openWith(() => {
      throw new Error("It broke.");
    });
    expect((await world.read({ link: LINK })).warnings).toHaveLength(1);
    const others: readonly (Metadata | null)[] = [
      null,
      {},
      { link: 5 as never },
      { link: "ftp://a.example" },
    ];
    for (const metadata of others)
      expect(await withLinkCard(world.ctx, PLATFORM, metadata)).toEqual({ metadata, warnings: [] });
    const without = await withLinkCard(world.ctx, {} as AnyPlatform, { link: LINK });
    expect(without.warnings).toEqual([]);
    expect(world.asked).toHaveLength(1);
  });

  it("leaves out a picture at an address that may not be asked", async () => {
    const html = '<title>T</title><meta property="og:image" content="http://127.0.0.1/x.png">';
    await using world = await openWith(() => ({ html }));
    expect((await world.read({ link: LINK })).metadata).toEqual({ link: LINK, title: "T" });
  });

  it("is never read from a private address", async () => {
    await using canary = await startCanary((_request, response) => response.end("<title>Inside</title>"));
    await using outbound = createOutbound({ allowedHosts: [] });
    const ctx = await createTestContext({ outbound });
    const link = `${canary.origin}/`;
    expect((await withLinkCard(ctx, PLATFORM, { link })).metadata).toEqual({ link });
    expect([canary.requests, canary.connections]).toEqual([[], 0]);
    await ctx[Symbol.asyncDispose]();
  });

  it.each([
    ["text/html; charset=iso-8859-1", Buffer.from("<title>Grüße</title>", "latin1")],
    ["text/html", Buffer.from('<meta charset="windows-1252"><title>Grüße</title>', "latin1")],
    ["text/html; charset=nothing", Buffer.from("<title>Grüße</title>")],
  ])("is read in its letters (%s)", async (type, html) => {
    await using world = await openWith(() => ({ html, headers: { "content-type": type } }));
    expect((await world.read({ link: LINK })).metadata).toMatchObject({ title: "Grüße" });
  });

  it("reads a megabyte of a page, and no more", async () => {
    let sent = 0;
    const endless = Readable.from(
      (function* () {
        for (;;) {
          sent += 65_536;
          yield Buffer.alloc(65_536, "<meta ");
        }
      })(),
    );
    await using world = await openWith(() => ({ body: endless }));
    expect((await world.read({ link: LINK })).metadata).toEqual({ link: LINK });
    expect(sent).toBeLessThan(1_500_000);
  });
});

describe("a page's source", () => {
  it.each([
    ['<meta content="A > B" property="og:title">', "A > B"],
    ["<META PROPERTY=og:title CONTENT='A'>", "A"],
    ['<meta property="og:title" content=""><meta name="twitter:title" content="T">', "T"],
    ["<title\n lang=en>\n One\n two </title>", "One two"],
    ['<meta property="og:title" content="\u202eevil\u0007">', "evil"],
    [`<title>${"x".repeat(400)}</title>`, `${"x".repeat(299)}…`],
  ])("%j", (html, title) => {
    expect(cardOf(html, LINK).title).toBe(title);
  });

  it.each([
    "javascript:alert(1)",
    "data:image/png;base64,AA",
    "//",
    `https://a.example/${"x".repeat(3_000)}`,
  ])("names no picture at %j", (address) => {
    expect(cardOf(`<meta property="og:image" content="${address}">`, LINK).picture).toBe(null);
  });

  it("is read whatever it is, in time that grows with it alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        cardOf(`<meta ${text}><title>${text}`, LINK);
      }),
    );
    const large = ["<meta ", '<meta property="', "<title>", "<meta content=a ", "a=".repeat(4)];
    for (const piece of large) cardOf(piece.repeat(Math.floor(1_000_000 / piece.length)), LINK);
  });
});
