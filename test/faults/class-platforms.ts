import type { ReconcileClass } from "../../src/domain/accounts/account.ts";
import type { AnyPlatform, PlatformPost, PublishOutcome } from "../../src/ports/platform.ts";
import {
  PlatformFault,
  type Json,
  type PlatformRequest,
  type PlatformResponse,
} from "../../src/ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../src/ports/publish-io.ts";
import { reconcileByListing } from "../../src/platforms/shared/reconcile.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

type Publish = (post: PlatformPost, io: PublishIo) => Promise<PublishOutcome>;

/**
 * A platform file of each reconciliation class, written against `class-servers.ts` as a real one is against
 * its API.
 */
export const CLASS_PLATFORMS: Readonly<Record<string, AnyPlatform>> = {
  class_a: platform("class_a", "server_key", publishWithServerKey),
  class_b: platform("class_b", "client_key", publishWithClientKey),
  class_c: platform("class_c", "session", publishWithSession),
  class_d: platform("class_d", "container", publishWithContainer),
  class_e: platform("class_e", "list", publishWithList),
  class_f: platform("class_f", "blind", publishBlindly),
};

function platform(name: string, reconciles: ReconcileClass, publish: Publish): AnyPlatform {
  return scriptedPlatform({ name, capabilities: { ...TEXT_CAPABILITIES, reconciles }, publish });
}

function live(id: string): PublishOutcome {
  return { state: "live", ...publicAt(id) };
}

function publicAt(id: string): LiveAt {
  return { platformPostId: id, platformUrl: `https://platform.example/${id}` };
}

async function call(
  io: PublishIo,
  path: string,
  request: Omit<PlatformRequest, "url">,
): Promise<Record<string, Json>> {
  // As platforms do: a kept connection that the server has closed meanwhile would leave a change in doubt for
  // nothing.
  const newConnection = request.method !== "GET";
  const response = await io.request({
    ...request,
    headers: { ...request.headers, "x-account": io.account.platformAccountId ?? "" },
    newConnection,
    url: `${io.setting("BASE_URL") ?? ""}${path}`,
  });
  return readObject(response);
}

/** A 2xx without the promised answer tells nothing. */
function readObject(response: PlatformResponse): Record<string, Json> {
  if (typeof response.json === "object" && response.json !== null)
    return response.json as Record<string, Json>;
  throw new PlatformFault("ambiguous", "The platform's answer could not be read.");
}

function publishWithServerKey(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  return io
    .effect<string>({
      step: "create",
      request: { text: post.caption },
      send: async ({ key }) => {
        const headers = { "idempotency-key": key };
        return String(
          (await call(io, "/a/posts", { method: "POST", headers, json: { text: post.caption } }))["id"],
        );
      },
      // It may have come through, whatever becomes of the next one.
      reconcile: async () => ({ outcome: "send_again", isStillInDoubt: true }),
    })
    .then(live);
}

async function publishWithClientKey(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  const key = await io.once("key", () => post.id.slice(-20));
  const find = async (): Promise<boolean> => {
    const classify = (response: PlatformResponse): PlatformFault | null =>
      response.status === 404 ? new PlatformFault("rejected", "No such record.", { httpStatus: 404 }) : null;
    try {
      await call(io, `/b/records/${key}`, { method: "GET", isIdempotent: true, classify });
      return true;
    } catch (error) {
      if (error instanceof PlatformFault && error.httpStatus === 404) return false;
      throw error;
    }
  };
  const id = await io.effect<string>({
    step: "create",
    request: { key, text: post.caption },
    send: async () =>
      String((await call(io, `/b/records/${key}`, { method: "PUT", json: { text: post.caption } }))["id"]),
    reconcile: async () => ((await find()) ? { outcome: "done", result: key } : { outcome: "send_again" }),
  });
  return live(id);
}

const SIZE = 30;
const CHUNK = 10;

async function publishWithSession(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  const session = await io.effect<string>({
    step: "session",
    request: { size: SIZE },
    send: async () =>
      String(
        (await call(io, "/c/uploads", { method: "POST", json: { text: post.caption, size: SIZE } }))[
          "session"
        ],
      ),
    // What a repeat is answered, now, tells nothing of what was sent before.
    reconcile: async () => ({ outcome: "send_again", isStillInDoubt: true }),
  });
  const ask = (): Promise<Record<string, Json>> =>
    call(io, `/c/uploads/${session}`, { method: "GET", isIdempotent: true });
  const id = await io.effect<string>({
    step: "upload",
    request: { session },
    send: async ({ saveHandle }) => {
      let at = Number((await ask())["received"]);
      for (;;) {
        const headers = { "x-start": String(at), "content-type": "application/octet-stream" };
        const answer = await call(io, `/c/uploads/${session}`, {
          method: "PUT",
          headers,
          body: Buffer.alloc(CHUNK, "x"),
        });
        if (typeof answer["postId"] === "string") return answer["postId"];
        at = Number(answer["received"]);
        await saveHandle({ received: at });
      }
    },
    reconcile: async () => {
      const { postId } = await ask();
      return typeof postId === "string" ? { outcome: "done", result: postId } : { outcome: "send_again" };
    },
    // As adapters of such platforms do: what is polled before it fails no post that is out.
    live: publicAt,
  });
  return live(id);
}

async function publishWithContainer(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  const container = await io.effect<string>({
    step: "container",
    request: { text: post.caption },
    send: async () =>
      String(
        (await call(io, "/d/containers", { method: "POST", json: { text: post.caption } }))["container"],
      ),
    reconcile: async () => ({ outcome: "send_again" }),
  });
  const poll = (): Promise<Record<string, Json>> =>
    call(io, `/d/containers/${container}`, { method: "GET", isIdempotent: true });
  if ((await poll())["status"] === "IN_PROGRESS") return { state: "processing", checkAgainMs: 20 };
  const id = await io.effect<string>({
    step: "publish",
    request: { container },
    send: async () =>
      String((await call(io, "/d/publish", { method: "POST", json: { container } }))["postId"]),
    reconcile: async () => {
      const { postId } = await poll();
      return typeof postId === "string" ? { outcome: "done", result: postId } : { outcome: "send_again" };
    },
  });
  return live(id);
}

async function publishWithList(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  const id = await io.effect<string>({
    step: "create",
    request: { text: post.caption },
    send: async () =>
      String((await call(io, "/e/posts", { method: "POST", json: { text: post.caption } }))["id"]),
    reconcile: (context) =>
      reconcileByListing<string>(context, {
        io,
        listedAfterMs: 100,
        find: async (since) => {
          const url = `${io.setting("BASE_URL") ?? ""}/e/posts?since=${since}`;
          const headers = { "x-account": io.account.platformAccountId ?? "" };
          const response = await io.request({ method: "GET", url, headers, isIdempotent: true });
          const posts = response.json as { id: string; text: string }[];
          return posts.find(({ text }) => text === post.caption)?.id ?? null;
        },
      }),
  });
  return live(id);
}

async function publishBlindly(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  await io.effect<boolean>({
    step: "send",
    request: { text: post.caption },
    send: async () =>
      (await call(io, "/f/messages", { method: "POST", json: { text: post.caption } }))["ok"] === true,
    reconcile: async () => ({ outcome: "unknown", reason: "The platform keeps no list of what was sent." }),
  });
  return live(post.id);
}
