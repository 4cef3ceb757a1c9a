import { AppError } from "../src/domain/errors.ts";
import { openSqlite } from "../src/store/local/driver.ts";

/** What to do where no driver of SQLite works; null where one does. */
export function missingDriver(): string | null {
  try {
    openSqlite({ file: ":memory:", busyTimeoutMs: 0 }).database.close();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}
