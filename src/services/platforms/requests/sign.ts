import * as z from "zod";
import type { Secrets } from "../../../ports/connect.ts";
import type { Json, PlatformRequest, SignedRequest } from "../../../ports/platform-io.ts";

/** The request with what its `sign` makes of the secrets. */
export function signRequest({ sign, ...request }: SignedRequest, secrets: Secrets): PlatformRequest {
  const { url = request.url, headers, query, form, json } = sign?.(secrets) ?? {};
  return {
    ...request,
    url,
    headers: { ...request.headers, ...headers },
    ...(query === undefined ? {} : { query: { ...request.query, ...query } }),
    ...(form === undefined ? {} : { form: { ...request.form, ...form } }),
    ...(json === undefined ? {} : { json: beside(request.json, json) }),
  };
}

const Fields = z.record(z.string(), z.json());

/** Objects become one; anything else takes the place of what was there. */
function beside(before: Json | undefined, added: Json): Json {
  const [fields, more] = [Fields.safeParse(before), Fields.safeParse(added)];
  return fields.success && more.success ? { ...fields.data, ...more.data } : added;
}
