import type { FILE_STATUSES, FileType } from "../../domain/files/file.ts";
import { bigint, flag, integer, oneOf, orNull, preset, real, table, text } from "./columns.ts";

export const FILE_TABLES = {
  files: table({
    columns: {
      id: text,
      owner_id: text,
      /** Key in the file store; `r2://<key>` is its address. */
      storage_key: text,
      name: text,
      mime_type: text,
      type: oneOf<FileType>(),
      size_bytes: bigint,
      width: orNull(integer),
      height: orNull(integer),
      duration_seconds: orNull(real),
      /** Of a document. */
      pages: orNull(integer),
      video_codec: orNull(text),
      audio_codec: orNull(text),
      frames_per_second: orNull(real),
      /** 1 for a picture of several frames. */
      is_animated: preset(flag, 0),
      sha256: orNull(text),
      alt_text: orNull(text),
      status: oneOf<(typeof FILE_STATUSES)[number]>(),
      /** The API key that brought it; null: not known. */
      key_id: orNull(text),
      created_at: bigint,
      updated_at: bigint,
    },
    key: ["id"],
    unique: ["storage_key"],
    indexes: {
      files_owner: "(owner_id, id)",
      files_key: "(owner_id, key_id, id) WHERE key_id IS NOT NULL",
    },
  }),
  /** How many posts of an account, in whatever state, use a file: what a limited key may see. */
  file_uses: table({
    columns: { account_id: text, file_id: text, posts: integer },
    key: ["account_id", "file_id"],
    indexes: { file_uses_file: "(file_id)" },
  }),
  /** Films that are made what a platform takes, each once for its content and form. */
  films: table({
    columns: {
      /** Made of owner, content and form. */
      id: text,
      owner_id: text,
      /** Of the owner's file. Null: of an address elsewhere, for `post_id` alone. */
      file_key: orNull(text),
      post_id: orNull(text),
      /** `MediaFigures` of what it is made of, as JSON. */
      original: text,
      /** `FilmForm` as JSON. */
      form: text,
      percent: integer,
      /** The worker that converts it. */
      worker_id: orNull(text),
      /** Why it cannot be converted. */
      error: orNull(text),
      /** `MediaFacts` of the film, as JSON. Null: it is not ready. */
      facts: orNull(text),
      created_at: bigint,
    },
    key: ["id"],
  }),
} as const;
