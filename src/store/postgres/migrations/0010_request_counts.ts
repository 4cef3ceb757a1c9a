/** Each process counts requests for itself. */
export const statements: readonly string[] = [`DROP TABLE request_counts`];
