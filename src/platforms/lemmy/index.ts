import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { definePlatform, type Inspection } from "../../ports/platform.ts";
import { explaining, requireServer, serverOf } from "../shared/servers.ts";
import { askServer, call, classifyLogin, Me, namesOf, own, type Person, TITLE, type Version } from "./api.ts";
import { communities, edit, insights, remove, setThumbnail } from "./live.ts";
import { check, LemmyMetadata, measure } from "./metadata.ts";
import { capabilitiesOf, publish } from "./publish.ts";

const KIND = { title: TITLE, example: "https://lemmy.ml" };
const HELP = "Enter the name and password that you sign in to the server with.";
const REFUSED = { title: TITLE, field: "password", help: HELP };

const LoggedIn = z.looseObject({ jwt: z.string().nullish() });

/** https://join-lemmy.org/docs/contributors/04-api.html; there are no apps, so a login is the way. */
const PASSWORD: SecretsWay = {
  kind: "secrets",
  name: "password",
  label: "Name and password",
  instructions: `${HELP} They are used once and not kept. They make a login for Posthorn, which the account's settings show and can end.`,
  fields: [
    {
      name: "username",
      label: "Name or e-mail",
      help: "The one that you sign in with.",
      isRequired: true,
      isSecret: false,
    },
    {
      name: "password",
      label: "Password",
      help: "Used once and not kept.",
      isRequired: true,
      isSecret: true,
    },
    {
      name: "totp",
      label: "Code",
      help: "The six digits that your app shows, if the account asks for them.",
      isRequired: false,
      isSecret: true,
    },
  ],
  instance: "required",
  renewal: null,
  connect,
};

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const server = requireServer(input.instanceUrl, io, KIND);
  const { version } = await explaining(server, REFUSED, () => askServer(io, server));
  const token = await logIn(input, { server, version }, io);
  const path = namesOf(version).me;
  const person = await explaining(server, REFUSED, () =>
    call(io, { server, version, token, method: "GET", path }, Me),
  );
  if (person === null)
    throw new AppError("unavailable", "The server does not accept the login that it gave. Try again later.");
  const target = {
    platformAccountId: String(person.id),
    idServer: server,
    name: input.name ?? nameOf(person),
    handle: handleOf(person, server),
    profileUrl: person.ap_id ?? person.actor_id ?? null,
    avatarUrl: person.avatar ?? null,
    settings: { instanceUrl: server, accountId: String(person.id), api: version },
    secrets: { accessToken: token },
  };
  return { tokens: null, targets: [target] };
}

async function logIn(
  { secrets }: ConnectInput,
  { server, version }: { readonly server: string; readonly version: Version },
  io: ConnectIo,
): Promise<string> {
  const totp = (secrets["totp"] ?? "").replace(/\s/g, "");
  const json = {
    username_or_email: (secrets["username"] ?? "").trim(),
    password: secrets["password"] ?? "",
    ...(totp === "" ? {} : { totp_2fa_token: totp }),
  };
  const asked = { server, version, method: "POST", path: namesOf(version).login, json } as const;
  const { jwt } = await call(io, { ...asked, classify: classifyLogin }, LoggedIn);
  if (typeof jwt === "string" && jwt !== "") return jwt;
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
  const path = `/api/${version}/${namesOf(version).me}`;
  const person = await own(io, { method: "GET", path }, Me);
  if (person === null)
    throw new PlatformFault("auth", "The server does not know the channel's login any more.");
  return {
    name: nameOf(person),
    handle: handleOf(person, server),
    avatarUrl: person.avatar ?? null,
    limits: { api: version, takesImages, isPrivate },
    problem: person.banned
      ? "The server has banned this account. Settle that with its administrators."
      : null,
  };
}

function nameOf({ display_name: shown, name }: Person): string {
  return (shown ?? "") === "" ? name : (shown ?? name);
}

/** As people name it everywhere: alice@lemmy.example. */
function handleOf({ name }: Person, server: string): string {
  return `${name}@${new URL(server).host}`;
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
  measure,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  remove,
});
