import * as z from "zod";
import type { Inspection } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { askOrNull, askSoftware, softwareOfVersion } from "../shared/fediverse.ts";
import { serverOf } from "../shared/servers.ts";
import { own } from "./api.ts";
import { Account, handleOf } from "./entities.ts";
import { toLimits } from "./limits.ts";

const Limit = z.coerce.number().int().positive().nullable().catch(null);

const Configuration = z.looseObject({
  statuses: z
    .looseObject({
      max_characters: Limit,
      max_media_attachments: Limit,
      characters_reserved_per_url: Limit,
    })
    .catch({ max_characters: null, max_media_attachments: null, characters_reserved_per_url: null }),
  media_attachments: z
    .looseObject({
      supported_mime_types: z.array(z.string()).nullable().catch(null),
      description_limit: Limit,
      image_size_limit: Limit,
      image_matrix_limit: Limit,
      video_size_limit: Limit,
    })
    .catch({
      supported_mime_types: null,
      description_limit: null,
      image_size_limit: null,
      image_matrix_limit: null,
      video_size_limit: null,
    }),
});

/**
 * https://docs.joinmastodon.org/entities/Instance and V1_Instance, with what Pleroma and Friendica say beside
 * it.
 */
const Instance = z.looseObject({
  version: z.string().max(200),
  configuration: Configuration.optional().catch(undefined),
  max_toot_chars: Limit,
  max_media_attachments: Limit,
  description_limit: Limit,
  upload_limit: Limit,
});

/** Who the account is now, and what its server takes. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const server = serverOf(io);
  const account = await own(io, { method: "GET", path: "/api/v1/accounts/verify_credentials" }, Account);
  const instance = await askInstance(io, server);
  const told = await askSoftware(io, server);
  const found = instance?.configuration;
  const limits = {
    maxCharacters: found?.statuses.max_characters ?? instance?.max_toot_chars ?? null,
    urlLength: found?.statuses.characters_reserved_per_url ?? null,
    maxMedia: found?.statuses.max_media_attachments ?? instance?.max_media_attachments ?? null,
    altLength: found?.media_attachments.description_limit ?? instance?.description_limit ?? null,
    mimeTypes: found?.media_attachments.supported_mime_types ?? null,
    imageBytes: found?.media_attachments.image_size_limit ?? instance?.upload_limit ?? null,
    imagePixels: found?.media_attachments.image_matrix_limit ?? null,
    videoBytes: found?.media_attachments.video_size_limit ?? instance?.upload_limit ?? null,
  };
  const software = told ?? (instance === null ? null : softwareOfVersion(instance.version));
  return {
    name: account.display_name === "" ? account.username : account.display_name,
    handle: handleOf(account, server),
    avatarUrl: account.avatar,
    ...(software === null ? {} : { limits: toLimits(limits, software) }),
    problem: null,
  };
}

/** GoToSocial and Mastodon since 4 have both, snac the older one alone. */
async function askInstance(io: PlatformIo, server: string): Promise<z.infer<typeof Instance> | null> {
  return (
    (await askOrNull(io, `${server}/api/v2/instance`, Instance)) ??
    (await askOrNull(io, `${server}/api/v1/instance`, Instance))
  );
}
