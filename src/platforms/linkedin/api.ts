import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import {
  PlatformFault,
  type Json,
  type PlatformIo,
  type PlatformRequest,
  type PlatformResponse,
} from "../../ports/platform-io.ts";
import { bearer, faultsBy } from "../shared/faults.ts";

export const LINKEDIN_API = "https://api.linkedin.com";
/** LinkedIn makes a version each month and takes it for about a year. */
export const API_VERSION = "202609";

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
      `LinkedIn takes it for a duplicate of ${named} and refused it. Change the text and call retry_post.`,
    );
    this.older = older;
  }
}

export function pageOf(urn: string): string {
  return `https://www.linkedin.com/feed/update/${urn}/`;
}

const POST_URN = /urn:li:(?:share|ugcPost):\d+/;

function codesOf({ status, json }: PlatformResponse): string[] {
  if (status < 300) return [];
  const said = Said.safeParse(json).data;
  return [said?.code ?? "", `${said?.serviceErrorCode ?? ""}`].filter((code) => code !== "" && code !== "0");
}

const table = (role: "auth" | "rejected") =>
  faultsBy({
    title: "LinkedIn",
    codesOf,
    rules: [
      {
        status: 426,
        kind: "setup",
        message:
          "LinkedIn has retired the version of its API. Set POSTHORN_LINKEDIN_API_VERSION to a newer one, as YYYYMM, and start Posthorn again.",
      },
      {
        status: 401,
        kind: "auth",
        message: "LinkedIn does not accept the channel's permission any more.",
      },
      {
        status: 403,
        kind: role,
        message:
          "LinkedIn does not allow this: the permission was not given, or the person is no administrator of the Page any more.",
      },
      {
        status: 413,
        kind: "rejected",
        message: "LinkedIn refused a file as too large. Use a smaller one.",
      },
    ],
  });

const classifiers = { write: table("auth"), read: table("rejected") };

function classify(kind: keyof typeof classifiers): NonNullable<PlatformRequest["classify"]> {
  return (response) => {
    const words = Said.safeParse(response.json).data?.message ?? "";
    if (response.status >= 400 && response.status < 500 && /duplicate/i.test(words))
      return new DuplicateFault(POST_URN.exec(words)?.[0] ?? null);
    return classifiers[kind](response);
  };
}

interface Call extends Pick<PlatformRequest, "isIdempotent"> {
  readonly method?: PlatformRequest["method"];
  /** With its query, whose lists in brackets must stay as they are. */
  readonly path: string;
  readonly json?: Json;
  /** `write`: a refusal for want of a permission asks to reconnect. */
  readonly kind: keyof typeof classifiers;
  readonly headers?: Readonly<Record<string, string>>;
  /** While connecting, when there is no account yet that could sign. */
  readonly token?: string | undefined;
}

type Setting = Pick<ConnectIo, "setting">;

export function requestOf(io: Setting, call: Call): PlatformRequest & { sign?: ReturnType<typeof bearer> } {
  const { method = call.json === undefined ? "GET" : "POST", path, json, kind, token } = call;
  return {
    method,
    url: `${io.setting("BASE_URL") ?? LINKEDIN_API}${path}`,
    headers: {
      "linkedin-version": io.setting("API_VERSION") ?? API_VERSION,
      "x-restli-protocol-version": "2.0.0",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...call.headers,
    },
    ...(json === undefined ? {} : { json }),
    ...(call.isIdempotent === undefined ? {} : { isIdempotent: call.isIdempotent }),
    ...(token === undefined ? { sign: bearer() } : {}),
    classify: classify(kind),
  };
}

export function askLinkedIn<T>(
  io: Setting & Pick<ConnectIo | PlatformIo, "ask">,
  call: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return io.ask(requestOf(io, call), schema);
}

/** A URN inside of a path or a list. */
export function urn(text: string): string {
  return encodeURIComponent(text);
}
