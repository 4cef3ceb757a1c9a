import { isDeepStrictEqual } from "node:util";
import { applyEdits, findNodeAtLocation, modify, parse, parseTree, type ParseError } from "jsonc-parser";
import { isRecord, type ConfigEditor } from "./config-editor.ts";

const OPTIONS = { allowTrailingComma: true };

/** Edits JSON with or without comments; all that is not the entry stays as it is written. */
export const jsonConfig: ConfigEditor = {
  read(text) {
    if (text.trim() === "") return {};
    const errors: ParseError[] = [];
    const value: unknown = parse(text, errors, OPTIONS);
    const [error] = errors;
    if (error !== undefined) return `line ${text.slice(0, error.offset).split("\n").length} cannot be read`;
    return isRecord(value) ? value : "it is not an object";
  },
  set(text, [section, name], { before, wanted }) {
    const start = text.trim() === "" ? `{}${endOf(text)}` : text;
    if (before === null) return put(start, [section, name], wanted);
    // Field by field, so that comments between them stay.
    return Object.entries(wanted)
      .filter(([key, value]) => !isDeepStrictEqual(before[key], value))
      .reduce((current, [key, value]) => put(current, [section, name, key], value), start);
  },
  remove(text, path) {
    const without = take(text, path);
    const [section] = path;
    return isBlank(without, section) ? take(without, [section]) : without;
  },
  show: ([section, name], entry) => JSON.stringify({ [section]: { [name]: entry } }, null, 2),
};

function take(text: string, path: readonly string[]): string {
  return applyEdits(text, modify(text, [...path], undefined, {}));
}

/** An object without even a comment in it. */
function isBlank(text: string, section: string): boolean {
  const tree = parseTree(text, [], OPTIONS);
  const node = tree && findNodeAtLocation(tree, [section]);
  return node?.type === "object" && /^\{\s*\}$/.test(text.slice(node.offset, node.offset + node.length));
}

/** Laid out by hand: the library would lay out what stands before it, too. */
function put(text: string, path: readonly string[], value: unknown): string {
  const [edit] = modify(text, [...path], value, {});
  const [, comma = "", key = "", rest = ""] = /^(,?)"([^"]+)": ([^]*)$/.exec(edit?.content ?? "") ?? [];
  const depth = path.indexOf(key) + 1;
  const isOneLine = !text.trimEnd().includes("\n") && text.trim() !== "{}";
  if (edit === undefined || edit.length > 0 || depth === 0 || isOneLine)
    return applyEdits(text, edit === undefined ? [] : [edit]);
  const [, indent = "  "] = /^([ \t]+)["}/]/m.exec(text) ?? [];
  const lineOf = (levels: number): string => endOf(text) + indent.repeat(levels);
  const body = JSON.stringify(JSON.parse(rest), null, indent).replaceAll("\n", lineOf(depth));
  // The first in its object.
  const last = comma === "" ? lineOf(depth - 1) : "";
  return applyEdits(text, [{ ...edit, content: `${comma}${lineOf(depth)}"${key}": ${body}${last}` }]);
}

function endOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
