import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

const failures: string[] = [];

/** One line a scenario; what was seen where it is not right. */
export function tell(what: string, isRight: boolean, seen: unknown = ""): void {
  const shown = (seen instanceof Error ? seen.message : JSON.stringify(seen)).slice(0, 2_000);
  process.stdout.write(`${isRight ? "ok" : "DIFFERS"}  ${what}  ${isRight ? "" : shown}\n`);
  if (!isRight) failures.push(what);
}

/** Ends the script's report, and gives its exit code. */
export function conclude(): void {
  process.stdout.write(failures.length === 0 ? "Nothing differed.\n" : `${failures.length} differed.\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
