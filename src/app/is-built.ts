/** Whether this is the built program, and not its sources. */
export const IS_BUILT = import.meta.url.endsWith(".js");
