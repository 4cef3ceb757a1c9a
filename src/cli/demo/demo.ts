import type { Command } from "commander";
import type { Host } from "../host.ts";

export function addDemoCommand(program: Command, host: Host): void {
  program
    .command("demo")
    .description("watch a post with a picture go out in 15 seconds, with no account anywhere")
    .option("--exit", "end when the post is live instead of keeping its page up")
    .addHelpText(
      "after",
      "\nIt works in a temporary folder on a free port: your own data and a running Posthorn are not touched.",
    )
    .action(async (options: { exit?: true }) => {
      const { runDemo } = await import("./run-demo.ts");
      await runDemo(host, options);
    });
}
