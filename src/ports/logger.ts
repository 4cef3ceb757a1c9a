/** The fields of a line. An error stands under `err`: only there its message and stack come out. */
interface LogFields {
  readonly [name: string]: unknown;
  readonly error?: never;
}

/** One structured line an event; pino in production, an array in tests. Secrets never go in. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
