const LINE = /^\s*(?:export\s+)?[A-Z][A-Z0-9_]*\s*=(.*)$/;
const EMPTY = /^\s*(#|$)/;

/**
 * The lines of a file of settings that can be read, and what is wrong with the others, by their numbers: what
 * stands in them may be a secret. Node's own reader takes a line without `=` for the beginning of the next
 * one's name.
 */
export function checkEnvLines(text: string): { readonly good: string; readonly problems: readonly string[] } {
  const good: string[] = [];
  const problems: string[] = [];
  let open: { readonly quote: string; readonly line: number } | null = null;
  for (const [at, line] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const value: string | undefined = open === null ? LINE.exec(line)?.[1]?.trimStart() : undefined;
    if (open !== null) {
      if (line.includes(open.quote)) open = null;
    } else if (value !== undefined) {
      const quote: string | undefined = /^["'`]/.exec(value)?.[0];
      if (quote !== undefined && !value.slice(1).includes(quote)) open = { quote, line: at + 1 };
    } else if (!EMPTY.test(line)) {
      problems.push(`line ${at + 1}: must be NAME=value, the name in capital letters`);
      continue;
    }
    good.push(line);
  }
  if (open !== null) problems.push(`line ${open.line}: the quote ${open.quote} is never closed`);
  return { good: good.join("\n"), problems };
}
