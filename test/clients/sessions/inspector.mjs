import { programOf, readResult, run } from "./run.mjs";

const INSPECTOR = programOf("@modelcontextprotocol/inspector/clients/launcher/build/index.js");

export const stdio = ({ command, args, env }) =>
  session(
    [],
    [...Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]), "--", command, ...args],
  );
export const http = ({ origin, key }) => session(remote("http", `${origin}/mcp`, key));
export const sse = ({ origin, key }) => session(remote("sse", `${origin}/sse`, key));

function remote(transport, url, key) {
  return ["--transport", transport, "--server-url", url, "--header", `Authorization: Bearer ${key}`];
}

/** One process a call, as at a shell. */
function session(before, after = []) {
  const ask = async (...method) => {
    const { stdout, stderr } = await run([
      INSPECTOR,
      "--cli",
      ...before,
      "--format",
      "json",
      ...method,
      ...after,
    ]);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout).result;
  };
  return {
    list: async () => (await ask("--method", "tools/list")).tools.map(({ name }) => name),
    call: async (name, args) =>
      readResult(
        await ask("--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)),
      ),
    close: async () => {},
  };
}
