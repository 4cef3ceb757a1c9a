import { Agent, request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RESOURCE_ROUTES } from "../../src/http/api/resource-routes.ts";
import type { Service } from "../support/service.ts";
import { startServiceWithMcp } from "./service-with-mcp.ts";

const KiB = 1024;
const SIZES = [200 * KiB, 300 * KiB, 2_000 * KiB, 20_000 * KiB];
/** Far below the time after which a connection at rest is closed, which is how long a stalled one stands. */
const SOON_MS = 20_000;

let service: Service;
let keys: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await startServiceWithMcp();
  keys = {
    full: await service.keyFor("default"),
    reader: await service.keyFor("default", { permissions: ["read"] }),
    wrong: "phk_none_at_all",
  };
});

afterAll(() => service[Symbol.asyncDispose]());

const ROUTES = RESOURCE_ROUTES.filter(({ method }) => method !== "get").map(
  ({ method, path }) => `${method.toUpperCase()} /api/v1${path.replaceAll(/\{\w+\}/g, "post_none")}`,
);

const OTHERS = [
  "POST /api/v1/files?name=x",
  "POST /api/v1/files/uploads",
  "PATCH /api/v1/files/uploads/none",
  "PUT /files/file_none/upload?expires=1&signature=x",
  "PUT /api/v1/platforms/youtube/app",
  "POST /api/v1/tools/schedule_post",
  "POST /api/v1/tools/none",
  "POST /api/v1/posts/import",
  "POST /mcp",
  "POST /messages?sessionId=none",
  "POST /connect/none",
  "POST /app/api/session",
  "POST /app/api/files?name=x",
  "POST /none",
  "GET /api/v1/posts",
];

const TYPES = ["application/octet-stream", "application/json", "image/png", "text/csv", "text/html"];

interface Call {
  readonly target: string;
  readonly key: string;
  readonly type: string;
  readonly body: Buffer;
}

/** The status, once the whole answer has been read. */
function send(agent: Agent, { target, key, type, body }: Call): Promise<number> {
  const [method, path] = target.split(" ");
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(body.length > 0 && { "Content-Type": type, "Content-Length": body.length }),
  };
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: service.port, agent, method, path, headers, timeout: SOON_MS };
    const request = httpRequest(options, (answer) => {
      answer.resume().once("error", reject);
      answer.once("end", () => resolve(answer.statusCode ?? 0));
    });
    request.once("timeout", () => request.destroy(new Error("Nothing came over the connection.")));
    request.once("error", reject).end(body);
  });
}

it.each([...new Set([...ROUTES, ...OTHERS])])(
  "%s that is refused leaves its connection to the next request",
  async (target) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const [at, size] of SIZES.entries())
      for (const type of at === 1 ? TYPES : TYPES.slice(0, 2))
        for (const key of at === 1 ? Object.values(keys) : [keys["full"] ?? ""]) {
          const body = Buffer.alloc(size, "A");
          const refused = await send(agent, { target, key, type, body });
          const next = {
            target: "GET /api/v1/accounts",
            key: keys["full"] ?? "",
            type,
            body: Buffer.alloc(0),
          };
          expect({ refused: refused >= 400, next: await send(agent, next) }, `${type}, ${size}`).toEqual({
            refused: true,
            next: 200,
          });
        }
    agent.destroy();
  },
);
