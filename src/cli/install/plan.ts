import { isDeepStrictEqual } from "node:util";
import { AppError } from "../../domain/errors.ts";
import { SERVER_NAME, type Client, type Entry, type Launch } from "./clients.ts";
import { isRecord, type Config, type ConfigEditor, type EntryPath } from "./config-editor.ts";
import { jsonConfig } from "./json-config.ts";
import { tomlConfig } from "./toml-config.ts";

const EDITORS: Readonly<Record<Client["format"], ConfigEditor>> = { json: jsonConfig, toml: tomlConfig };

const MARK = "\ufeff";

/** Whether the client starts Posthorn. */
export function isSetUp(client: Client, text: string): boolean {
  const config = EDITORS[client.format].read(text.replace(MARK, ""), pathOf(client));
  return typeof config !== "string" && entryIn(client, config) !== null;
}

/**
 * The text of a client's configuration with Posthorn in it. Other fields and variables of the entry stay.
 * Throws `invalid` where the text cannot be read, or not be changed without a loss.
 */
export function planEntry(client: Client, text: string, launch: Launch): string {
  const fresh = client.entry(launch);
  const add = (body: string, editor: ConfigEditor): string => {
    const config = readConfig(client, body, launch);
    const before = entryIn(client, config);
    const wanted = before === null ? fresh : merge(before, fresh);
    if (isDeepStrictEqual(before, wanted)) return body;
    const planned = editor.set(body, pathOf(client), { before, wanted });
    assertOnly(client, { config, planned, wanted }, launch);
    return planned;
  };
  return withoutMark(text, (body) => add(body, EDITORS[client.format]));
}

/** The text without Posthorn; throws as `planEntry` does. */
export function planRemoval(client: Client, text: string, launch: Launch): string {
  const editor = EDITORS[client.format];
  return withoutMark(text, (body) => {
    const config = readConfig(client, body, launch);
    if (entryIn(client, config) === null) return body;
    const planned = editor.remove(body, pathOf(client));
    assertOnly(client, { config, planned, wanted: null }, launch);
    return planned;
  });
}

/** The entry as a person would write it. */
export function showEntry(client: Client, launch: Launch): string {
  return EDITORS[client.format].show(pathOf(client), client.entry(launch));
}

function withoutMark(text: string, plan: (body: string) => string): string {
  return text.startsWith(MARK) ? MARK + plan(text.slice(MARK.length)) : plan(text);
}

function readConfig(client: Client, text: string, launch: Launch): Config {
  const config = EDITORS[client.format].read(text, pathOf(client));
  if (typeof config === "string") throw refusal(client, launch, config);
  const section = config[client.section];
  if (section !== undefined && !isRecord(section))
    throw refusal(client, launch, `its "${client.section}" is not a table of servers`);
  return config;
}

function pathOf({ section }: Client): EntryPath {
  return [section, SERVER_NAME];
}

function entryIn(client: Client, config: Config): Entry | null {
  const section = config[client.section];
  const entry = isRecord(section) ? section[SERVER_NAME] : undefined;
  return isRecord(entry) ? entry : null;
}

function merge(before: Entry, fresh: Entry): Entry {
  const fields = Object.entries(fresh).map(([key, value]) => {
    const old = before[key];
    return [key, isRecord(old) && isRecord(value) ? { ...old, ...value } : value];
  });
  return { ...before, ...Object.fromEntries(fields) };
}

/** Throws unless the planned text says the same as before but for the entry. */
function assertOnly(
  client: Client,
  { config, planned, wanted }: { config: Config; planned: string; wanted: Entry | null },
  launch: Launch,
): void {
  const after = EDITORS[client.format].read(planned, pathOf(client));
  const was = config[client.section];
  const { [SERVER_NAME]: _old, ...others } = isRecord(was) ? was : {};
  const expected = wanted === null ? others : { ...others, [SERVER_NAME]: wanted };
  const now = typeof after === "string" ? {} : after;
  const servers = now[client.section] ?? {};
  const { [client.section]: _was, ...restBefore } = config;
  const { [client.section]: _now, ...restAfter } = now;
  if (isDeepStrictEqual(servers, expected) && isDeepStrictEqual(restAfter, restBefore)) return;
  throw refusal(client, launch, `its "${client.section}" is written in a form that cannot be changed safely`);
}

function refusal(client: Client, launch: Launch, reason: string): AppError {
  return new AppError(
    "invalid",
    `The configuration of ${client.title} was left as it is: ${reason}. Mend it and try again, or write this into it yourself:\n${showEntry(client, launch)}`,
  );
}
