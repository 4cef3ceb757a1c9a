import { createHmac, randomBytes } from "node:crypto";
import { inject } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../src/ports/platform-io.ts";
import { PdsAddress } from "./pds-server.ts";

const Created = z.object({ did: z.string(), handle: z.string(), accessJwt: z.string() });
const RecordList = z.object({
  records: z.array(z.object({ uri: z.string(), cid: z.string(), value: z.record(z.string(), z.json()) })),
});

export interface PdsRecord {
  readonly uri: string;
  readonly cid: string;
  readonly value: JsonObject;
}

/** A person with an account on the server. */
export interface PdsUser {
  readonly did: string;
  readonly handle: string;
  readonly password: string;
  appPassword(name: string): Promise<string>;
  revokeAppPassword(name: string): Promise<void>;
  /** An access token of this account whose time is over. */
  expiredToken(): string;
  /** What the server itself holds, oldest first. */
  records(collection?: string): Promise<PdsRecord[]>;
  deleteRecord(collection: string, rkey: string): Promise<void>;
  blob(cid: string): Promise<Buffer>;
}

export interface TestPds {
  readonly url: string;
  createUser(name?: string): Promise<PdsUser>;
}

/** A real server on loopback, one for the run. */
export async function startPds(): Promise<TestPds> {
  const answer = await fetch(inject("pds"));
  if (!answer.ok) throw new Error(await answer.text());
  const server = PdsAddress.parse(await answer.json());
  return {
    url: server.url,
    createUser: (name) => createUser(server, name ?? `user${randomBytes(4).toString("hex")}`),
  };
}

async function createUser({ url, jwtSecret }: PdsAddress, name: string): Promise<PdsUser> {
  const password = randomBytes(12).toString("hex");
  const account = { email: `${name}@example.test`, handle: `${name}.test`, password };
  const { did, handle, accessJwt } = Created.parse(
    await callPds(url, "com.atproto.server.createAccount", { json: account }),
  );
  const act = (nsid: string, json: JsonObject): Promise<unknown> =>
    callPds(url, nsid, { json, token: accessJwt });
  return {
    did,
    handle,
    password,
    appPassword: async (label) =>
      z
        .object({ password: z.string() })
        .parse(await act("com.atproto.server.createAppPassword", { name: label })).password,
    revokeAppPassword: async (label) =>
      void (await act("com.atproto.server.revokeAppPassword", { name: label })),
    expiredToken: () => expiredToken(jwtSecret, accessJwt),
    records: async (collection = "app.bsky.feed.post") => {
      const query = new URLSearchParams({ repo: did, collection, limit: "100", reverse: "true" });
      return RecordList.parse(await callPds(url, `com.atproto.repo.listRecords?${query}`)).records;
    },
    deleteRecord: async (collection, rkey) =>
      void (await act("com.atproto.repo.deleteRecord", { repo: did, collection, rkey })),
    blob: async (cid) => {
      const response = await fetch(
        `${url}/xrpc/com.atproto.sync.getBlob?${new URLSearchParams({ did, cid })}`,
      );
      if (!response.ok) throw new Error(`getBlob: ${response.status}`);
      return Buffer.from(await response.arrayBuffer());
    },
  };
}

/** The same claims an hour ago, signed with the server's own secret. */
function expiredToken(jwtSecret: string, token: string): string {
  const [header = "", body = ""] = token.split(".");
  const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
  const past = { ...z.record(z.string(), z.unknown()).parse(claims), iat: 1_000_000_000, exp: 1_000_003_600 };
  const signed = `${header}.${Buffer.from(JSON.stringify(past)).toString("base64url")}`;
  return `${signed}.${createHmac("sha256", jwtSecret).update(signed).digest("base64url")}`;
}

/** One XRPC call past the product, to prepare the server and to look at it. */
async function callPds(
  url: string,
  call: string,
  options: { json?: JsonObject; token?: string } = {},
): Promise<unknown> {
  const { json, token } = options;
  const response = await fetch(`${url}/xrpc/${call}`, {
    method: json === undefined ? "GET" : "POST",
    headers: {
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${call}: ${response.status} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}
