import { createHmac } from "node:crypto";
import type { OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { answerOf, describedBy } from "../../support/described.ts";

/** Ghost's own description of what is sent; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));

export interface GhostRequest {
  /** As the description has it: "POST /posts/". */
  readonly name: string;
  readonly id: string;
  readonly query: URLSearchParams;
  /** The post that is sent. */
  readonly post: any;
  readonly file: { readonly name: string; readonly type: string; readonly size: number } | null;
}

/** The request as it is described, or what is wrong with it. */
export async function readRequest(request: OutboundRequest, base: string): Promise<GhostRequest | string> {
  const asked = await read(request, base);
  if (typeof asked === "string") return asked;
  if (!/^v[56]\.\d+$/.test(request.headers?.["accept-version"] ?? "")) return "There is no Accept-Version.";
  const { posts: [post] = [null], file = null } = asked.given;
  return { ...asked, post, file };
}

export interface Key {
  readonly id: string;
  readonly secret: string;
}

/** What jsonwebtoken says of a token; null: it is good. `now` in milliseconds. */
export function tokenProblem(token: string, key: Key, now: number): { code: string; message: string } | null {
  const [head = "", body = "", signature = ""] = token.split(".");
  const read = (part: string): any => JSON.parse(Buffer.from(part, "base64url").toString());
  const { alg, kid } = read(head);
  if (kid !== key.id) return { code: "UNKNOWN_ADMIN_API_KEY", message: "Unknown Admin API Key" };
  const expected = createHmac("sha256", Buffer.from(key.secret, "hex")).update(`${head}.${body}`);
  const { iat, exp, aud } = read(body);
  const problem =
    alg !== "HS256" || signature !== expected.digest("base64url")
      ? "invalid signature"
      : now / 1_000 >= exp
        ? "jwt expired"
        : now / 1_000 - iat > 300 || exp - iat > 300
          ? "maxAge exceeded"
          : /\/?admin\/?$/.test(aud)
            ? null
            : "jwt audience invalid";
  return problem === null ? null : { code: "INVALID_JWT", message: `Invalid token: ${problem}` };
}

/** An error as Ghost words it. */
export function refusal(
  status: number,
  type: string,
  message: string,
  more: { code?: string; property?: string; context?: string } = {},
): OutboundResponse {
  const { code = null, property = null, context = null } = more;
  const error = {
    message,
    context,
    type,
    details: null,
    property,
    help: null,
    code,
    id: "1",
    ghostErrorCode: null,
  };
  return answerOf(status, { errors: [error] });
}
