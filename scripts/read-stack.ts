import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/**
 * Tells where in the source the places of a stack are: what a log holds names places in the bundle alone.
 *
 *     npm run --silent read-stack < error.txt
 *
 * The bundle has to be that of the same version: check it out, `npm ci`.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const [dist = join(ROOT, "dist")] = process.argv.slice(2);

const maps = new Map<string, SourceMap | null>();

function mapOf(file: string): SourceMap | null {
  const path = join(dist, `${file}.map`);
  const known = maps.get(path);
  if (known !== undefined) return known;
  const map = existsSync(path)
    ? new SourceMap(JSON.parse(readFileSync(path, "utf8")) as SourceMapPayload)
    : null;
  maps.set(path, map);
  return map;
}

/** Both counted from one, as in a stack. */
function sourceOf(file: string, line: number, column: number): string | null {
  const found = mapOf(file)?.findEntry(line - 1, column - 1);
  if (found === undefined || !("originalSource" in found)) return null;
  const source = relative(ROOT, join(dist, dirname(file), found.originalSource));
  return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
}

const stack = (await text(process.stdin)).replaceAll("\\n", "\n");
const read = stack.replaceAll(
  /[^\s()]*?((?:chunks\/)?[\w.-]+\.js):(\d+):(\d+)/g,
  (place: string, file: string, line: string, column: string) =>
    sourceOf(file, Number(line), Number(column)) ?? place,
);
process.stdout.write(read);
