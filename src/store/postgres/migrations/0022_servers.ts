/**
 * Which start of a server a worker last showed its life to: that server alone knows by its lock whether the worker
 * is gone. A standby that takes over, or a server that was restarted, began at another moment.
 */
export const statements: readonly string[] = [
  `ALTER TABLE workers ADD COLUMN server timestamptz DEFAULT pg_postmaster_start_time()`,
];
