import { shownBlocks, shownText } from "./rendering.ts";
import { add, channelFor, text, threadOf, visible, type Method } from "./state.ts";

export const getUploadUrl: Method = (state, args) => {
  if ([...text(args["alt_txt"])].length > 1_000) return "alt_txt_too_large";
  const id = `F${String(state.files.size + 1).padStart(4, "0")}`;
  const length = Number(args["length"]);
  const altText = args["alt_txt"] === undefined ? null : text(args["alt_txt"]);
  const open = { isUploaded: false, isComplete: false, isDeleted: false, title: null };
  state.files.set(id, { id, length, altText, name: text(args["filename"]), ...open });
  return { upload_url: `https://files.slack.com/upload/v1/${id}`, file_id: id };
};

export const complete: Method = (state, args) => {
  const given = args["files"] as { id: string; title?: string }[];
  const files = given.map(({ id }) => state.files.get(id));
  const whole = files.filter((file) => file !== undefined);
  if (whole.length < files.length || whole.some(({ isUploaded }) => !isUploaded)) return "file_not_found";
  const channel = channelFor(state, args["channel_id"]);
  if (channel === null) return "channel_not_found";
  if (!channel.is_member) return "not_in_channel";
  if (channel.is_archived) return "posting_to_channel_denied";
  const threadTs = threadOf(state, args);
  if (threadTs === undefined) return "file_update_failed";
  const comment = args["initial_comment"];
  const shown = comment === undefined ? shownBlocks(args["blocks"] ?? []) : shownText(text(comment), true);
  if (shown === null) return "invalid_blocks";
  for (const [at, file] of whole.entries()) {
    file.isComplete = true;
    file.title = given[at]?.title ?? null;
  }
  const visibleAt = state.now() + state.shareMs;
  const ids = whole.map(({ id }) => id);
  add(state, { channel: channel.id, text: shown, files: ids, threadTs, visibleAt });
  return { files: ids.map((id) => ({ id, title: state.files.get(id)?.title })) };
};

export const fileInfo: Method = (state, args) => {
  const file = state.files.get(text(args["file"]));
  if (file?.isComplete !== true) return "file_not_found";
  if (file.isDeleted) return "file_deleted";
  const at = visible(state).filter(({ files }) => files.includes(file.id));
  const shares: Record<string, object[]> = {};
  for (const { channel, ts } of at) shares[channel] = [...(shares[channel] ?? []), { ts }];
  const isPrivate = at.some(({ channel }) => state.channels.get(channel)?.is_private === true);
  return { file: { id: file.id, shares: isPrivate ? { private: shares } : { public: shares } } };
};

export const removeFile: Method = (state, args) => {
  const file = state.files.get(text(args["file"]));
  if (file === undefined) return "file_not_found";
  if (file.isDeleted) return "file_deleted";
  file.isDeleted = true;
  return {};
};
