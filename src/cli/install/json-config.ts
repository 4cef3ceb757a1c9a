import { isDeepStrictEqual } from "node:util";
import { applyEdits, modify, parse, type JSONPath, type ParseError } from "jsonc-parser";
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
    return isRecord(value) ? value : "it is no object";
  },
  set(text, [section, name], { before, wanted }) {
    const start = text.trim() === "" ? `{}${endOf(text)}` : text;
    const change = (current: string, path: JSONPath, value: unknown): string =>
      applyEdits(current, modify(current, path, value, { formattingOptions: styleOf(start) }));
    if (before === null) return change(start, [section, name], wanted);
    // Field by field, so that comments between them stay.
    return Object.entries(wanted)
      .filter(([key, value]) => !isDeepStrictEqual(before[key], value))
      .reduce((current, [key, value]) => change(current, [section, name, key], value), start);
  },
  remove: (text, path) =>
    applyEdits(text, modify(text, [...path], undefined, { formattingOptions: styleOf(text) })),
  show: ([section, name], entry) => JSON.stringify({ [section]: { [name]: entry } }, null, 2),
};

/** The way in which the rest of the file is indented. */
function styleOf(text: string): { tabSize: number; insertSpaces: boolean; eol: string } {
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  return { tabSize: indent.length, insertSpaces: !indent.startsWith("\t"), eol: endOf(text) };
}

function endOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
