import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { naming } from "../shared/naming.ts";
import { callWith, User } from "./api.ts";

const KEY_PLACE = "On https://dev.to/settings/extensions, under DEV Community API Keys, generate an API key.";

export const KEY: SecretsWay = {
  kind: "secrets",
  name: "key",
  label: "API key",
  instructions: `${KEY_PLACE} DEV stores no pictures. It shows an article's pictures from their own addresses, which must be public and stay: under POSTHORN_PUBLIC_URL, or in a bucket. New accounts may publish one article in five minutes. Articles cannot be deleted through the API. They become drafts again.`,
  fields: [{ name: "apiKey", label: "API key", help: KEY_PLACE, isRequired: true, isSecret: true }],
  renewal: null,
  connect,
};

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const apiKey = input.secrets["apiKey"] ?? "";
  const user = await naming("apiKey", () => callWith(io, apiKey, { path: "/users/me" }, User));
  return {
    tokens: null,
    targets: [
      {
        platformAccountId: String(user.id),
        name: input.name ?? (user.name === "" ? user.username : user.name),
        handle: user.username,
        profileUrl: `https://dev.to/${encodeURIComponent(user.username)}`,
        avatarUrl: user.profile_image ?? null,
        settings: {},
        secrets: { apiKey },
      },
    ],
  };
}
