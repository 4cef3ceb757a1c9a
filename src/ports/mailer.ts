/** A message for one person, in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same each time it is sent, so that a mailbox knows a repeat. */
  readonly id: string;
  readonly signal: AbortSignal;
}

/** The mail server that the operator named. */
export interface Mailer {
  /** The sender's mailbox. */
  readonly from: string;
  /** Resolves once the server has taken it. Throws `MailFailure`. */
  send(mail: Mail): Promise<void>;
}

/** Its message is a sentence for people, and quotes nothing of the settings. */
export class MailFailure extends Error {
  constructor(sentence: string, options: { readonly cause?: unknown } = {}) {
    super(sentence, options);
    this.name = "MailFailure";
  }
}
