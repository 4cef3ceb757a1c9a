import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { askLinkedIn } from "./api.ts";

/** Who a consent was given by. */
export interface Member {
  readonly id: string;
  readonly name: string | null;
  readonly picture: string | null;
  readonly profileUrl: string | null;
}

interface Permission {
  isAllowed(scope: string): boolean;
  /** While connecting, when there is no account yet that could sign. */
  readonly token?: string | undefined;
}

type Io = Pick<ConnectIo, "setting" | "now"> & Pick<ConnectIo | PlatformIo, "ask">;

const Person = z.looseObject({
  sub: z.string().min(1),
  name: z.string().catch(""),
  picture: z.string().catch(""),
});

/** https://learn.microsoft.com/en-us/linkedin/shared/integrations/people/profile-api */
const Me = z.looseObject({
  id: z.string().min(1),
  localizedFirstName: z.string().catch(""),
  localizedLastName: z.string().catch(""),
  vanityName: z.string().catch(""),
});

/** The member, in the way that the permissions open; null where none does. */
export async function readMember(io: Io, { isAllowed, token }: Permission): Promise<Member | null> {
  const call = { kind: "read", token } as const;
  if (isAllowed("openid")) {
    const { sub, name, picture } = await askLinkedIn(io, { ...call, path: "/v2/userinfo" }, Person);
    return {
      id: sub,
      name: orNothing(name),
      picture: parseUrl(picture) === null ? null : picture,
      profileUrl: null,
    };
  }
  if (!isAllowed("r_basicprofile")) return null;
  const me = await askLinkedIn(io, { ...call, path: "/v2/me" }, Me);
  const name = `${me.localizedFirstName} ${me.localizedLastName}`.trim();
  const profileUrl =
    me.vanityName === "" ? null : `https://www.linkedin.com/in/${encodeURIComponent(me.vanityName)}/`;
  return { id: me.id, name: orNothing(name), picture: null, profileUrl };
}

function orNothing(text: string): string | null {
  return text === "" ? null : text;
}
