import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import {
  PlatformFault,
  type JsonObject,
  type PlatformAccount,
  type PlatformIo,
  type PlatformRequest,
} from "../../ports/platform-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { classifyChange, classifySending, Migrated } from "./faults.ts";

/** A method of the Bot API with its parameters; files are parts of a form beside them. */
export interface Call {
  readonly method: string;
  readonly fields: JsonObject;
  readonly files?: readonly FormPart[];
  /** Default: false. */
  readonly isIdempotent?: boolean;
}

/** Where the account posts now: a group that became a supergroup has another id than it was connected with. */
export function chatOf({ settings, platformAccountId }: PlatformAccount): string {
  const { chatId } = settings;
  return typeof chatId === "string" ? chatId : (platformAccountId ?? "");
}

/** About the account's chat. Follows it once where it has moved: the answer proves that nothing was done. */
export async function callChat<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  const forms = z.union([Migrated, z.looseObject({ ok: z.literal(true), result: schema })]);
  for (let turn = 0; turn < 2; turn += 1) {
    const { method, fields } = call;
    const inChat = { ...call, fields: { chat_id: Number(chatOf(io.account)), ...fields } };
    const answer = await io.ask(
      {
        ...requestOf(inChat),
        classify: classifySending,
        url: "",
        sign: ({ botToken = "" }) => ({ url: methodUrl(io, botToken, method) }),
      },
      forms,
    );
    if (!Migrated.safeParse(answer).success) return z.looseObject({ result: schema }).parse(answer).result;
    await io.remember({ chatId: Migrated.parse(answer).parameters.migrate_to_chat_id });
  }
  throw new PlatformFault("rejected", "The group moves to another id again and again. Try again later.");
}

/** Changes a message; without effect where it is as wanted already. */
export async function change(
  io: PlatformIo,
  call: Call,
  classify: PlatformRequest["classify"] = classifyChange,
): Promise<void> {
  await io.request({
    ...requestOf({ ...call, isIdempotent: true }),
    ...(classify === undefined ? {} : { classify }),
    url: "",
    sign: ({ botToken = "" }) => ({ url: methodUrl(io, botToken, call.method) }),
  });
}

/** While the bot is not connected yet. */
export async function callBot<T>(
  io: ConnectIo,
  botToken: string,
  { call, schema }: { readonly call: Call; readonly schema: z.ZodType<T> },
): Promise<T> {
  const request = {
    ...requestOf({ ...call, isIdempotent: true }),
    classify: classifyChange,
    url: methodUrl(io, botToken, call.method),
  };
  const answer = await io.ask(request, z.looseObject({ ok: z.literal(true), result: schema }));
  return z.looseObject({ result: schema }).parse(answer).result;
}

const BOT_API = "https://api.telegram.org";

/** The token stands in the path: the address goes nowhere but into the request. */
function methodUrl({ setting }: Pick<ConnectIo, "setting">, botToken: string, method: string): string {
  return `${setting("BASE_URL") ?? BOT_API}/bot${botToken}/${method}`;
}

function requestOf({ fields, files = [], isIdempotent = false }: Call): Omit<PlatformRequest, "url"> {
  const request = { method: "POST", isIdempotent } as const;
  if (files.length === 0) return { ...request, json: fields };
  const texts = Object.entries(fields).map(([name, value]) => ({
    name,
    text: typeof value === "string" ? value : JSON.stringify(value),
  }));
  return { ...request, ...UPLOAD_TIMES, multipart: [...texts, ...files] };
}
