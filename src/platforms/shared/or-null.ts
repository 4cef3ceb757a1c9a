import { PlatformFault } from "../../ports/platform-io.ts";

/** Null where the platform does not know it (404). */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformFault && error.httpStatus === 404) return null;
    throw error;
  }
}
