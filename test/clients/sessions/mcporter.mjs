import { programOf, readResult, run } from "./run.mjs";

const MCPORTER = programOf("mcporter/dist/cli.js");

export const stdio = ({ command, args, env }) =>
  session([
    ...["--stdio", command, ...args.flatMap((arg) => ["--stdio-arg", arg])],
    ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
  ]);
export const http = ({ origin, key }) => session(remote(`${origin}/mcp`, key));
/** It tries Streamable HTTP first and falls back. */
export const sse = ({ origin, key }) => session(remote(`${origin}/sse`, key));

function remote(url, key) {
  return ["--http-url", url, "--allow-http", "--header", `Authorization=Bearer ${key}`];
}

/** One process a call, as at a shell. */
function session(server) {
  const ask = async (verb, ...rest) => {
    const { stdout, stderr } = await run([MCPORTER, verb, ...server, ...rest]);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout);
  };
  return {
    list: async () => (await ask("list", "--json")).tools.map(({ name }) => name),
    call: async (name, args) => {
      const answer = await ask("call", "--tool", name, "--args", JSON.stringify(args), "--output", "json");
      // A good answer is shown by its structured content alone.
      return answer.isError ? readResult(answer) : { text: JSON.stringify(answer), isError: false };
    },
    close: async () => {},
  };
}
