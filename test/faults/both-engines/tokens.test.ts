import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/domain/time.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { createTestContext } from "../../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { report, times, TIMEOUT_MS } from "../report.ts";
import { queryOf } from "../../support/handles.ts";
import { readSecrets } from "../../../src/channels/connecting/renew-tokens.ts";

const CHUNKS = 5;
const CHUNK_BYTES = 10;

/**
 * Requests in the order in which a publisher makes them: a session, five chunks, two questions whether it is
 * ready.
 */
type Moment = "session" | `chunk ${1 | 2 | 3 | 4 | 5}` | "poll 1" | "poll 2";
const MOMENTS: readonly Moment[] = [
  "session",
  "chunk 1",
  "chunk 2",
  "chunk 3",
  "chunk 4",
  "chunk 5",
  "poll 1",
  "poll 2",
];

/** Tokens last until a moment; a refresh token is taken once. Uploads go by offset. */
async function startTokenServer(expiresAt: Moment | null) {
  const state = {
    token: 1,
    isOver: false,
    refreshes: 0,
    bytes: 0,
    received: 0,
    polls: 0,
    visible: 0,
    isRefusing: false,
    wrong: [] as string[],
  };
  const momentOf = (path: string): Moment | null => {
    if (path === "/session") return "session";
    if (path === "/chunk") return `chunk ${(state.received / CHUNK_BYTES + 1) as 1}`;
    return path === "/status" ? `poll ${(state.polls + 1) as 1}` : null;
  };
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    const body = await buffer(request);
    const answer = (status: number, json: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
    if (path === "/token") {
      state.refreshes += 1;
      if (state.isRefusing || body.toString() !== JSON.stringify({ refresh: `refresh-${state.token}` }))
        return answer(400, { error: "invalid_grant" });
      state.token += 1;
      return answer(200, { access: `access-${state.token}`, refresh: `refresh-${state.token}` });
    }
    if (momentOf(path) === expiresAt && !state.isOver) {
      state.isOver = true;
      if (path === "/chunk") state.bytes += body.length;
    }
    const valid = state.isOver ? "access-2" : "access-1";
    if (request.headers.authorization !== `Bearer ${valid}`) return answer(401, { error: "expired" });
    if (path === "/session") return answer(200, { session: "s1" });
    if (path === "/offset") return answer(200, { received: state.received });
    if (path === "/status") {
      state.polls += 1;
      if (state.polls === 2) state.visible += 1;
      return answer(200, { id: state.polls >= 2 ? "v1" : null });
    }
    if (Number(request.headers["x-start"]) !== state.received)
      state.wrong.push(`bytes from ${request.headers["x-start"]} at ${state.received}`);
    state.bytes += body.length;
    state.received += body.length;
    answer(200, { received: state.received });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    state,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An upload in chunks behind tokens, written as a real platform file is. */
function tokenPlatform(baseUrl: string): AnyPlatform {
  return scriptedPlatform({
    publish: async (_post, io) => {
      const call = (
        path: string,
        request: { method: "GET" | "POST" | "PUT"; body?: Buffer; start?: number },
      ): Promise<Record<string, unknown>> =>
        io.authorized(async (secrets) => {
          const headers = {
            authorization: `Bearer ${secrets["access"]}`,
            "x-start": String(request.start ?? 0),
          };
          const { method, body } = request;
          const answer = await io.request({
            method,
            url: `${baseUrl}${path}`,
            headers,
            isIdempotent: true,
            ...(body === undefined ? {} : { body }),
          });
          return answer.json as Record<string, unknown>;
        });
      await io.effect({
        step: "session",
        request: null,
        send: async () => String((await call("/session", { method: "POST" }))["session"]),
        reconcile: async () => ({ outcome: "send_again" }),
      });
      await io.effect({
        step: "upload",
        request: null,
        send: async () => {
          let at = Number((await call("/offset", { method: "GET" }))["received"]);
          while (at < CHUNKS * CHUNK_BYTES) {
            const answer = await call("/chunk", {
              method: "PUT",
              body: Buffer.alloc(CHUNK_BYTES, "x"),
              start: at,
            });
            at = Number(answer["received"]);
          }
          return null;
        },
        reconcile: async () => ({ outcome: "send_again" }),
      });
      const { id } = await call("/status", { method: "GET" });
      if (typeof id !== "string") return { state: "processing", checkAgainMs: 1_000 };
      return { state: "live", platformPostId: id, platformUrl: null };
    },
    refresh: async (secrets, io) => {
      const response = await io.request({
        method: "POST",
        url: `${baseUrl}/token`,
        json: { refresh: secrets["refresh"] ?? "" },
        classify: ({ status }) =>
          status === 400 ? new PlatformFault("auth", "The platform refuses the refresh.") : null,
      });
      return { secrets: response.json as Record<string, string>, tokenExpiresAt: null };
    },
  });
}

async function publishUntil(expiresAt: Moment | null, isRefusing = false) {
  await using server = await startTokenServer(expiresAt);
  server.state.isRefusing = isRefusing;
  await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  await using ctx = await createTestContext({
    platformList: [tokenPlatform(server.baseUrl)],
    outbound,
    media: { forPost: () => ({}) as never, release: async () => {} },
  });
  const account = await addAccount(ctx);
  const sealed = sealSecrets(ctx, account, { access: "access-1", refresh: "refresh-1" });
  await queryOf(ctx.store)
    .updateTable("accounts")
    .set({ secrets_enc: sealed })
    .where("id", "=", account.id)
    .execute();
  const posts = [await addPost(ctx, account)];
  for (let second = 0; second < 20; second++) {
    await drain(ctx);
    await ctx.clock.advance(1_000);
  }
  const row = await queryOf(ctx.store)
    .selectFrom("accounts")
    .selectAll()
    .where("id", "=", account.id)
    .executeTakeFirstOrThrow();
  const [post] = await Promise.all(posts.map(({ id }) => readPost(ctx, id)));
  return { post: post!, account: row, secrets: await readSecrets(ctx, ctx.store, row), ...server.state };
}

describe("F5 a token that expires", { timeout: TIMEOUT_MS }, () => {
  it("at any request: one refresh, one post, and no chunk is sent twice", async () => {
    const rounds = times({ short: 1, long: 7 });
    let expiries = 0;
    for (let round = 0; round < rounds; round++) {
      for (const moment of MOMENTS) {
        const { post, secrets, refreshes, bytes, visible, wrong } = await publishUntil(moment);
        // The chunk that was refused came in vain, and again.
        const refused = moment.startsWith("chunk") ? CHUNK_BYTES : 0;
        expect({ moment, status: post.status, refreshes, visible, wrong, bytes: bytes - refused }).toEqual({
          moment,
          status: "published",
          refreshes: 1,
          visible: 1,
          wrong: [],
          bytes: CHUNKS * CHUNK_BYTES,
        });
        expect(secrets).toMatchObject({ access: "access-2", refresh: "refresh-2" });
        expiries += 1;
      }
    }
    report({
      fault: "F5",
      how: `the token expires at each of ${MOMENTS.length} requests of a post: the session, 5 chunks, 2 questions`,
      runs: `${expiries} expiries`,
      seen: "one refresh and one post each; no byte that had arrived was sent again",
    });
  });

  it("and cannot be refreshed: the post waits, and its channel asks to be reconnected", async () => {
    const rounds = times({ short: 1, long: 7 });
    for (let round = 0; round < rounds; round++) {
      for (const moment of MOMENTS) {
        const { post, account, visible } = await publishUntil(moment, true);
        expect({ moment, visible, account: account.status }).toEqual({
          moment,
          visible: 0,
          account: "reconnect_required",
        });
        expect(["scheduled", "publishing"]).toContain(post.status);
        expect(post.next_at).not.toBeNull();
        expect(post.error).toMatch(/reconnect|connect_channel/);
        expect(post.scheduled_at + 60 * MINUTE).toBeGreaterThan(post.next_at ?? Infinity);
      }
    }
    report({
      fault: "F5",
      how: `the token expires at each of ${MOMENTS.length} requests of a post, and the refresh is refused`,
      runs: `${rounds * MOMENTS.length} refusals`,
      seen: "nothing published; the post waits and says why, its channel asks to be reconnected",
    });
  });
});
