import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";

const KEY = /^[a-z0-9][a-z0-9/_.-]{0,255}$/;

/** Throws `invalid` for a key that could name anything but a file of the store. */
export function assertKey(key: string): void {
  const parts = key.split("/");
  if (KEY.test(key) && parts.every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".")))
    return;
  throw new AppError(
    "invalid",
    `r2://${quote(key).slice(1, -1)} is not an address of a stored file. Take addresses from list_files.`,
  );
}
