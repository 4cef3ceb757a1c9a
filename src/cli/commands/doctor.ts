import { AppError } from "../../domain/errors.ts";
import type { Finding } from "../../domain/health/findings.ts";
import { type Row, row } from "../command.ts";
import { toJsonText } from "../options.ts";

const SIGNS: Record<Finding["verdict"], string> = { ok: "ok", note: "note", problem: "PROBLEM" };

export const DOCTOR: Row = row({
  name: "doctor",
  about: "check settings, data folder, clock, database, platforms and reachability",
  takes: {
    "[platform]": "tell what this platform needs, and the steps to set it up",
    "--oauth [url]": "go one round to /mcp by OAuth, as Claude does, at this address or POSTHORN_PUBLIC_URL",
    "--json": "print the findings as JSON",
  },
  help: "\nIt shows the platforms that have channels or settings. With a name it shows that platform, and only problems of the rest.\nIt changes nothing. To a bucket (POSTHORN_S3_…) it writes a probe, which it deletes.\nWith --oauth it shows that round, and only problems of the rest. Where the server is this data folder's, it gives a viewer's access, tries it and ends it.\nThe exit status is 1 when it finds a problem.",
  async run({ platform, oauth, json }, host) {
    if (platform !== undefined && oauth !== undefined)
      throw new AppError("invalid", "Give a platform or --oauth, not both: each is looked at by itself.");
    const findings =
      oauth === undefined
        ? await host.examine(platform ?? null)
        : await host.examineAgents(oauth === true ? null : oauth);
    host.terminal.print(json === true ? toJsonText({ findings }) : toText(findings));
    const problems = findings.filter((finding) => finding.verdict === "problem").length;
    const told = problems === 1 ? "is one problem. Its" : `are ${problems} problems. Each`;
    if (problems > 0) throw new AppError("unavailable", `There ${told} line says what to do.`);
  },
});

function toText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map((finding) => finding.topic.length));
  const lines = findings.map(
    ({ verdict, topic, text }) => `${SIGNS[verdict].padEnd(7)}  ${topic.padEnd(width)}  ${text}\n`,
  );
  return lines.join("");
}
