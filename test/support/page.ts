import type { PageFile } from "../../src/http/page/page-files.ts";
import type { PageParts } from "../../src/http/page/page-router.ts";
import { makeSignIn } from "../../src/access/page-sessions.ts";
import { send, type Answer, type Ask, type TestServer } from "./http.ts";

/** A page of three files, whatever the real one is. */
export async function readLittlePage(): Promise<ReadonlyMap<string, PageFile>> {
  const script = `export const words = "${"word ".repeat(500)}";`;
  return new Map([
    ["index.html", { bytes: Buffer.from("<!doctype html><title>Posthorn</title>"), isImmutable: false }],
    ["main-ABC123.js", { bytes: Buffer.from(script), isImmutable: true }],
    ["manifest.webmanifest", { bytes: Buffer.from("{}"), isImmutable: false }],
  ]);
}

export const NO_BACKUPS: PageParts["backups"] = {
  isPossible: false,
  make: () => Promise.reject(new Error("This test makes no backup.")),
};

/** What a browser sends along when our page writes. */
export function pageHeaders(port: number): Record<string, string> {
  return { "X-Posthorn-Page": "1", Origin: `http://127.0.0.1:${port}`, Host: `127.0.0.1:${port}` };
}

export interface Visitor {
  readonly cookie: string;
  readonly answer: Answer;
  /** As the page asks, with its cookie and headers. */
  ask(target: string, ask?: Ask): Promise<Answer>;
}

type Server = Pick<TestServer, "port" | "ctx">;

/** Signs in with a one-time token, or with this key. */
export async function signIn({ port, ctx }: Server, key?: string): Promise<Visitor> {
  return signInWith(port, key === undefined ? { token: await makeSignIn(ctx) } : { key });
}

/** The same at a server of any process. */
export async function signInWith(port: number, json: object): Promise<Visitor> {
  const headers = pageHeaders(port);
  const answer = await send(port, "POST /app/api/session", { headers, json });
  const cookie = cookieOf(answer);
  return {
    cookie,
    answer,
    ask: (target, ask = {}) =>
      send(port, target, { ...ask, headers: { ...headers, Cookie: cookie, ...ask.headers } }),
  };
}

/** `name=value` of an answer that sets one cookie. */
export function cookieOf({ headers }: Answer): string {
  return (headers["set-cookie"] ?? "").split(";")[0] ?? "";
}
