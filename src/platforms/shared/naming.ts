import { PlatformFault } from "../../ports/platform-io.ts";

/** Does the work; what the platform refuses of it is about this field of the person's. */
export async function naming<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PlatformFault) || (error.kind !== "auth" && error.kind !== "rejected"))
      throw error;
    throw new PlatformFault(error.kind, error.sentence, {
      cause: error.cause,
      says: error.says,
      field,
      ...(error.httpStatus === null ? {} : { httpStatus: error.httpStatus }),
    });
  }
}
