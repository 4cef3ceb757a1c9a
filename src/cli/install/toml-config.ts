import { isDeepStrictEqual } from "node:util";
import { isRecord, type Config, type ConfigEditor, type EntryPath } from "./config-editor.ts";

/** Lines of one table, its header among them; the name of those before the first is "". */
interface Table {
  readonly name: string;
  readonly at: number;
  readonly lines: readonly string[];
}

/** What opens a list or a text and does not close it is no field of one line. */
const FIELD = /^\s*([\w-]+)\s*=\s*(?!\[[^\]]*$|"""|''')(.*)$/;

/**
 * Edits TOML by its lines: no library for it keeps comments. What is not the entry is not even read, only
 * compared; an entry is the table `[section.name]` with the tables below it, and one in another form is
 * refused.
 */
export const tomlConfig: ConfigEditor = {
  read(text, [section, name]) {
    const tables = tablesOf(text);
    if (tables === null) return "a string of several lines in it has no end";
    const others = tables.filter((table) => !isOwn(table, [section, name]));
    // The other ways in which TOML can say the same.
    const isInline = (table: string, key: string): boolean =>
      others.some((one) => one.name === table && one.lines.some((line) => beginsWith(line, key)));
    if (isInline("", section) || isInline(section, name)) return `its ${section} is not a table of its own`;
    const own = tables.filter((table) => isOwn(table, [section, name]));
    const lines = own.flatMap((table) => table.lines.slice(1)).filter(isCode);
    if (!lines.every((line) => FIELD.test(line))) return `its ${section}.${name} has values of several lines`;
    const entry = fieldsOf(own, `${section}.${name}`);
    const rest = others.flatMap(({ lines }) => lines.filter(isCode));
    return { rest, ...(entry !== null && { [section]: { [name]: entry } }) };
  },
  set(text, path, { before, wanted }) {
    const end = endOf(text);
    if (before === null) {
      const gap = text === "" ? "" : text.endsWith("\n") ? end : end + end;
      return text + gap + render(path, wanted).replaceAll("\n", end) + end;
    }
    const changed = Object.entries(wanted).filter(([key, value]) => !isDeepStrictEqual(before[key], value));
    const name = path.join(".");
    return changeOwn(text, path, (lines) =>
      changed.reduce(
        (current, [key, value]) =>
          isRecord(value)
            ? Object.entries(value).reduce(
                (own, [inner, one]) => setField(own, `${name}.${key}`, [inner, one]),
                current,
              )
            : setField(current, name, [key, value]),
        lines,
      ),
    );
  },
  remove: (text, path) => changeOwn(text, path, () => []),
  show: render,
};

function endOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Null for a text that does not end; what looks like a header inside of one is none. */
function tablesOf(text: string): readonly Table[] | null {
  const lines = text.split(endOf(text));
  const starts = [{ at: 0, name: "" }];
  let quote: string | null = null;
  for (const [at, line] of lines.entries()) {
    const [, name] = quote === null ? (/^\s*\[\[?([^\]]+)\]/.exec(line) ?? []) : [];
    if (name !== undefined) starts.push({ at, name: name.replaceAll(/["'\s]/g, "") });
    for (const [mark] of line.replace(quote === null ? /^\s*#.*/ : "", "").matchAll(/"""|'''/g))
      quote = quote === null ? mark : quote === mark ? null : quote;
  }
  if (quote !== null) return null;
  return starts.map(({ at, name }, index) => ({ name, at, lines: lines.slice(at, starts[index + 1]?.at) }));
}

function isOwn({ name }: Table, path: EntryPath): boolean {
  return `${name}.`.startsWith(`${path.join(".")}.`);
}

function isCode(line: string): boolean {
  return !/^\s*(#.*)?$/.test(line);
}

function beginsWith(line: string, key: string): boolean {
  const [, name] = /^\s*["']?([^"'=.\s]+)["']?\s*[.=]/.exec(line) ?? [];
  return name === key;
}

/** Null where there are none. */
function fieldsOf(tables: readonly Table[], prefix: string): Config | null {
  if (tables.length === 0) return null;
  const fields: Record<string, unknown> = {};
  for (const { name, lines } of tables) {
    const own = lines
      .slice(1)
      .filter(isCode)
      .map((line) => {
        const [, key = "", value = ""] = FIELD.exec(line) ?? [];
        return [key, valueOf(value)] as const;
      });
    if (name === prefix) Object.assign(fields, Object.fromEntries(own));
    else fields[name.slice(prefix.length + 1)] = Object.fromEntries(own);
  }
  return fields;
}

/** Of one line; its text where it is not one that JSON has, too. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return /^'([^']*)'$/.exec(text)?.[1] ?? text;
  }
}

function render(path: EntryPath, entry: Config): string {
  const name = path.join(".");
  const fields = Object.entries(entry);
  const own = fields.filter(([, value]) => !isRecord(value)).map(([key, value]) => field(key, value));
  const tables = fields.flatMap(([key, value]) =>
    isRecord(value)
      ? ["", `[${name}.${key}]`, ...Object.entries(value).map(([inner, one]) => field(inner, one))]
      : [],
  );
  return [`[${name}]`, ...own, ...tables].join("\n");
}

/** Texts and lists of them: JSON's form is TOML's, but for DEL. */
function field(key: string, value: unknown): string {
  const list = Array.isArray(value) ? value.map((one) => JSON.stringify(one)).join(", ") : null;
  return `${key} = ${list === null ? JSON.stringify(value) : `[${list}]`}`.replaceAll("\u007f", "\\u007f");
}

/** Puts a field into the table of that name, which is made where it is missing. */
function setField(
  lines: readonly string[],
  table: string,
  [key, value]: readonly [string, unknown],
): readonly string[] {
  const headers = [...lines.keys()].filter((at) => /^\s*\[/.test(lines[at] ?? ""));
  const start = headers.find((at) => lines[at]?.replaceAll(/[["'\s\]]/g, "") === table);
  if (start === undefined) return [...lines, "", `[${table}]`, field(key, value)];
  const next = headers.find((at) => at > start);
  const at = lines.slice(start, next).findIndex((line) => beginsWith(line, key));
  return at < 0
    ? lines.toSpliced(start + 1, 0, field(key, value))
    : lines.with(start + at, field(key, value));
}

/** Gives the lines of the entry's tables to a function and puts its answer in their place. */
function changeOwn(
  text: string,
  path: EntryPath,
  change: (lines: readonly string[]) => readonly string[],
): string {
  const end = endOf(text);
  const lines = text.split(end);
  const own = (tablesOf(text) ?? []).filter((table) => isOwn(table, path));
  const [first] = own;
  const last = own.at(-1);
  if (first === undefined || last === undefined) return text;
  const next = last.at + last.lines.length;
  // Comments above the next table are about that one, and the gap before them stays.
  const stop = lines.slice(0, next).findLastIndex(isCode) + 1;
  const changed = change(lines.slice(first.at, stop));
  const gap = changed.length === 0 && lines[first.at - 1]?.trim() === "" ? 1 : 0;
  return [...lines.slice(0, first.at - gap), ...changed, ...lines.slice(stop)].join(end);
}
