import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, byStatus, type FaultTable } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

export const LINKEDIN_API = "https://api.linkedin.com";

/**
 * LinkedIn makes a version most months and takes it for a year at least. These are out by then, have more than
 * half a year to live, and one of them is there where LinkedIn left a month out (December 2025).
 * https://learn.microsoft.com/en-us/linkedin/marketing/versioning
 */
export const VERSION_MONTHS_AGO = [4, 5, 6] as const;

const Said = z.looseObject({
  code: z.string().catch(""),
  serviceErrorCode: z.number().catch(0),
  message: z.string().catch(""),
});

/** The post that it takes this one for; `older` is null where LinkedIn names none. */
export class DuplicateFault extends PlatformFault {
  readonly older: string | null;

  constructor(older: string | null) {
    const named = older === null ? "an older post" : `${pageOf(older)}`;
    super(
      "rejected",
      `LinkedIn refused it as a duplicate of ${named}. Change the text, then send the post again.`,
    );
    this.older = older;
  }
}

export function pageOf(urn: string): string {
  return `https://www.linkedin.com/feed/update/${urn}/`;
}

const POST_URN = /urn:li:(?:share|ugcPost):\d+/;

/** Some are named by a sentence alone. */
function codesOf({ status, json }: PlatformResponse): string[] {
  if (status < 300) return [];
  const { code = "", message = "", serviceErrorCode = "" } = Said.safeParse(json).data ?? {};
  const isWorking = STILL_WORKING.test(code) || /\b(still|being) process/i.test(message);
  const isRefused = status >= 400 && status < 500;
  return [
    ...(isRefused && /duplicate/i.test(message) ? ["duplicate"] : []),
    ...(isRefused && isWorking ? ["working"] : []),
    code,
    `${serviceErrorCode}`,
  ].filter((one) => one !== "" && one !== "0");
}

/** A post came sooner than what it shows. */
const STILL_WORKING = /^MEDIA_ASSET_(WAITING_UPLOAD|PROCESSING)$/;

const table = (role: "auth" | "rejected"): FaultTable => ({
  title: "LinkedIn",
  codesOf,
  rules: [
    {
      code: "duplicate",
      fault: ({ json }) =>
        new DuplicateFault(POST_URN.exec(Said.safeParse(json).data?.message ?? "")?.[0] ?? null),
    },
    {
      code: "working",
      kind: "transient",
      isNotDone: true,
      message: "LinkedIn is still working on a picture, the video or the document of the post.",
    },
    ...byStatus("setup", {
      426: "LinkedIn does not take this version of its API. Set POSTHORN_LINKEDIN_API_VERSION to one that is listed as active, as YYYYMM, and start Posthorn again.",
    }),
    ...byStatus("auth", { 401: "LinkedIn does not accept the channel's permission any more." }),
    {
      status: 403,
      kind: role,
      message:
        "LinkedIn does not allow this. The permission was not given, or the person is no longer an administrator of the Page.",
    },
    ...byCode("rejected", {
      MEDIA_ASSET_PROCESSING_FAILED:
        "LinkedIn could not process a picture, the video or the document of the post. Replace it, then send the post again.",
    }),
    ...byStatus("rejected", { 413: "LinkedIn refused a file as too large. Use a smaller one." }),
  ],
});

const FAULTS = { write: table("auth"), read: table("rejected") };

const api = restApi({
  base: LINKEDIN_API,
  headers: () => ({ "x-restli-protocol-version": "2.0.0" }),
  faults: FAULTS.write,
});

interface Call extends Pick<ApiCall, "method" | "path" | "json" | "headers" | "isIdempotent"> {
  /** `write`: a refusal for want of a permission asks to reconnect. */
  readonly kind: keyof typeof FAULTS;
}

const toCall = ({ kind, headers, ...call }: Call, version: string): ApiCall => ({
  method: call.json === undefined ? "GET" : "POST",
  ...call,
  headers: { "linkedin-version": version, ...headers },
  faults: FAULTS[kind],
  ...(kind === "read" && { gone: [{ status: 404 }] }),
});

/** Asks LinkedIn. `secrets`: while connecting, when there is no account yet that could sign. */
export function askLinkedIn<T>(
  io: PlatformIo | ConnectIo,
  call: Call,
  schema: z.ZodType<T>,
  secrets?: Secrets,
): Promise<T> {
  return withVersion(io, (version) =>
    "account" in io
      ? api.ask(io, toCall(call, version), schema)
      : api.askWith(io, secrets === undefined ? {} : { secrets }, toCall(call, version), schema),
  );
}

/** For what LinkedIn answers without a body, or in headers. */
export function sendLinkedIn(io: PlatformIo, call: Call): Promise<PlatformResponse> {
  return withVersion(io, (version) => api.send(io, toCall(call, version)));
}

type Setting = Pick<ConnectIo, "setting" | "now">;

/** A version that LinkedIn does not take (426) did nothing: the same is asked with the next. */
async function withVersion<T>(io: Setting, work: (version: string) => Promise<T>): Promise<T> {
  const [first, ...others] = versionsOf(io);
  let answer = work(first);
  for (const version of others)
    answer = answer.catch((error: unknown) => {
      if (error instanceof PlatformFault && error.httpStatus === 426) return work(version);
      throw error;
    });
  return answer;
}

function versionsOf(io: Setting): readonly [string, ...string[]] {
  const fixed = io.setting("API_VERSION");
  if (fixed !== null) return [fixed];
  const now = new Date(io.now());
  const ago = (months: number): string =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months))
      .toISOString()
      .slice(0, 7)
      .replace("-", "");
  const [first, ...others] = VERSION_MONTHS_AGO;
  return [ago(first), ...others.map(ago)];
}

/** Asks for a post that the channel may read; a 404 is a fault. */
export async function findPost(io: PlatformIo, id: string): Promise<void> {
  await sendLinkedIn(io, { path: `/rest/posts/${urn(id)}`, kind: "read" });
}

/** A URN inside of a path or a list. */
export function urn(text: string): string {
  return encodeURIComponent(text);
}

/** Who a consent was given by. */
export interface Member {
  readonly id: string;
  readonly name: string | null;
  readonly picture: string | null;
  readonly profileUrl: string | null;
}

interface Permission {
  isAllowed(scope: string): boolean;
  /** While connecting. */
  readonly secrets?: Secrets;
}

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
export async function readMember(
  io: PlatformIo | ConnectIo,
  { isAllowed, secrets }: Permission,
): Promise<Member | null> {
  if (isAllowed("openid")) {
    const { sub, name, picture } = await askLinkedIn(
      io,
      { kind: "read", path: "/v2/userinfo" },
      Person,
      secrets,
    );
    return {
      id: sub,
      name: orNothing(name),
      picture: parseUrl(picture) === null ? null : picture,
      profileUrl: null,
    };
  }
  if (!isAllowed("r_basicprofile")) return null;
  const me = await askLinkedIn(io, { kind: "read", path: "/v2/me" }, Me, secrets);
  const name = `${me.localizedFirstName} ${me.localizedLastName}`.trim();
  const profileUrl =
    me.vanityName === "" ? null : `https://www.linkedin.com/in/${encodeURIComponent(me.vanityName)}/`;
  return { id: me.id, name: orNothing(name), picture: null, profileUrl };
}

function orNothing(text: string): string | null {
  return text === "" ? null : text;
}
