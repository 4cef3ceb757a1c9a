import { AppError, codeOf } from "../../../domain/errors.ts";
import type { Address } from "./address.ts";

/** What is no fault of whoever reads or writes. */
export class ServerTrouble extends AppError {}

/** Nothing of the transaction stands, and what kept it from being written may be over when it runs again. */
export class Passing extends ServerTrouble {}

/** Met others that write the same: a deadlock, a conflict, a lock that was waited for too long. */
const CONFLICTS = /^(40P01|40001|55P03)$/;

/** The connection ended with it: https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const LOSSES =
  /^(08...|57P0[1-5]|25P03|53300|E(CONN(RESET|REFUSED|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND))$/;
/** What `pg` says where it has no code. */
const LOSS_WORDS =
  /^(Connection terminated|Client has encountered|Query read timeout|timeout (exceeded|expired))/;

export function isLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return code === "" ? LOSS_WORDS.test(error.message) : LOSSES.test(code);
}

type Sentence = (address: Address) => string;

const UNREACHED: Sentence = ({ host, setting }) =>
  `PostgreSQL at ${host} does not answer. Check that it runs and that the network lets you through, or correct ${setting}.`;
const ENDED: Sentence = () =>
  "PostgreSQL ended the connection, because it is being shut down, restarted or was told to. Try again in a moment.";
const BROKEN: Sentence = () =>
  "PostgreSQL reports an error of its disk. Look into its log before anything else.";
const CERTIFICATE: Sentence = ({ host, setting }) =>
  `The certificate of PostgreSQL at ${host} is not one that ${setting} asks for. Give the certificate of its authority as sslrootcert, or correct sslmode.`;

/** By SQLSTATE, or the system's name; the first that begins so. */
const SENTENCES: readonly (readonly [string, Sentence])[] = [
  ["ENOTFOUND", ({ host, setting }) => `There is no host ${host}. Correct the name in ${setting}.`],
  [
    "EAI_AGAIN",
    ({ host }) => `The name of ${host} could not be looked up. Check the network, then try again.`,
  ],
  [
    "ECONNREFUSED",
    ({ host, setting }) => `No PostgreSQL listens at ${host}. Start it, or correct ${setting}.`,
  ],
  ["ECONNRESET", UNREACHED],
  ["ETIMEDOUT", UNREACHED],
  ["EHOSTUNREACH", UNREACHED],
  ["ENETUNREACH", UNREACHED],
  ["EPIPE", UNREACHED],
  ["ERR_TLS_CERT", CERTIFICATE],
  ["CERT_", CERTIFICATE],
  ["SELF_SIGNED_CERT", CERTIFICATE],
  ["DEPTH_ZERO", CERTIFICATE],
  ["UNABLE_TO_", CERTIFICATE],
  [
    "28P01",
    ({ host, user, setting }) =>
      `PostgreSQL at ${host} refuses the password of the user "${user}". Correct ${setting}.`,
  ],
  [
    "28",
    ({ host, user, setting }) =>
      `PostgreSQL at ${host} does not let the user "${user}" in from here. Add sslmode=require to ${setting} where it wants TLS, or let it in with a line of pg_hba.conf.`,
  ],
  [
    "3D000",
    ({ host, database, setting }) =>
      `There is no database "${database}" at ${host}. Make it (CREATE DATABASE "${database}" ENCODING 'UTF8' TEMPLATE template0), or correct ${setting}.`,
  ],
  [
    "3F000",
    ({ database, user }) =>
      `The database "${database}" has no schema that the user "${user}" sees. Make one, or correct its search_path.`,
  ],
  [
    "42501",
    ({ database, user }) =>
      `The user "${user}" may not do what Posthorn needs in the database "${database}". Make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}".`,
  ],
  [
    "42P07",
    ({ database, setting }) =>
      `The database "${database}" holds tables of something else. Give Posthorn a database of its own in ${setting}.`,
  ],
  [
    "25006",
    ({ host, setting }) => `PostgreSQL at ${host} can only be read. Name the primary server in ${setting}.`,
  ],
  ["53100", () => "The disk of PostgreSQL is full. Free some space there, then try again."],
  ["53200", () => "PostgreSQL is out of memory. Give it more, then try again."],
  [
    "53300",
    ({ host }) =>
      `PostgreSQL at ${host} has no connection left. Raise its max_connections, or run fewer processes. Each takes up to 30, or 2 × (POSTHORN_DATABASE_CONNECTIONS + 5).`,
  ],
  ["57P03", ({ host }) => `PostgreSQL at ${host} is starting up or shutting down. Try again in a moment.`],
  ["57P", ENDED],
  ["25P0", ENDED],
  ["57014", () => "PostgreSQL took too long for this. Try again, and ask for less where it stays so."],
  ["58", BROKEN],
  ["XX001", BROKEN],
  ["XX002", BROKEN],
  ["08", UNREACHED],
  ["40", () => "Others write the same at this moment. Try again."],
  ["55P03", () => "Others write the same at this moment. Try again."],
];

/** What `pg` says without a code; the first that is found. */
const WORDS: readonly (readonly [RegExp, Sentence])[] = [
  [
    /^SASL|password/i,
    ({ host, user, setting }) =>
      `PostgreSQL at ${host} asks for the password of the user "${user}". Give it in ${setting}.`,
  ],
  [
    /SSL/,
    ({ host, setting }) =>
      `PostgreSQL at ${host} offers no TLS. Switch it on there, or give sslmode=disable in ${setting} where the network is private.`,
  ],
  [/^timeout exceeded/, () => "All connections to PostgreSQL were busy for too long. Try again in a moment."],
  [LOSS_WORDS, UNREACHED],
];

/**
 * What whoever reads or writes is told of the server's trouble; anything else (a duplicate key, a bug) comes
 * as it is. The raw error is the cause.
 */
export function explained(error: unknown, address: Address): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const code = codeOf(error);
  const sentence =
    code === ""
      ? WORDS.find(([words]) => words.test(error.message))?.[1]
      : SENTENCES.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (sentence === undefined) return error;
  const Told = isLoss(error) || CONFLICTS.test(code) ? Passing : ServerTrouble;
  return new Told("unavailable", `${sentence(address)} Nothing was changed.`, { cause: error });
}
