import type { LogFields, Logger } from "../ports/logger.ts";

type Method = keyof Logger;

/** A logger that is loaded with its first line: a session without trouble writes none, and starts faster without it. */
export function createLateLogger(load: () => Promise<Logger>): Logger {
  let logger: Logger | null = null;
  let loading: Promise<Logger> | null = null;
  const loadOnce = async (): Promise<Logger> => (logger = await load());
  const write = (method: Method, fields: LogFields, message: string): void => {
    // Once it is there each line is written before anything else happens: the last ones are those that are looked for.
    if (logger !== null) return logger[method](fields, message);
    loading ??= loadOnce();
    void loading.then((loaded) => loaded[method](fields, message));
  };
  return {
    debug: (fields, message) => write("debug", fields, message),
    info: (fields, message) => write("info", fields, message),
    warn: (fields, message) => write("warn", fields, message),
    error: (fields, message) => write("error", fields, message),
  };
}
