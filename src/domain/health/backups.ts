/** What a decision was about. */
export type DecidedKind = "keys" | "programs" | "channels" | "webhooks" | "apps" | "drafts" | "posts";

/** A key that opens something. It may have been revoked since. */
export interface GoodKey {
  readonly id: string;
  readonly name: string;
}

/** A post of a draft that was approved since, on a channel that the copy does not have. */
export interface LostPost {
  readonly id: string;
  readonly draftId: string;
}

export interface LaterDecisions {
  /** How many of each the decisions of since concern. Without the replaced database: how many they might. */
  readonly counts: Readonly<Partial<Record<DecidedKind, number>>>;
  /** Null: what was revoked since is known. */
  readonly goodKeys: readonly GoodKey[] | null;
  readonly lostPosts: readonly LostPost[];
}

export interface BackupReport {
  readonly file: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
  /** Files in it. */
  readonly files: number;
  /** Files that it only names, because a bucket keeps them. */
  readonly filesInBucket: number;
  /** Keys of files that were deleted while the backup was made, or are missing in the store. */
  readonly missing: readonly string[];
}

export interface BackupResult extends BackupReport {
  /** There is a `posthorn.env`, which is in it. */
  readonly hasSettings: boolean;
  /** What keeps the files that are not in the backup, in words; null: they are in it. */
  readonly bucket: string | null;
  /** The key that is not in the backup. */
  readonly secretKeyFile: string;
}

/** What comes of a backup that another person has written, or changed. */
export const UNSIGNED_RISK =
  "The person who wrote it may have added API keys that open everything, changed what your channels publish, or named other servers for your channels' tokens to go to.";

/**
 * Why nothing tells what was decided since a backup was made: there was no database, it cannot be read, or it does not
 * go on from that of the backup.
 */
export type Unknown = "absent" | "unreadable" | "unrelated";

export interface RestoreResult {
  readonly folder: string;
  /** The moment that the database is of. */
  readonly createdAt: string;
  readonly posts: number;
  readonly files: number;
  /** Keys of files that the backup left in its bucket and that are not there any more. */
  readonly missing: readonly string[];
  /** Posts that may have gone out since, and wait until that is reconciled. */
  readonly held: number;
  /** What was decided since, and stays so; `unknown` null: the replaced database tells. */
  readonly decided: LaterDecisions & {
    readonly unknown: Unknown | null;
    /** Another secret key sealed the replaced database: what is sealed in it did not come along. */
    readonly isSealed: boolean;
  };
  /** Where the settings of the backup stand now, and whether they are in force; null: nothing was written. */
  readonly settings: { readonly file: string; readonly isInForce: boolean } | null;
  /** Where the replaced database stands; null: there was none. */
  readonly keptAside: string | null;
  /** Whether the secret key vouches for the backup. */
  readonly isSigned: boolean;
}

export interface RotationResult {
  readonly oldKeyId: string;
  readonly newKeyId: string;
  /** Values sealed anew. */
  readonly values: number;
  /** Values that could not be read before either. */
  readonly unreadable: number;
  /** Where the new key waits for its way into the settings of every host; null: it is where it belongs. */
  readonly newKeyFile: string | null;
}

export interface MigrationResult {
  readonly folder: string;
  /** Rows of each table, copied and compared; null: they had been moved before. */
  readonly tables: readonly { readonly table: string; readonly rows: number }[] | null;
  /** Files that were brought into the bucket; those that were there already are not counted. */
  readonly copied: number;
  /** Keys of files that the folder does not hold either. */
  readonly missing: readonly string[];
}
