import { makeSignIn, signInAddress } from "../../src/access/page-sessions.ts";
import type { AppContext } from "../../src/context.ts";
import { send, type Answer, type Ask, type TestServer } from "../support/http.ts";
import { pageHeaders, signIn } from "../support/page.ts";

/** Everything that a one-time address and a session go through. Answers the secrets by their names. */
export async function visitPage(
  ctx: AppContext,
  { port }: TestServer,
  note: (answer: Answer) => void,
): Promise<Readonly<Record<string, string>>> {
  const [waiting, used] = [await makeSignIn(ctx), await makeSignIn(ctx)];
  const headers = pageHeaders(port);
  const post = (json: object, more: Ask = {}) =>
    send(port, "POST /app/api/session", { headers, json, ...more });
  const entered = await post({ token: used });
  const [cookie = ""] = (entered.headers["set-cookie"] ?? "").split(";");
  note({ ...entered, headers: {} });
  note(await post({ token: used }));
  note(await post({ token: `${waiting}x` }));
  note(await post({ token: [waiting] }));
  note(await post({ token: waiting, key: waiting }));
  note(await post({ key: waiting }));
  note(await post({ token: waiting }, { headers: { ...headers, Origin: "https://evil.example" } }));
  note(await post({}, { headers, json: undefined, body: `{"token":"${waiting}"` }));
  const { pathname } = new URL(signInAddress("http://localhost", waiting));
  // A browser sends no more of the address; someone may.
  for (const path of [pathname, `${pathname}?token=${waiting}`, `/app/api/session?token=${waiting}`])
    note(await send(port, `GET ${path}`, { headers: { Accept: "text/html", Cookie: cookie } }));
  const own = { ...headers, Cookie: cookie };
  for (const path of ["sessions", "keys", "tools", "push", "nothing", `sessions/${waiting}`])
    note(await send(port, `GET /app/api/${path}`, { headers: own }));
  note(await send(port, `DELETE /app/api/sessions/${waiting}`, { headers: own }));
  note(await send(port, "POST /app/api/tools/get_status", { headers: own, json: {} }));
  await signIn({ port, ctx });
  return { "waiting token": waiting, "used token": used, "session token": cookie.split("=")[1] ?? "" };
}
