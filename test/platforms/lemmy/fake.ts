import { randomBytes } from "node:crypto";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { failure } from "./failure.ts";
import { createPosts } from "./posts.ts";
import { READS } from "./schemas.ts";
import { answerOf, type Described } from "../../support/described.ts";

export const SERVER = "https://lemmy.example";

export interface Profile {
  readonly version: "v3" | "v4";
  readonly totp: string | null;
  readonly imagesAllowed: boolean;
  readonly isPrivate: boolean;
  readonly hidesOwn: boolean;
}

const PASSWORD = "a long password";
const MINE = {
  id: 42,
  name: "alice",
  display_name: "Alice",
  avatar: `${SERVER}/pictrs/image/alice.webp`,
  actor_id: `${SERVER}/u/alice`,
  banned: false,
};

/** A Lemmy server behind the outbound client, strict about every request. `wrong`: what it does not know. */
export function createFakeLemmy({
  now,
  profile: given = {},
}: {
  now: () => number;
  profile?: Partial<Profile>;
}) {
  const profile: Profile = {
    version: "v3",
    totp: null,
    imagesAllowed: true,
    isPrivate: false,
    hidesOwn: false,
    ...given,
  };
  const { version } = profile;
  const wrong: string[] = [];
  const seen: Described[] = [];
  const tokens = new Set<string>();
  const images = new Map<string, File>();
  const posts = createPosts({ now, version, server: SERVER, personId: MINE.id, hidesOwn: profile.hidesOwn });

  const notLoggedIn = (): OutboundResponse => failure(400, "not_logged_in");
  const makeToken = (): string => {
    const token = `ey${randomBytes(12).toString("hex")}`;
    tokens.add(token);
    return token;
  };

  const person =
    version === "v3" ? MINE : { ...MINE, actor_id: undefined, ap_id: MINE.actor_id, banned: undefined };
  const mine = { local_user_view: { local_user: { id: 7 }, person } };
  const siteOf = (isMine: boolean): object => ({
    version: version === "v3" ? "0.19.20" : "1.0.0-beta.1",
    site_view: {
      local_site: {
        private_instance: profile.isPrivate,
        ...(version === "v3" ? {} : { image_upload_disabled: !profile.imagesAllowed }),
      },
    },
    ...(version === "v3" && isMine ? { my_user: { ...mine, follows: [] } } : {}),
  });

  const logIn = ({ given: fields }: Described): OutboundResponse => {
    const name = fields["username_or_email"];
    if (name === "new") return answerOf(200, { registration_created: false, verify_email_sent: true });
    if (name !== "alice" || fields["password"] !== PASSWORD) return failure(401, "incorrect_login");
    if (profile.totp !== null && fields["totp_2fa_token"] === undefined)
      return failure(400, "missing_totp_token");
    if (profile.totp !== null && fields["totp_2fa_token"] !== profile.totp)
      return failure(400, "incorrect_totp_token");
    return answerOf(200, { jwt: makeToken(), registration_created: false, verify_email_sent: false });
  };

  const upload = ({ given: { "images[]": file } }: Described): OutboundResponse => {
    if (!profile.imagesAllowed) return failure(400, "image_upload_disabled");
    if (!file.type.startsWith("image/")) {
      return version === "v3"
        ? answerOf(400, { msg: "No file" })
        : failure(400, "pictrs_invalid_image_upload", "No file");
    }
    const name = `${randomBytes(16).toString("hex")}.jpeg`;
    images.set(`${SERVER}/pictrs/image/${name}`, file);
    return version === "v3"
      ? answerOf(201, { msg: "ok", files: [{ file: name, delete_token: "x" }] })
      : answerOf(200, { image_url: `${SERVER}/pictrs/image/${name}`, filename: name });
  };

  const serve = (request: Described, token: string): OutboundResponse => {
    const isMine = tokens.has(token);
    switch (request.name) {
      case "GET /api/v3/site":
      case "GET /api/v4/site":
        return answerOf(200, siteOf(isMine));
      case "POST /api/v3/user/login":
      case "POST /api/v4/account/auth/login":
        return logIn(request);
    }
    if (request.name.endsWith("/post/list") && token === "") {
      return profile.isPrivate ? failure(400, "instance_is_private") : posts.serve(request, false);
    }
    if (!isMine) return notLoggedIn();
    switch (request.name) {
      case "GET /api/v4/account":
        return answerOf(200, { ...mine, follows: [] });
      case "POST /pictrs/image":
      case "POST /api/v4/image":
        return upload(request);
      default:
        return posts.serve(request, true);
    }
  };

  const handle = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const { origin, pathname } = new URL(request.url);
    if (origin !== SERVER) throw new OutboundFailure(`Nobody is at ${origin}.`, false);
    // Which version a server speaks is asked by trying.
    if (version === "v3" && pathname === "/api/v4/site") return answerOf(404, "");
    const asked = await READS[version](request, SERVER);
    if (typeof asked === "string") {
      wrong.push(asked);
      return failure(400, "unknown", "Json deserialize error");
    }
    if (request.method !== "GET" && request.newConnection !== true)
      wrong.push(`${asked.name}: on a kept connection`);
    seen.push(asked);
    return serve(asked, /^Bearer (\S+)$/.exec(request.headers?.["authorization"] ?? "")?.[1] ?? "");
  };

  const outbound: Outbound = { request: handle, assertAllowed: (_field, url) => new URL(url) };
  return {
    door: outbound,
    wrong,
    seen,
    tokens,
    images,
    posts,
    login: { username: "alice", password: PASSWORD },
    count: (operation: string) => seen.filter(({ name }) => name === operation).length,
  };
}

export type FakeLemmy = ReturnType<typeof createFakeLemmy>;
