import * as z from "zod";
import { parseUrl } from "../parse-url.ts";

/** PostgreSQL in the place of the data folder's database, without the addresses, which hold a password. */
interface DatabaseSettings {
  /** How many connections the pool of one process opens at most. The heartbeat connection comes on top. */
  readonly connections: number;
}

interface DatabaseAddresses {
  readonly url: string;
  /** The server itself, where `url` leads through a pooler; null: it does not. */
  readonly directUrl: string | null;
}

const SECRET_KEY = "64 hexadecimal digits";
const DEFAULT_CONNECTIONS = 10;

/** The settings of many machines as the documentation and the check for unknown names know them. */
export const DATABASE_SETTINGS: readonly {
  readonly name: string;
  readonly meaning: string;
  readonly default: string;
}[] = [
  {
    name: "DATABASE_URL",
    meaning:
      "`postgres://user:password@host:5432/name`: everything is kept in this PostgreSQL instead of the data folder's SQLite, for any number of machines (see many-machines.md). The files then need a bucket, or `POSTHORN_FILES`",
    default: "none",
  },
  {
    name: "DATABASE_DIRECT_URL",
    meaning: "The address of the server itself, where `DATABASE_URL` leads through a pooler",
    default: "`DATABASE_URL`",
  },
  {
    name: "POSTHORN_DATABASE_CONNECTIONS",
    meaning: "With `DATABASE_URL`: connections of one process, at most. A lock takes 1 more",
    default: String(DEFAULT_CONNECTIONS),
  },
  {
    name: "POSTHORN_SECRET_KEY",
    meaning: `With \`DATABASE_URL\`: the key that seals stored tokens, the same on every host (${SECRET_KEY})`,
    default: "`secret.key` in the data folder",
  },
  {
    name: "POSTHORN_SECRET_KEY_FILE",
    meaning: "The file that holds this key, readable only by this user. Set one of the two",
    default: "none",
  },
];

/** The heartbeat connection, which a process has beside its pool. */
export const FURTHER_CONNECTIONS = 1;

const Address = z
  .string()
  .refine(isAddress, {
    error:
      "must be an address of PostgreSQL, for example postgres://posthorn:PASSWORD@db.example.com:5432/posthorn. " +
      "Posthorn works with no other database. In the password, write @ : / # ? % percent-encoded (%40 for @)",
  })
  .optional();

const Settings = z.object({
  DATABASE_URL: Address,
  DATABASE_DIRECT_URL: Address,
  POSTHORN_DATABASE_CONNECTIONS: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, "must be a whole number from 1 to 999")
    .transform(Number)
    .default(DEFAULT_CONNECTIONS),
  POSTHORN_SECRET_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, `must be ${SECRET_KEY}, as \`openssl rand -hex 32\` makes them`)
    .optional(),
  POSTHORN_SECRET_KEY_FILE: z.string().optional(),
});

interface ReadDatabase {
  readonly database: DatabaseSettings | null;
  readonly addresses: DatabaseAddresses | null;
  readonly secretKey: string | null;
  readonly secretKeyFile: string | null;
  /** Each names what is wrong, and never what it holds. */
  readonly problems: readonly string[];
}

/** Without `DATABASE_URL` the others mean nothing: one that is set is told, for it was meant to. */
export function readDatabaseSettings(given: Readonly<Record<string, string | undefined>>): ReadDatabase {
  const none = { database: null, addresses: null, secretKey: null, secretKeyFile: null };
  const [main = "", ...others] = DATABASE_SETTINGS.map(({ name }) => name);
  if (given[main] === undefined) {
    const idle = others.filter((name) => given[name] !== undefined);
    const problem = `has no meaning without ${main}. Set that to the address of PostgreSQL, or leave this one out`;
    return { ...none, problems: idle.map((name) => `${name}: ${problem}`) };
  }
  const parsed = Settings.safeParse(given);
  if (!parsed.success)
    return {
      ...none,
      problems: parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`),
    };
  const { DATABASE_URL: url = "", ...values } = parsed.data;
  const { POSTHORN_SECRET_KEY: key = null, POSTHORN_SECRET_KEY_FILE: file = null } = values;
  const isTwice = key !== null && file !== null;
  return {
    database: { connections: values.POSTHORN_DATABASE_CONNECTIONS },
    addresses: { url, directUrl: values.DATABASE_DIRECT_URL ?? null },
    secretKey: key,
    secretKeyFile: file,
    problems: isTwice ? ["POSTHORN_SECRET_KEY: is set, and POSTHORN_SECRET_KEY_FILE too. Leave one out"] : [],
  };
}

function isAddress(text: string): boolean {
  const url = parseUrl(text);
  if (url === null || !["postgres:", "postgresql:"].includes(url.protocol)) return false;
  try {
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
