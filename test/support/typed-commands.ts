import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ASSISTANTS, installFor } from "../../apps/page/rooms/settings/install.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** A command that a person is told to type. */
export interface TypedCommand {
  readonly line: string;
  /** Where it is told. */
  readonly source: string;
  /** Named in a sentence, where it may stand for the command as such, without what it needs. */
  readonly isNamed: boolean;
}

const SHELL_FENCE = /^( *)```sh\n([\s\S]*?)^ *```$/gm;
const FENCE = /^ *```[\s\S]*?^ *```$/gm;
/** What begins like a command of a program that the documents speak of. */
const COMMAND =
  /^(?:[A-Z_]+=\S+ )*(?:posthorn|npx|npm|node|docker|git|sudo|curl|claude|codex|gemini|code|pg_dump|psql)\s/;
const SETTING = /^[A-Z_]+=\S*(?: +#.*)?$/;

/** All that the documents of the package and the page's Settings tell, each once. */
export function commandsOfDocuments(): TypedCommand[] {
  const pages = ["README.md", "skills/posthorn/SKILL.md", ...markdownIn("docs")];
  const settings = ASSISTANTS.flatMap(({ name }) => {
    const { text } = installFor(name, { publicUrl: "http://127.0.0.1:4747", key: "<API_KEY>" });
    return COMMAND.test(text) ? [{ line: text, source: "the page's Settings", isNamed: false }] : [];
  });
  return once([...pages.flatMap(commandsOf), ...settings]);
}

/** The examples in the help of a command. */
export function commandsOfHelp(help: string, command: string): TypedCommand[] {
  return [...help.matchAll(/^ {2}((?:[A-Z_]+=\S+ )*posthorn .*)$/gm)].map(([, line = ""]) => ({
    // An explanation stands behind some.
    line: line.replace(/ {2,}\S.*$/, "").replace(/ (?:see|connect|what|another|call|HTTP) [a-z].*$/, ""),
    source: `posthorn ${command} --help`,
    isNamed: false,
  }));
}

/** The commands by name that sentences of the program and its pages name. */
export function commandsOfSources(): TypedCommand[] {
  const files = ["src", "tools", "apps"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  return files.flatMap((source) => {
    const text = readFileSync(join(ROOT, source), "utf8");
    return [...text.matchAll(/(?<![\w/.:$@-])posthorn ([a-z][a-z-]*)(?: ([a-z][a-z-]*)\b)?/g)].map(
      ([, name = "", next = ""]) => ({ line: `posthorn ${name} ${next}`.trim(), source, isNamed: true }),
    );
  });
}

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}

function commandsOf(source: string): TypedCommand[] {
  const text = readFileSync(join(ROOT, source), "utf8");
  const typed = [...text.matchAll(SHELL_FENCE)].flatMap(([, , block = ""]) => linesOf(block));
  const named = [...text.replace(FENCE, "").matchAll(/`([^`\n]+)`/g)]
    .map(([, span = ""]) => span)
    .filter((span) => COMMAND.test(span));
  return [
    ...typed.map((line) => ({ line, source, isNamed: false })),
    ...named.map((line) => ({ line, source, isNamed: true })),
  ];
}

/** A block whose lines need each other stays whole: one that sets variables for what follows. */
function linesOf(block: string): string[] {
  const lines = block
    .replaceAll("\\\n", "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.every((line) => SETTING.test(line))) return [];
  return lines.some((line) => /^[A-Z]+=\$\(/.test(line)) ? [lines.join("\n")] : lines;
}

function once(commands: readonly TypedCommand[]): TypedCommand[] {
  const seen = new Map<string, TypedCommand>();
  for (const one of commands) {
    const before = seen.get(one.line);
    if (before === undefined || (before.isNamed && !one.isNamed)) seen.set(one.line, one);
  }
  return [...seen.values()];
}
