import { execFileSync, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unpackPackages } from "./debian.ts";
import { openDoor } from "./door.ts";
import { freePort, untilReady } from "./world.ts";

/** Synapse of Debian with all that it needs, Python and C library too, unpacked and not installed. */
export function unpackSynapse(folder: string, given: string | undefined): string {
  if (given !== undefined && existsSync(join(given, "usr/bin/python3"))) return given;
  return unpackPackages(folder, { names: ["matrix-synapse"], release: "sid", withDependencies: true }, given);
}

function findIn(folder: string, name: RegExp): string {
  return readdirSync(folder).find((one) => name.test(one)) ?? "";
}

const SERVER_NAME = "localhost";
const SHARED_SECRET = "only-for-this-run";

type Json = Record<string, any>;

/** As a person's app asks the server. */
export type Client = (method: string, path: string, json?: object) => Promise<Json>;

export async function startSynapse(folder: string, root: string) {
  const port = await freePort();
  const door = await openDoor(port);
  const base = `http://127.0.0.1:${door.port}`;
  const data = join(folder, "data");
  mkdirSync(data);
  const config = {
    server_name: SERVER_NAME,
    listeners: [{ port, bind_addresses: ["127.0.0.1"], type: "http", resources: [{ names: ["client"] }] }],
    database: { name: "sqlite3", args: { database: join(data, "homeserver.db") } },
    media_store_path: join(data, "media"),
    signing_key_path: join(data, "signing.key"),
    pid_file: join(data, "pid"),
    registration_shared_secret: SHARED_SECRET,
    macaroon_secret_key: SHARED_SECRET,
    trusted_key_servers: [],
    report_stats: false,
  };
  // JSON is YAML too.
  const file = join(data, "homeserver.yaml");
  writeFileSync(file, JSON.stringify(config));
  const lib = join(root, "usr/lib", findIn(join(root, "usr/lib"), /-linux-gnu$/));
  const loader = join(lib, findIn(lib, /^ld-linux-.*\.so\./));
  const env = {
    PYTHONHOME: join(root, "usr"),
    PYTHONPATH: join(root, "usr/lib/python3/dist-packages"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const args = [
    "--library-path",
    lib,
    join(root, "usr/bin/python3"),
    "-m",
    "synapse.app.homeserver",
    "-c",
    file,
  ];
  execFileSync(loader, [...args, "--generate-keys"], { env, stdio: "ignore" });
  const log = createWriteStream(join(data, "log"));
  const start = async () => {
    const child = spawn(loader, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    await untilReady(`${base}/_matrix/client/versions`, ({ ok }) => ok, 120);
    return child;
  };
  let child = await start();
  const stop = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return {
    base,
    door,
    async restart(): Promise<void> {
      await stop();
      child = await start();
    },
    async register(username: string, password: string): Promise<void> {
      const url = `${base}/_synapse/admin/v1/register`;
      const { nonce } = (await (await fetch(url)).json()) as Json;
      const mac = createHmac("sha1", SHARED_SECRET)
        .update([nonce, username, password, "notadmin"].join("\0"))
        .digest("hex");
      const body = JSON.stringify({ nonce, username, password, admin: false, mac });
      const answer = await fetch(url, { method: "POST", body });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async signIn(user: string, password: string): Promise<{ token: string; ask: Client }> {
      const ask =
        (token: string | null): Client =>
        async (method, path, json) => {
          const headers = token === null ? {} : { authorization: `Bearer ${token}` };
          const body = json === undefined ? {} : { body: JSON.stringify(json) };
          return (
            await fetch(`${base}/_matrix/client${path}`, { method, headers, ...body })
          ).json() as Promise<Json>;
        };
      const identifier = { type: "m.id.user", user };
      const { access_token: token } = await ask(null)("POST", "/v3/login", {
        type: "m.login.password",
        identifier,
        password,
      });
      return { token, ask: ask(token) };
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await door[Symbol.asyncDispose]();
    },
  };
}
