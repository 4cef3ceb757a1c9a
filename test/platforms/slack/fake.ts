import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { describedBy } from "../../support/described.ts";
import { METHODS } from "./methods.ts";
import type { FakeState } from "./state.ts";

export const API = "https://slack.com/api/";
export const UPLOADS = "https://files.slack.com/upload/v1/";

export interface FakeSlack {
  readonly door: Outbound;
  readonly state: FakeState;
  readonly wrong: readonly string[];
  /** What is refused next, by its method; once each. */
  refuse(method: string, error: string, headers?: Record<string, string>): void;
  /** The methods that were called so far. */
  readonly calls: { readonly method: string; readonly args: Readonly<Record<string, unknown>> }[];
}

export const TOKEN = "xoxb-canary-1";
export const SCOPES = [
  ...["chat:write", "chat:write.public", "channels:read", "groups:read"],
  ...["files:write", "files:read", "channels:history", "groups:history", "users:read"],
];

/** Slack's own description of the methods that are called; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));

/**
 * Slack's Web API, as strict as its documentation: unknown methods, arguments and types are refused, scopes and
 * membership looked at, files shared some time after they are complete.
 */
export function createFakeSlack(now: () => number): FakeSlack {
  const state: FakeState = {
    now,
    tokens: new Map([[TOKEN, [...SCOPES]]]),
    channels: new Map([
      ["C0NEWS", { id: "C0NEWS", name: "news", is_archived: false, is_member: true, is_private: false }],
      ["C0OTHER", { id: "C0OTHER", name: "other", is_archived: false, is_member: false, is_private: false }],
      ["G0SECRET", { id: "G0SECRET", name: "secret", is_archived: false, is_member: true, is_private: true }],
    ]),
    messages: [],
    files: new Map(),
    codes: new Map(),
    refreshTokens: new Map(),
    rotates: false,
    shareMs: 1_500,
    nextTs: 0,
  };
  const refusals: { method: string; error: string; headers: Record<string, string> }[] = [];
  const wrong: string[] = [];
  const calls: { method: string; args: Readonly<Record<string, unknown>> }[] = [];

  const callMethod = async (request: OutboundRequest, body: Buffer): Promise<OutboundResponse> => {
    const asked = await read({ ...request, body }, API);
    const type = request.headers?.["content-type"] ?? "";
    const isOdd = type.startsWith("application/json") && type !== "application/json; charset=utf-8";
    if (typeof asked === "string" || isOdd) {
      wrong.push(typeof asked === "string" ? asked : `${asked.name}: missing_charset`);
      return answer(request, { ok: false, error: "invalid_arguments" });
    }
    const { name, given } = asked;
    const method = name.split(" ")[1] ?? "";
    calls.push({ method, args: given });
    const at = refusals.findIndex((one) => one.method === method);
    const [refusal] = at < 0 ? [] : refusals.splice(at, 1);
    if (refusal !== undefined) {
      const status = refusal.error === "ratelimited" ? 429 : 200;
      return answer(request, { ok: false, error: refusal.error }, status, refusal.headers);
    }
    const token = (request.headers?.["authorization"] ?? "").replace("Bearer ", "");
    const said = METHODS[name]?.(state, given, token, asked.scopes) ?? "unknown_method";
    const scopes = state.tokens.get(token)?.join(",");
    const body200 =
      typeof said === "string" ? refusalOf(said, state.tokens.get(token)) : { ok: true, ...said };
    return answer(request, body200, 200, scopes === undefined ? {} : { "x-oauth-scopes": scopes });
  };

  return {
    state,
    calls,
    wrong,
    refuse: (method, error, headers = {}) => void refusals.push({ method, error, headers }),
    door: {
      request: async (request) => {
        const { body: sent = "" } = request;
        const body = sent instanceof Readable ? await buffer(sent) : Buffer.from(sent);
        if (request.url.startsWith(UPLOADS)) return answerUpload(state, request, body);
        if (request.url.startsWith(API)) return callMethod(request, body);
        throw new OutboundFailure(`Nobody is at ${request.url}.`, false);
      },
      assertAllowed: (_field, url) => new URL(url),
    },
  };
}

function refusalOf(error: string, provided: readonly string[] = []): object {
  const [code, needed] = error.split(" ");
  return needed === undefined
    ? { ok: false, error: code }
    : { ok: false, error: code, needed, provided: provided.join(",") };
}

/** Each address takes its file once, whole, and from nobody who shows a token. */
function answerUpload(state: FakeState, request: OutboundRequest, body: Buffer): OutboundResponse {
  const file = state.files.get(request.url.slice(UPLOADS.length));
  const isRight =
    file !== undefined &&
    !file.isUploaded &&
    request.method === "POST" &&
    request.headers?.["authorization"] === undefined &&
    body.length === file.length;
  if (!isRight) return answer(request, { ok: false, error: "upload_refused" }, 400);
  file.isUploaded = true;
  return { status: 200, headers: {}, url: request.url, body: Readable.from([`OK - ${body.length}`]) };
}

function answer(
  request: OutboundRequest,
  body: object,
  status = 200,
  headers: Record<string, string> = {},
): OutboundResponse {
  const text = JSON.stringify(body);
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    url: request.url,
    body: Readable.from([Buffer.from(text)]),
  };
}
