import * as z from "zod";
import { shownThere } from "../shared/shown.ts";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { definePlatform, type Inspection } from "../../ports/platform.ts";
import { oneChannel, optional, secretField, textField } from "../shared/connect.ts";
import { explaining, handleAt, requireServer, serverOf } from "../shared/servers.ts";
import { askServer, callWith, LOGIN_RULES, Me, namesOf, own, TITLE, type Version } from "./api.ts";
import { communities, edit, insights, remove, setThumbnail } from "./live.ts";
import { check, LemmyMetadata, measure } from "./metadata.ts";
import { capabilitiesOf, publish } from "./publish.ts";

const KIND = { title: TITLE, example: "https://lemmy.ml" };
const HELP = "Enter the name and password that you sign in to the server with.";
const REFUSED = { title: TITLE, secret: { field: "password", help: HELP } };

const LoggedIn = z.looseObject({ jwt: z.string().nullish() });

/** https://join-lemmy.org/docs/contributors/04-api.html; there are no apps, so a login is the way. */
const PASSWORD: SecretsWay = {
  kind: "secrets",
  name: "password",
  label: "Name and password",
  instructions: `${HELP} They are used once and not kept. They make a login for Posthorn, which the account's settings show and can end.`,
  fields: [
    textField("username", "Name or e-mail", "The one that you sign in with."),
    secretField("password", "Password", "Used once and not kept."),
    optional(
      secretField("totp", "Code", "The six digits that your app shows, if the account asks for them."),
    ),
  ],
  instance: "required",
  renewal: null,
  connect,
};

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const server = requireServer(input.instanceUrl, io, KIND);
  const { version } = await explaining(server, REFUSED, () => askServer(io, server));
  const secrets = { accessToken: await logIn(input, { server, version }, io) };
  const person = await explaining(server, REFUSED, () =>
    callWith(io, { server, version, secrets }, { path: namesOf(version).me }, Me),
  );
  if (person === null)
    throw new AppError("unavailable", "The server does not accept the login that it gave. Try again later.");
  return oneChannel({
    platformAccountId: String(person.id),
    idServer: server,
    name: input.name ?? (person.display_name || person.name),
    handle: handleAt(server, person.name),
    profileUrl: person.ap_id ?? person.actor_id ?? null,
    avatarUrl: person.avatar ?? null,
    settings: { instanceUrl: server, accountId: String(person.id), api: version },
    secrets,
  });
}

async function logIn(
  { secrets }: ConnectInput,
  at: { readonly server: string; readonly version: Version },
  io: ConnectIo,
): Promise<string> {
  const totp = (secrets["totp"] ?? "").replace(/\s/g, "");
  const json = {
    username_or_email: (secrets["username"] ?? "").trim(),
    password: secrets["password"] ?? "",
    ...(totp === "" ? {} : { totp_2fa_token: totp }),
  };
  const call = { method: "POST", path: namesOf(at.version).login, json, rules: LOGIN_RULES } as const;
  const { jwt } = await callWith(io, at, call, LoggedIn);
  if (jwt) return jwt;
  throw new AppError(
    "invalid",
    "username: the server has not let the account in yet. Confirm its e-mail, or wait for the server's administrators.",
  );
}

/** Who the account is now, and which version its server speaks. */
async function inspect(io: PlatformIo): Promise<Inspection> {
  const server = serverOf(io);
  const { version, takesImages, isPrivate } = await askServer(io, server);
  // Right after an upgrade, the account still knows the version before.
  const person = await own(io, { path: `/api/${version}/${namesOf(version).me}` }, Me);
  if (person === null)
    throw new PlatformFault("auth", "The server does not know the channel's login any more.");
  return {
    name: person.display_name || person.name,
    handle: handleAt(server, person.name),
    avatarUrl: person.avatar ?? null,
    limits: { api: version, takesImages, isPrivate },
    problem: person.banned
      ? "The server has banned this account. Settle that with its administrators."
      : null,
  };
}

/** Lemmy 0.19 and 1.0. */
export default definePlatform({
  name: "lemmy",
  title: TITLE,
  docs: "https://join-lemmy.org/docs/contributors/04-api.html",
  capabilities: capabilitiesOf({ limits: {} }),
  capabilitiesOf,
  metadata: LemmyMetadata,
  connect: [PASSWORD],
  choices: { community: communities },
  check,
  preview: ({ caption, metadata: { format } }) => shownThere(caption, format),
  measure,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  remove,
});
