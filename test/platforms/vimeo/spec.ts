import { Ajv, type ValidateFunction } from "ajv";
import { json, type Answer } from "../youtube/answers.ts";

const text = { type: "string" };

/** The bodies of `POST /me/videos` and `PATCH /videos/{video_id}` in Vimeo's OpenAPI description of version 3.4. */
const VIDEO = {
  name: { ...text, minLength: 1, maxLength: 128 },
  description: { ...text, maxLength: 5_000 },
  license: { enum: ["by", "by-nc", "by-nc-nd", "by-nc-sa", "by-nd", "by-sa", "cc0", null] },
  locale: { type: ["string", "null"] },
  password: text,
  content_rating: { type: "array", items: text },
  privacy: {
    type: "object",
    additionalProperties: false,
    properties: {
      add: { type: "boolean" },
      comments: { enum: ["anybody", "contacts", "nobody"] },
      download: { type: "boolean" },
      embed: { enum: ["private", "public", "whitelist"] },
      view: { enum: ["anybody", "contacts", "disable", "nobody", "password", "unlisted", "users"] },
    },
  },
};

const UPLOAD = {
  type: "object",
  additionalProperties: false,
  required: ["approach", "size"],
  properties: { approach: { enum: ["tus"] }, size: { ...text, pattern: "^[1-9]\\d*$" } },
};

const ajv = new Ajv({ allErrors: true, strict: false });
const body = (properties: object, required: string[] = []): ValidateFunction =>
  ajv.compile({ type: "object", additionalProperties: false, properties, required });

const BODIES: Readonly<Record<string, ValidateFunction>> = {
  "POST /me/videos": body({ ...VIDEO, upload: UPLOAD }, ["upload"]),
  "PATCH /videos/{id}": body(VIDEO),
  "POST /videos/{id}/pictures": body({ active: { type: "boolean" }, time: { type: "number" } }),
  "PATCH /videos/{id}/pictures/{id}": body({ active: { type: "boolean" } }),
  "PUT /videos/{id}/tags": ajv.compile({
    type: "array",
    minItems: 1,
    maxItems: 20,
    items: { type: "object", additionalProperties: false, required: ["name"], properties: { name: text } },
  }),
};

/** An error as Vimeo writes it. */
export function refusal(status: number, code: number, fields: readonly string[] = []): Answer {
  const invalid = fields.map((field) => ({
    field,
    error_code: code,
    error: "Invalid.",
    developer_message: "No.",
  }));
  const words = {
    error: "Something strange occurred.",
    developer_message: "No.",
    link: null,
    error_code: code,
  };
  return json({ ...words, ...(fields.length === 0 ? {} : { invalid_parameters: invalid }) }, status);
}

export const UNAUTHORIZED = json(
  {
    error: "You must provide a valid authenticated access token.",
    link: null,
    developer_message: "The access token provided is invalid.",
    error_code: 8003,
  },
  401,
);

/** Null where nothing is wrong with a body, and where none belongs and none is. */
export function refusalOf(name: string, bytes: Buffer, type: string | undefined): Answer | null {
  const check = BODIES[name];
  if (check === undefined) return bytes.length === 0 ? null : refusal(400, 2205);
  if (!(type ?? "").startsWith("application/json")) return refusal(400, 2205);
  if (check(JSON.parse(bytes.toString()))) return null;
  const paths = (check.errors ?? []).map(({ instancePath }) => instancePath.slice(1).replaceAll("/", "."));
  return refusal(400, 2204, paths);
}
