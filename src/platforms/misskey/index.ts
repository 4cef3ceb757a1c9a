import { randomUUID } from "node:crypto";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectIo, RedirectWay, SecretsWay } from "../../ports/connect.ts";
import { definePlatform } from "../../ports/platform.ts";
import { oneChannel, secretField } from "../shared/connect.ts";
import { explaining, handleAt, requireServer } from "../shared/servers.ts";
import { call, TITLE, User } from "./api.ts";
import { analytics, edit, insights, people, remove } from "./live.ts";
import { capabilitiesOf, check, inspect, measure, MisskeyMetadata, nameOf, shownText } from "./metadata.ts";
import { publish } from "./publish.ts";

const PERMISSIONS = ["read:account", "write:notes", "read:drive", "write:drive"];

const TOKEN_PLACE =
  "On the server, under Settings, Service integration (API in older versions), generate an access token that may " +
  "view your account information, write notes, and access and edit your drive.";

const KIND = { title: TITLE, example: "https://misskey.io" };
const REFUSED = { title: TITLE, secret: { field: "accessToken", help: TOKEN_PLACE } };

const Session = z.object({ session: z.string() });
const Meta = z.looseObject({ version: z.string() });
const Checked = z.looseObject({ ok: z.boolean(), token: z.string().min(1).optional() });

/** https://misskey-hub.net/en/docs/for-developers/api/token/miauth */
const MIAUTH: RedirectWay = {
  kind: "redirect",
  name: "miauth",
  label: "Sign in on your server",
  instructions:
    "Sign in on the account's own server (for example https://misskey.io) and allow Posthorn to read your account, to write notes and to use your drive.",
  instance: "required",
  redirect: "any",
  begin: async (_input, { instanceUrl, redirectUrl }, io) => {
    const server = requireServer(instanceUrl, io, KIND);
    const meta = { server, method: "meta", json: { detail: false } };
    // Before a browser is sent to what may be another kind of server.
    await explaining(server, REFUSED, () => call(io, meta, Meta));
    const session = randomUUID();
    const url = new URL(`${server}/miauth/${session}`);
    url.searchParams.set("name", "Posthorn");
    url.searchParams.set("callback", redirectUrl);
    url.searchParams.set("permission", PERMISSIONS.join(","));
    return { url: url.href, keep: { session } };
  },
  finish: async (answer, { keep, place }, io) => {
    const server = requireServer(place.instanceUrl, io, KIND);
    const { session } = Session.parse(keep);
    // Good once; the server forgets it with its answer.
    const check = { server, method: `miauth/${session}/check`, json: {}, isChange: true };
    const checked = answer["session"] === session ? await call(io, check, Checked) : null;
    if (checked?.ok !== true || checked.token === undefined)
      throw new AppError(
        "invalid",
        "The server says that access was not allowed. Start again and choose Allow on its page.",
      );
    return connected(server, checked.token, null, io);
  },
};

const TOKEN: SecretsWay = {
  kind: "secrets",
  name: "token",
  label: "Access token",
  instructions: `${TOKEN_PLACE} It can be deleted there at any time.`,
  fields: [secretField("accessToken", "Access token", TOKEN_PLACE)],
  instance: "required",
  renewal: null,
  connect: async ({ instanceUrl, secrets, name }, io) =>
    connected(requireServer(instanceUrl, io, KIND), (secrets["accessToken"] ?? "").trim(), name, io),
};

async function connected(
  server: string,
  accessToken: string,
  name: string | null,
  io: ConnectIo,
): Promise<Connected> {
  const secrets = { accessToken };
  const user = await explaining(server, REFUSED, () =>
    call(io, { server, secrets, method: "i", json: {} }, User),
  );
  return oneChannel({
    platformAccountId: user.id,
    idServer: server,
    name: name ?? nameOf(user),
    handle: handleAt(server, user.username),
    profileUrl: `${server}/@${encodeURIComponent(user.username)}`,
    avatarUrl: user.avatarUrl ?? null,
    settings: { instanceUrl: server, accountId: user.id },
    secrets,
  });
}

/** Misskey and the servers that are made of it (Sharkey, CherryPick). */
export default definePlatform({
  name: "misskey",
  title: TITLE,
  docs: "https://misskey-hub.net/en/docs/for-developers/api",
  capabilities: capabilitiesOf({ limits: {} }),
  capabilitiesOf,
  metadata: MisskeyMetadata,
  connect: [MIAUTH, TOKEN],
  choices: { mention: people },
  check,
  preview: ({ metadata: { format } }) => ({ write: (text) => shownText(text, format) }),
  measure,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
