import { AppError, codeOf } from "../../../domain/errors.ts";
import type { Address } from "./address.ts";

/** The server or the network failed, not the caller's request. */
export class ServerTrouble extends AppError {}

/** Nothing was written, and the same transaction may succeed when it runs again. */
export class Passing extends ServerTrouble {}

/** A deadlock, a conflict, or a lock that was not free in time. */
const CONFLICTS = /^(40P01|40001|55P03)$/;

/** Errors with which the connection ends: https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const LOSSES =
  /^(08...|57P0[1-5]|25P03|53300|E(CONN(RESET|REFUSED|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND))$/;
/** The same where `pg` gives no code. */
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

/** By SQLSTATE, or by the system's name for the error. The first that fits is used. */
const SENTENCES: readonly (readonly [RegExp, Sentence])[] = [
  [/^ENOTFOUND/, ({ host, setting }) => `There is no host ${host}. Correct the name in ${setting}.`],
  [
    /^EAI_AGAIN/,
    ({ host }) => `The name of ${host} could not be looked up. Check the network, then try again.`,
  ],
  [
    /^ECONNREFUSED/,
    ({ host, setting }) => `No PostgreSQL listens at ${host}. Start it, or correct ${setting}.`,
  ],
  [/^(08|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/, UNREACHED],
  [
    /^(ERR_TLS_CERT|CERT_|SELF_SIGNED_CERT|DEPTH_ZERO|UNABLE_TO_)/,
    ({ host, setting }) =>
      `The certificate of PostgreSQL at ${host} is not one that ${setting} asks for. Give the certificate of its authority as sslrootcert, or correct sslmode.`,
  ],
  [
    /^28P01/,
    ({ host, user, setting }) =>
      `PostgreSQL at ${host} refuses the password of the user "${user}". Correct ${setting}.`,
  ],
  [
    /^28/,
    ({ host, user, setting }) =>
      `PostgreSQL at ${host} does not let the user "${user}" in from here. Add sslmode=require to ${setting} where it wants TLS, or let it in with a line of pg_hba.conf.`,
  ],
  [
    /^3D000/,
    ({ host, database, setting }) =>
      `There is no database "${database}" at ${host}. Make it (CREATE DATABASE "${database}" ENCODING 'UTF8' TEMPLATE template0), or correct ${setting}.`,
  ],
  [
    /^3F000/,
    ({ database, user }) =>
      `The database "${database}" has no schema that the user "${user}" sees. Make one, or correct its search_path.`,
  ],
  [
    /^42501/,
    ({ database, user }) =>
      `The user "${user}" may not do what Posthorn needs in the database "${database}". Make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}".`,
  ],
  [
    /^42P07/,
    ({ database, setting }) =>
      `The database "${database}" holds tables of something else. Give Posthorn a database of its own in ${setting}.`,
  ],
  [
    /^25006/,
    ({ host, setting }) => `PostgreSQL at ${host} can only be read. Name the primary server in ${setting}.`,
  ],
  [/^53100/, () => "The disk of PostgreSQL is full. Free some space there, then try again."],
  [/^53200/, () => "PostgreSQL is out of memory. Give it more, then try again."],
  [
    /^53300/,
    ({ host }) =>
      `PostgreSQL at ${host} has no connection left. Raise its max_connections, or run fewer processes. Each takes up to 11, or POSTHORN_DATABASE_CONNECTIONS + 1.`,
  ],
  [/^57P03/, ({ host }) => `PostgreSQL at ${host} is starting up or shutting down. Try again in a moment.`],
  [
    /^(57P|25P0)/,
    () =>
      "PostgreSQL ended the connection, because it is being shut down, restarted or was told to. Try again in a moment.",
  ],
  [/^57014/, () => "PostgreSQL took too long for this. Try again, and ask for less where it stays so."],
  [
    /^(58|XX001|XX002)/,
    () => "PostgreSQL reports an error of its disk. Look into its log before anything else.",
  ],
  [/^(40|55P03)/, () => "Others write the same at this moment. Try again."],
];

/** `pg`'s own errors, which have no code. */
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
 * The server's trouble as an AppError with a sentence, and the raw error as its cause. Any other error (a
 * duplicate key, a bug) is returned as it is.
 */
export function explained(error: unknown, address: Address): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const code = codeOf(error);
  const sentence =
    code === ""
      ? WORDS.find(([words]) => words.test(error.message))?.[1]
      : SENTENCES.find(([codes]) => codes.test(code))?.[1];
  if (sentence === undefined) return error;
  const Told = isLoss(error) || CONFLICTS.test(code) ? Passing : ServerTrouble;
  return new Told("unavailable", `${sentence(address)} Nothing was changed.`, { cause: error });
}
