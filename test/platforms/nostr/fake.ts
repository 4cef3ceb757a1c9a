import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/ports/outbound.ts";
import type { Sockets } from "../../../src/ports/sockets.ts";
import { createFakeRelay, problemOf, signAs, type FakeRelay, type SignedEvent } from "./relay.ts";

/** The examples of NIP-19. */
export const NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5";
export const SECRET = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa";
export const PUBKEY = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";
export const NPUB = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";

export const RELAYS = ["wss://one.example/", "wss://two.example/"];
export const FILES = "https://files.example";

interface Answer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
}

/** Two relays, a file server, and the domain of a handle. */
export function createFakeNostr(clock: { now(): number }) {
  const wrong: string[] = [];
  const at = { now: () => clock.now(), wrong };
  const relays = new Map(RELAYS.map((url) => [url, createFakeRelay(url, at)]));
  const seconds = (): number => Math.floor(clock.now() / 1_000);
  const state = {
    wrong,
    relays,
    files: new Map<string, Buffer>(),
    conversations: 0,
    names: { horn: PUBKEY, other: "00".repeat(32) } as Record<string, string>,
    information: {} as object,
    /** What stands in the way of an upload. */
    meets: (_request: OutboundRequest): Answer | null => null,
  };

  const publishAs = (
    secret: string,
    draft: Partial<SignedEvent> & { kind: number },
    to = RELAYS,
  ): SignedEvent => {
    const event = signAs(secret, { created_at: seconds(), tags: [], content: "", ...draft });
    for (const url of to) relays.get(url)?.events.set(event.id, event);
    return event;
  };
  const profile = {
    name: "horn",
    display_name: "The Horn",
    nip05: "horn@horn.example",
    picture: "https://horn.example/p.png",
  };
  publishAs(SECRET, { kind: 0, content: JSON.stringify(profile) });
  publishAs(SECRET, {
    kind: 10_002,
    tags: [
      ["r", RELAYS[0] ?? ""],
      ["r", "wss://two.example", "write"],
      ["r", "wss://three.example", "read"],
    ],
  });
  publishAs(SECRET, { kind: 10_063, tags: [["server", `${FILES}/`]] });

  const upload = (request: OutboundRequest, body: Buffer): Answer => {
    const headers = Object.fromEntries(
      Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const sha256 = createHash("sha256").update(body).digest("hex");
    if (Number(headers["content-length"]) !== body.length) wrong.push("PUT /upload: content-length");
    if (headers["x-sha-256"] !== sha256) return { status: 409, headers: { "x-reason": "another hash" } };
    const [scheme, token = ""] = (headers["authorization"] ?? "").split(" ");
    // Such that servers of both forms of base64 read it.
    if (scheme !== "Nostr" || !/^[A-Za-z0-9]+$/.test(token) || token.length % 4 !== 0)
      wrong.push(`PUT /upload: ${scheme}`);
    const event = JSON.parse(Buffer.from(token, "base64").toString()) as SignedEvent;
    const values = (name: string): (string | undefined)[] =>
      event.tags.filter(([first]) => first === name).map(([, value]) => value);
    const isRight =
      problemOf(event) === null &&
      event.kind === 24_242 &&
      event.content !== "" &&
      event.created_at <= seconds() &&
      values("t").join() === "upload" &&
      values("x").includes(sha256) &&
      Number(values("expiration")[0]) > seconds();
    if (!isRight) return { status: 401, headers: { "x-reason": "no authorization" } };
    const type = headers["content-type"] ?? "";
    const isNew = !state.files.has(sha256);
    state.files.set(sha256, body);
    const url = `${FILES}/${sha256}.${type.split("/")[1]}`;
    return { status: isNew ? 201 : 200, json: { url, sha256, size: body.length, type, uploaded: seconds() } };
  };

  const answer = async (request: OutboundRequest): Promise<Answer> => {
    const url = new URL(request.url);
    const { method } = request;
    if (url.host === "horn.example" && url.pathname === "/.well-known/nostr.json")
      return { status: 200, json: { names: state.names } };
    if (
      relays.has(request.url.replace(/^http/, "ws")) &&
      request.headers?.["accept"] === "application/nostr+json"
    )
      return { status: 200, json: state.information };
    if (url.origin !== FILES) throw new OutboundFailure("Nobody is there.", false);
    const body = await readBody(request.body);
    const met = state.meets(request);
    if (met !== null) return met;
    if (method === "PUT" && url.pathname === "/upload") return upload(request, body);
    const [, sha256 = ""] = /^\/([0-9a-f]{64})\.\w+$/.exec(url.pathname) ?? [];
    if (method === "HEAD") return { status: state.files.has(sha256) ? 200 : 404 };
    wrong.push(`${method} ${url.pathname}`);
    return { status: 404 };
  };

  const outbound: Outbound = {
    assertAllowed: (_field, url) => new URL(url),
    async request(request) {
      const { status, json, headers = {} } = await answer(request);
      const text = json === undefined ? "" : JSON.stringify(json);
      return { status, headers, url: request.url, body: Readable.from([Buffer.from(text)]) };
    },
  };

  const sockets: Sockets = {
    async converse({ url }, work) {
      const relay = relays.get(url);
      if (relay === undefined || relay.isDown) throw new OutboundFailure("Nobody is there.", false);
      state.conversations += 1;
      const connection = relay.open();
      const said: (readonly unknown[] | null)[] = [...connection.hello];
      return work({
        send: async (text) => void said.push(...connection.say(text)),
        async receive() {
          const next = said.shift();
          if (next === undefined) throw new OutboundFailure("The time was over.", true);
          return next === null ? null : JSON.stringify(next);
        },
      });
    },
  };

  /** What readers see: every event once, on whatever relay it is; replies of a thread are no posts. */
  const posts = (): SignedEvent[] => {
    const all = [...relays.values()].flatMap(({ events }) => [...events.values()]);
    return [...new Map(all.map((event) => [event.id, event])).values()].filter(
      ({ kind, pubkey, tags }) =>
        pubkey === PUBKEY && [1, 20, 21, 22, 30_023].includes(kind) && !tags.some(([name]) => name === "e"),
    );
  };
  const relay = (at: number): FakeRelay => [...relays.values()][at]!;
  return { outbound, sockets, state, posts, relay, publishAs };
}

async function readBody(body: OutboundRequest["body"]): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  return body instanceof Readable ? buffer(body) : Buffer.from(body);
}
