import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { readSmtpAddress } from "../../src/domain/settings/smtp-address.ts";
import { createMailer } from "../../src/media/outbound/mailer.ts";
import type { Mailer } from "../../src/ports/mailer.ts";

export const MAIL_LOGIN = { user: "posthorn", password: "canary-mail-password" } as const;

/** As a mailbox shows it; `raw`: as it came. */
interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly raw: string;
}

interface MailServer extends AsyncDisposable {
  readonly setting: string;
  readonly mailer: Mailer;
  readonly mails: Mail[];
}

/** A real SMTP server on loopback, which takes mails of one user for everybody but `unknown@…`. */
export async function startMailServer(): Promise<MailServer> {
  const mails: MailServer["mails"] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === MAIL_LOGIN.user && password === MAIL_LOGIN.password
        ? done(null, { user: username })
        : done(new Error("Invalid username or password")),
    onRcptTo: ({ address }, _session, done) =>
      done(
        address.startsWith("unknown@")
          ? Object.assign(new Error("No such user"), { responseCode: 550 })
          : null,
      ),
    onData(stream, { envelope }, done) {
      const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks).toString("utf8");
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), ...readMail(raw), raw });
        done(null);
      });
    },
  });
  server.on("error", () => {});
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.server.address() as AddressInfo;
  const { user, password } = MAIL_LOGIN;
  const setting = `smtp://${user}:${password}@127.0.0.1:${port}?from=posthorn@example.com`;
  const address = readSmtpAddress(setting);
  if (typeof address === "string") throw new Error(address);
  return {
    setting,
    mailer: createMailer(address),
    mails,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((closed) => server.close(closed));
    },
  };
}

/** RFC 2045 and RFC 2047, as far as mails of one plain text need them. */
function readMail(raw: string): Pick<Mail, "subject" | "text"> {
  const [head = "", ...body] = raw.split("\r\n\r\n");
  const headers = head.replaceAll(/\?=\r\n =\?/g, "?==?").replaceAll("\r\n ", " ");
  const [, subject = ""] = /^Subject: (.*)$/m.exec(headers) ?? [];
  const [, encoding = ""] = /^Content-Transfer-Encoding: (.*)$/m.exec(headers) ?? [];
  return {
    subject: subject.replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/g, (_word, way: string, text: string) =>
      decode(way === "B" ? "base64" : "quoted-printable", text.replaceAll("_", " ")),
    ),
    text: decode(encoding.trim(), body.join("\r\n\r\n")).replaceAll("\r\n", "\n"),
  };
}

function decode(encoding: string, text: string): string {
  if (encoding === "base64") return Buffer.from(text, "base64").toString("utf8");
  if (encoding !== "quoted-printable") return text;
  const bytes = text
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
