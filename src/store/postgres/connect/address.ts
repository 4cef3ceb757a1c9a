import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import { AppError } from "../../../domain/errors.ts";
import { parseUrl } from "../../../domain/parse-url.ts";

/** A server's address. Sentences to users name its parts, never the password. */
export interface Address {
  /** The environment variable that holds it. */
  readonly setting: string;
  readonly host: string;
  readonly user: string;
  readonly database: string;
  /** For `pg`: the connection string, and the session's `options` that stood in it. */
  readonly config: Pick<ClientConfig, "connectionString" | "options">;
}

/** Without `prefer` and `allow`: an attacker on the network makes them fall back to plain text. */
const SSL_MODES: readonly string[] = ["disable", "require", "verify-ca", "verify-full"];

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…`. `sslmode` means what it means to libpq:
 * `require` encrypts and takes any certificate (with `sslrootcert`, one of that authority), `verify-ca` checks
 * the authority, `verify-full` also the host's name. `pg` alone would take all three for `verify-full`.
 * Throws `invalid` with a sentence that names the setting.
 */
export function readAddress(text: string, setting: string): Address {
  const url = parseUrl(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new AppError(
      "invalid",
      `${setting} is no address of a PostgreSQL. Give it as postgres://user:password@host:5432/database, with every character of the password percent-encoded that is not a letter or a digit.`,
    );
  }
  const options = url.searchParams.get("options") ?? "";
  url.searchParams.delete("options");
  readTls(url, setting);
  return {
    setting,
    host: `${url.hostname || "localhost"}:${url.port || "5432"}`,
    user: url.searchParams.get("user") ?? decodeURIComponent(url.username),
    database: decodeURIComponent(url.pathname.slice(1)) || decodeURIComponent(url.username),
    config: { connectionString: url.href, ...(options === "" ? {} : { options }) },
  };
}

function readTls(url: URL, setting: string): void {
  const query = url.searchParams;
  const refuse = (what: string): never => {
    throw new AppError("invalid", `${setting}: ${what}`);
  };
  const mode = query.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode))
    refuse(`sslmode is ${JSON.stringify(mode)}. Give one of ${SSL_MODES.join(", ")}.`);
  // Node's own list of authorities, which `pg` uses without a file.
  if (query.get("sslrootcert") === "system") query.delete("sslrootcert");
  if (mode === "verify-ca" && !query.has("sslrootcert"))
    refuse(
      "sslmode=verify-ca needs the certificate of its authority: add sslrootcert=FILE, or give verify-full.",
    );
  for (const name of ["sslrootcert", "sslcert", "sslkey"]) {
    const file = query.get(name);
    if (file !== null && !isReadable(file))
      refuse(`the file of ${name}, ${file}, cannot be read. Correct the path, or its permissions.`);
  }
  if (mode !== null) query.set("uselibpqcompat", "true");
}

function isReadable(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}
