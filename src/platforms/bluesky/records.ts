import { encode } from "@atcute/cbor";
import { CODEC_DCBOR, create, toString } from "@atcute/cid";
import * as z from "zod";
import type { JsonObject } from "../../ports/platform-io.ts";
import { isXrpcError, xrpc, type Network } from "./xrpc.ts";

export const POST = "app.bsky.feed.post";
export const THREADGATE = "app.bsky.feed.threadgate";
export const POSTGATE = "app.bsky.feed.postgate";

/** One record to be created under a key of ours. */
export type RecordWrite = {
  readonly collection: string;
  readonly rkey: string;
  readonly value: JsonObject;
};

/** The content id that the server will compute for the record: SHA-256 over its canonical CBOR. */
export async function cidOf(record: JsonObject): Promise<string> {
  return toString(await create(CODEC_DCBOR, encode(record)));
}

export function uriOf(did: string, collection: string, rkey: string): string {
  return `at://${did}/${collection}/${rkey}`;
}

/** The key in `at://did/collection/key`; null for something else. */
export function rkeyOf(uri: string): string | null {
  return /^at:\/\/[^/]+\/[^/]+\/([^/]+)$/.exec(uri)?.[1] ?? null;
}

const RecordAnswer = z.looseObject({
  uri: z.string(),
  cid: z.string().optional(),
  value: z.record(z.string(), z.json()),
});
export type StoredRecord = z.infer<typeof RecordAnswer>;

/** The record as the account's own server has it, which is the truth; null where it has none. */
export async function findRecord(
  io: Network,
  at: { base: string; repo: string; collection: string; rkey: string },
): Promise<StoredRecord | null> {
  const { base, ...params } = at;
  try {
    return await xrpc(io, { base, nsid: "com.atproto.repo.getRecord", params }, RecordAnswer);
  } catch (error) {
    if (isXrpcError(error, "RecordNotFound")) return null;
    throw error;
  }
}
