import * as z from "zod";
import { problemsIn, toSettingRows, type SettingRow } from "./setting-rows.ts";

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

const Settings = z
  .object({
    DATABASE_URL: Address.meta({
      meaning:
        "`postgres://user:password@host:5432/name`: everything is kept in this PostgreSQL instead of the data folder's SQLite, for any number of machines (see many-machines.md). The files then need a bucket, or `POSTHORN_FILES`",
    }),
    DATABASE_DIRECT_URL: Address.meta({
      meaning: "The address of the server itself, where `DATABASE_URL` leads through a pooler",
      default: "`DATABASE_URL`",
    }),
    POSTHORN_DATABASE_CONNECTIONS: z
      .string()
      .regex(/^[1-9]\d{0,2}$/, "must be a whole number from 1 to 999")
      .transform(Number)
      .default(DEFAULT_CONNECTIONS)
      .meta({
        meaning: "With `DATABASE_URL`: connections of one process, at most. A lock takes 1 more",
        default: DEFAULT_CONNECTIONS,
      }),
    POSTHORN_SECRET_KEY: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, `must be ${SECRET_KEY}, as \`openssl rand -hex 32\` makes them`)
      .optional()
      .meta({
        meaning: `With \`DATABASE_URL\`: the key that seals stored tokens, the same on every host (${SECRET_KEY})`,
        default: "`secret.key` in the data folder",
      }),
    POSTHORN_SECRET_KEY_FILE: z.string().optional().meta({
      meaning: "The file that holds this key, readable only by this user. Set one of the two",
    }),
  })
  .refine((values) => [values.POSTHORN_SECRET_KEY, values.POSTHORN_SECRET_KEY_FILE].includes(undefined), {
    path: ["POSTHORN_SECRET_KEY"],
    error: "is set, and POSTHORN_SECRET_KEY_FILE too. Leave one out",
  });

/** The settings of many machines. */
export const DATABASE_SETTINGS: readonly SettingRow[] = toSettingRows(Settings.shape);

interface DatabaseReading {
  readonly database: DatabaseSettings | null;
  readonly addresses: DatabaseAddresses | null;
  readonly secretKey: string | null;
  readonly secretKeyFile: string | null;
  /** Each names what is wrong, and never what it holds. */
  readonly problems: readonly string[];
}

/** Without `DATABASE_URL` the others mean nothing: one that is set is told, for it was meant to. */
export function readDatabaseSettings(given: Readonly<Record<string, string | undefined>>): DatabaseReading {
  const none = { database: null, addresses: null, secretKey: null, secretKeyFile: null };
  if (given["DATABASE_URL"] === undefined) {
    const idle = Object.keys(Settings.shape).filter((name) => given[name] !== undefined);
    const problem =
      "has no meaning without DATABASE_URL. Set that to the address of PostgreSQL, or leave this one out";
    return { ...none, problems: idle.map((name) => `${name}: ${problem}`) };
  }
  const { data, error } = Settings.safeParse(given);
  if (error !== undefined) return { ...none, problems: problemsIn(error) };
  return {
    database: { connections: data.POSTHORN_DATABASE_CONNECTIONS },
    addresses: { url: data.DATABASE_URL ?? "", directUrl: data.DATABASE_DIRECT_URL ?? null },
    secretKey: data.POSTHORN_SECRET_KEY ?? null,
    secretKeyFile: data.POSTHORN_SECRET_KEY_FILE ?? null,
    problems: [],
  };
}

function isAddress(text: string): boolean {
  try {
    const { protocol, username, password, pathname } = new URL(text);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return /^postgres(ql)?:$/.test(protocol);
  } catch {
    return false;
  }
}
