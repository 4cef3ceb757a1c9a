import { describedBy, type Described } from "../../support/described.ts";
import spec from "./spec.json" with { type: "json" };

interface Method {
  readonly type: string;
  readonly properties: Readonly<Record<string, { readonly type?: unknown } | undefined>>;
  readonly required?: readonly string[];
}

/** Each may be a file of a form, or a text. */
const FILES: readonly string[] = ["photo", "video", "animation", "audio", "document", "thumbnail", "cover"];

/** In a form, everything but a text is written as JSON, and other parts are files. */
function formOf({ properties, ...method }: Method): object {
  const parts = Object.entries(properties).map(([name, one]) => {
    if (FILES.includes(name)) return [name, { type: ["string", "object"] }];
    return [name, one?.type === "string" ? one : { contentSchema: one }];
  });
  return { ...method, properties: Object.fromEntries(parts), additionalProperties: { type: "object" } };
}

const methods = Object.entries(spec.methods as Readonly<Record<string, Method>>);

/** Telegram's own description of the methods that are called; the file names its source. */
export const read = describedBy({
  ...spec,
  ids: { token: "[^/]*" },
  operations: Object.fromEntries(
    methods.map(([name, body]) => [`POST /bot{token}/${name}`, { body, form: formOf(body) }]),
  ),
});

/** What a method was called with, files as `attach://` and their part's name. */
export type Params = Record<string, any>;

export interface Called {
  readonly params: Params;
  readonly files: Readonly<Record<string, File>>;
  readonly wrong: readonly string[];
}

/** Each file is named once, and each name has its file. */
export function readParams({ given }: Described): Called {
  const all = Object.entries(given);
  const files = Object.fromEntries(all.filter(([, value]) => value instanceof File));
  const params = Object.fromEntries(
    all
      .filter(([name]) => !(name in files) || FILES.includes(name))
      .map(([name, value]) => [name, name in files ? `attach://${name}` : value]),
  );
  const named = [...JSON.stringify(params).matchAll(/attach:\/\/([^"]+)/g)].map(([, name = ""]) => name);
  const missing = named.filter((name) => !(name in files));
  const unused = Object.keys(files).filter((name) => !named.includes(name));
  const wrong = [
    ...missing.map((name) => `no file ${name}`),
    ...unused.map((name) => `nothing shows ${name}`),
  ];
  return { params, files, wrong };
}
