import type { BucketStore } from "../media/stores/bucket-store.ts";
import { createFolderStore } from "../media/stores/folder-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { FileStore } from "../ports/file-store.ts";
import type { Outbound } from "../ports/outbound.ts";
import { openDiskRoom } from "./disk-rooms.ts";
import type { Settings } from "./setup.ts";

interface Doors {
  readonly outbound: Outbound;
  readonly clock: Clock;
}

type FileSettings = Pick<Settings, "config" | "secrets" | "folder">;

/** Where the files are: in the bucket of the settings, else in the data folder. */
export async function openFileStore(settings: FileSettings, doors: Doors): Promise<FileStore> {
  return (await openBucket(settings, doors)) ?? folderStore(settings, doors);
}

function folderStore({ folder }: FileSettings, { clock }: Doors): FileStore {
  return createFolderStore(folder.files, openDiskRoom(folder, "files", clock));
}

/** Null where the settings name no bucket; most processes need no code for one. */
export async function openBucket(
  { config, secrets }: FileSettings,
  { outbound, clock }: Doors,
): Promise<BucketStore | null> {
  const { bucket } = config;
  const { bucketSecretKey } = secrets;
  if (bucket === null || bucketSecretKey === null) return null;
  const { createBucketStore } = await import("../media/stores/bucket-store.ts");
  return createBucketStore({ bucket, secretAccessKey: bucketSecretKey, outbound, clock });
}
