import { OutboundFailure, type Outbound, type OutboundResponse } from "../../../src/ports/outbound.ts";
import { answerOf, describedBy } from "../../support/described.ts";

export const API = "https://api.neynar.com/v2/farcaster";
export const API_KEY = "0DD1A2B3-11CE-4F5E-8D6C-7B8A9C0D1E2F";
export const SIGNER = "19d0c5fd-9b33-4a48-a0e2-bc7b0555baec";
export const QUOTED = `0x${"ab".repeat(20)}`;
const FID = 194;

const read = describedBy(new URL("./spec.json", import.meta.url));

export interface FakeCast {
  readonly hash: string;
  readonly text: string;
  readonly timestamp: string;
  readonly parent_hash: string | null;
  readonly embeds: readonly { readonly url?: string; readonly cast_id?: object }[];
  readonly channel: string | null;
}

export const refusal = (status: number, message: string, more: object = {}): OutboundResponse =>
  answerOf(status, { code: "InvalidField", message, ...more });

/** Neynar's API behind the outbound client. `wrong`: what its description does not know of a request. */
export function createFakeFarcaster(now: () => number) {
  const casts = new Map<string, FakeCast>();
  const byIdem = new Map<string, FakeCast>();
  const wrong: string[] = [];
  const calls: string[] = [];
  const state = { status: "approved" };
  const author = {
    object: "user",
    fid: FID,
    username: "alice",
    display_name: "Alice",
    pfp_url: "https://farcaster.example/a.png",
    follower_count: 42,
  };
  const show = ({ channel, ...cast }: FakeCast): object => ({
    object: "cast",
    author,
    ...cast,
    channel: channel === null ? null : { id: channel },
    reactions: { likes: [], recasts: [], likes_count: 3, recasts_count: 2 },
    replies: { count: 1 },
  });

  const post = (body: any): OutboundResponse => {
    const { text = "", embeds = [], parent = null, channel_id: channel = null, idem } = body;
    const size = (one: string): number => Buffer.byteLength(one);
    if (size(text) > 1_024) return refusal(400, "text is too long", { property: "text" });
    if (text === "" && embeds.length === 0) return refusal(400, "a cast is empty", { property: "text" });
    if (embeds.some(({ url = "" }: { url?: string }) => size(url) > 256))
      return refusal(400, "url is too long", { property: "embeds" });
    if (channel === "nowhere") return refusal(400, "Channel not found", { property: "channel_id" });
    const cast: FakeCast = byIdem.get(idem) ?? {
      hash: `0x${(casts.size + byIdem.size + 1).toString(16).padStart(40, "0")}`,
      text,
      timestamp: new Date(now()).toISOString(),
      parent_hash: parent,
      embeds,
      channel,
    };
    if (!byIdem.has(idem)) casts.set(cast.hash, cast);
    if (idem !== undefined) byIdem.set(idem, cast);
    return answerOf(200, { success: true, cast: { hash: cast.hash, author: { fid: FID }, text } });
  };

  const serve = (name: string, query: URLSearchParams, body: any): OutboundResponse => {
    switch (name) {
      case "GET /signer/": {
        const signer = { object: "signer", signer_uuid: SIGNER, public_key: "0x00", ...state };
        return query.get("signer_uuid") === SIGNER
          ? answerOf(200, { ...signer, fid: FID })
          : refusal(404, "Signer not found", { code: "NotFound" });
      }
      case "GET /user/bulk/":
        return answerOf(200, { users: query.get("fids") === String(FID) ? [author] : [] });
      case "GET /user/channels/":
      case "GET /channel/search/":
        return answerOf(200, { channels: [{ object: "channel", id: "brass", name: "Brass" }], next: {} });
      case "GET /feed/user/casts/": {
        const newest = [...casts.values()].toReversed().slice(0, Number(query.get("limit") ?? 25));
        return answerOf(200, { casts: newest.map(show), next: { cursor: null } });
      }
      case "GET /cast/": {
        const known = query.get("identifier") ?? "";
        if (known === QUOTED || known === "https://farcaster.xyz/bob/0xababab")
          return answerOf(200, { cast: { hash: QUOTED, author: { fid: 7 }, text: "Quoted" } });
        const found = casts.get(known);
        return found === undefined
          ? refusal(404, "Cast not found", { code: "NotFound" })
          : answerOf(200, { cast: show(found) });
      }
      case "POST /cast/":
        return post(body);
      default:
        return casts.delete(body.target_hash)
          ? answerOf(200, { success: true })
          : refusal(404, "Cast not found", { code: "NotFound" });
    }
  };

  const door: Outbound = {
    assertAllowed: (_field, url) => new URL(url),
    request: async (request) => {
      if (!request.url.startsWith(API)) throw new OutboundFailure(`Nobody is at ${request.url}.`, false);
      const asked = await read(request, API);
      if (typeof asked === "string") {
        wrong.push(asked);
        return refusal(400, asked);
      }
      calls.push(asked.name);
      if (request.headers?.["x-api-key"] !== API_KEY) return refusal(401, "Invalid API key");
      const signer = asked.body?.signer_uuid ?? SIGNER;
      if (signer !== SIGNER || (asked.body !== null && state.status !== "approved"))
        return refusal(403, "Signer is not approved");
      return serve(asked.name, asked.query, asked.body);
    },
  };
  return {
    door,
    state,
    wrong,
    calls,
    casts,
    /** Those that answer none of the account's own. */
    shown: () => [...casts.values()].filter(({ parent_hash: parent }) => parent === null),
  };
}
