export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}

/** A Markdown table on standard output. */
export function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  process.stdout.write(`${lines.join("\n")}\n\n`);
}
