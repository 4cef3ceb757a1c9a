import { Ajv, type ValidateFunction } from "ajv";
import { json, type Answer } from "../youtube/answers.ts";

const id = { type: "integer", minimum: 1 };
const text = { type: "string", minLength: 3 };

/** `VideoUploadRequestResumable` and `putVideo` of PeerTube's OpenAPI 8.1, with the limits its server has. */
const COMMON = {
  name: { type: "string", minLength: 3, maxLength: 120 },
  channelId: id,
  privacy: { enum: [1, 2, 3, 4, 5] },
  category: { type: "integer", minimum: 1, maximum: 18 },
  licence: { type: "integer", minimum: 1, maximum: 8 },
  language: { enum: ["en", "de", "fr", "pt", "zh-Hans"] },
  description: { ...text, maxLength: 10_000 },
  support: { ...text, maxLength: 1_000 },
  tags: {
    type: "array",
    minItems: 1,
    maxItems: 5,
    uniqueItems: true,
    items: { type: "string", minLength: 2, maxLength: 30 },
  },
  commentsPolicy: { enum: [1, 2, 3] },
  downloadEnabled: { type: "boolean" },
  nsfw: { type: "boolean" },
  waitTranscoding: { type: "boolean" },
  scheduleUpdate: {
    type: "object",
    additionalProperties: false,
    required: ["updateAt"],
    properties: {
      updateAt: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$" },
      privacy: { enum: [1, 2, 4] },
    },
  },
} as const;

const ajv = new Ajv({ allErrors: true, strict: false });
const whole = { type: "object", additionalProperties: false };

const checkInit: ValidateFunction = ajv.compile({
  ...whole,
  required: ["channelId", "name", "filename"],
  properties: { ...COMMON, filename: { type: "string", pattern: "\\.\\w+$" } },
});

const checkUpdate: ValidateFunction = ajv.compile({ ...whole, properties: COMMON });

/** An error as the server writes it (RFC 7807). */
export function problem(status: number, code: string, detail = code, more: object = {}): Answer {
  const type = `https://docs.joinpeertube.org/api-rest-reference.html#section/Errors/${code}`;
  const answer = json({ type, code, detail, error: detail, status, title: "Error", ...more }, status);
  return { ...answer, headers: { "content-type": "application/problem+json; charset=utf-8" } };
}

/** Null where nothing is wrong. */
function refusalOf(check: ValidateFunction, body: unknown): Answer | null {
  if (check(body)) return null;
  const names = (check.errors ?? []).map(
    ({ instancePath, params }) => instancePath.split("/")[1] ?? String(Object.values(params)[0]),
  );
  const params = Object.fromEntries(names.map((name) => [name, { msg: "Invalid value", param: name }]));
  const detail = `Incorrect request parameters: ${names.join(", ")}`;
  return problem(400, "invalid_parameters", detail, { "invalid-params": params });
}

export const refusalOfInit = (body: unknown): Answer | null => refusalOf(checkInit, body);

/** As the server reads a form: numbers and booleans of texts, `tags[0]`, and "null" for what is taken away. */
export function readUpdate(
  texts: Readonly<Record<string, string>>,
): { readonly refusal: Answer } | { readonly fields: Record<string, unknown>; readonly gone: string[] } {
  const fields: Record<string, unknown> = {};
  const gone: string[] = [];
  for (const [name, value] of Object.entries(texts)) {
    const place = /^(\w+)\[(\d+)\]$/.exec(name);
    if (value === "null" || value === "") gone.push(name);
    else if (place !== null) fields[place[1]!] = [...((fields[place[1]!] as string[]) ?? []), value];
    else if (/^\d+$/.test(value) && name !== "name") fields[name] = Number(value);
    else fields[name] = value === "true" ? true : value === "false" ? false : value;
  }
  const unknown = gone.filter((name) => !(name in COMMON));
  const refusal = refusalOf(checkUpdate, {
    ...fields,
    ...Object.fromEntries(unknown.map((one) => [one, ""])),
  });
  return refusal === null ? { fields, gone } : { refusal };
}
