import { codeOf } from "../../domain/errors.ts";
import type { SmtpServer } from "../../domain/settings/smtp-address.ts";
import { SECOND } from "../../domain/time.ts";
import { type Mail, MailFailure, type Mailer } from "../../ports/mailer.ts";
import { isLocalName, isPublicAddress, literalOf } from "./addresses.ts";

const CONNECT_TIMEOUT_MS = 10 * SECOND;
const IDLE_MS = 10 * SECOND;

/** The operator named the server, so that it may be anywhere, also in this machine's own network. */
export function createMailer(server: SmtpServer): Mailer {
  return { from: server.from, send: (mail) => send(server, mail) };
}

async function send(server: SmtpServer, { to, subject, text, id, signal }: Mail): Promise<void> {
  // It takes a twentieth of a start.
  const { createTransport } = await import("nodemailer");
  const { host, port, isSecure, login, from } = server;
  const transport = createTransport({
    host,
    port,
    secure: isSecure,
    // A password goes over no wire in the clear.
    requireTLS: !isSecure && login !== null && !isOwnNetwork(host),
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: IDLE_MS,
    socketTimeout: IDLE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const stop = (): void => transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const messageId = `<${id}@${from.split("@").at(-1) ?? "posthorn"}>`;
    await Promise.race([transport.sendMail({ from, to, subject, text, messageId }), aborted(signal)]);
  } catch (cause) {
    throw new MailFailure(sentenceFor(cause), { cause });
  } finally {
    signal.removeEventListener("abort", stop);
    transport.close();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

/** This machine, or the network around it: names of containers have no dot. */
function isOwnNetwork(host: string): boolean {
  const literal = literalOf(host);
  return isLocalName(host) || !/[.:]/.test(host) || (literal !== null && !isPublicAddress(literal));
}

const SENTENCES: Readonly<Record<string, string>> = {
  EAUTH: "The mail server does not accept the user name and password of POSTHORN_SMTP_URL.",
  ETLS: "The mail server offers no safe connection. Name one that does in POSTHORN_SMTP_URL.",
  EDNS: "The mail server of POSTHORN_SMTP_URL could not be reached.",
  ECONNECTION: "The mail server of POSTHORN_SMTP_URL could not be reached.",
  ESOCKET: "The mail server of POSTHORN_SMTP_URL could not be reached, or broke off.",
  ETIMEDOUT: "The mail server of POSTHORN_SMTP_URL did not answer in time.",
  EENVELOPE: "The mail server does not take messages from this sender to this address.",
};

function sentenceFor(error: unknown): string {
  const status: unknown = error instanceof Error ? Reflect.get(error, "responseCode") : undefined;
  const said = typeof status === "number" ? ` (SMTP ${status})` : "";
  const sentence = SENTENCES[codeOf(error)] ?? "The mail server did not take the message.";
  return said === "" ? sentence : `${sentence.slice(0, -1)}${said}.`;
}
