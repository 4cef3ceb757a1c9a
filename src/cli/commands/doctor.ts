import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import type { Host } from "../host.ts";
import type { Finding } from "../../operations/reports.ts";
import { toJsonText } from "../options.ts";

const SIGNS: Record<Finding["verdict"], string> = { ok: "ok", note: "note", problem: "PROBLEM" };

export function addDoctorCommand(program: Command, host: Host): void {
  program
    .command("doctor")
    .description("check settings, data folder, clock, database, platforms and reachability")
    .argument("[platform]", "tell what this platform needs, and the steps to set it up")
    .option("--json", "print the findings as JSON")
    .addHelpText(
      "after",
      "\nIt shows the platforms that have channels or settings. With a name it shows that platform, and only problems of the rest.\nIt changes nothing. To a bucket (POSTHORN_S3_…) it writes a probe, which it deletes. The exit status is 1 when it finds a problem.",
    )
    .action((platform: string | undefined, options: { json?: true }) => examine(host, platform, options));
}

async function examine(host: Host, platform: string | undefined, options: { json?: true }): Promise<void> {
  const findings = await host.examine(platform ?? null);
  host.terminal.print(options.json === true ? toJsonText({ findings }) : toText(findings));
  const problems = findings.filter((finding) => finding.verdict === "problem").length;
  if (problems > 0) {
    throw new AppError(
      "unavailable",
      problems === 1
        ? "There is one problem. Its line says what to do."
        : `There are ${problems} problems. Each line says what to do.`,
    );
  }
}

function toText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map((finding) => finding.topic.length));
  return findings
    .map(
      (finding) => `${SIGNS[finding.verdict].padEnd(7)}  ${finding.topic.padEnd(width)}  ${finding.text}\n`,
    )
    .join("");
}
