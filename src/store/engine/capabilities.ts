/** What not every engine can do. It is known before one is opened. */
export interface Capabilities {
  /** Processes on several machines work on it. They go by its clock and have one secret key. */
  readonly manyHosts: boolean;
  /** It lies in the data folder. By the folder's locks processes see who works on it. */
  readonly inFolder: boolean;
  /** All of it is one file, which backups hold. */
  readonly backupFile: boolean;
}

/** Of a database that is a file in the data folder. */
export const IN_FOLDER: Capabilities = { manyHosts: false, inFolder: true, backupFile: true };

/** Of a database on a server that many reach. */
export const ON_SERVER: Capabilities = { manyHosts: true, inFolder: false, backupFile: false };
