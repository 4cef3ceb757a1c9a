/** Why, and which keys, from the top of an answer; dots divide names, those of a list are those of its entries. */
type Needed = Readonly<Record<string, readonly string[]>>;

const META_NUMBERS = "whose number it is";

/**
 * What no answer may lack, and why. Every other key is one that a server, or another version of it, may leave
 * out: posts and what is asked of them work all the same.
 */
export const NEEDED_KEYS: Readonly<Record<string, Needed>> = {
  bluesky: {
    "a file's reference goes into the record whole": ["blob.**"],
    "where the record is": ["uri", "cid", "results.uri", "results.cid"],
    "the record is changed as it is": ["value.**"],
  },
  dailymotion: {
    "where the file goes, and what it is called then": ["upload_url", "url"],
    "names the video": ["video_id"],
    "whether everybody sees it": ["visibility", "processing.encoding_progress"],
    "names the channel": ["profiles.profile_id"],
  },
  devto: { "names the article": ["id"], "names the account": ["username"] },
  discord: { "names the message": ["id", "channel_id"], "what may be posted there": ["type"] },
  facebook: {
    "names the post or the Page": ["id", "video_id"],
    "names the upload": ["h"],
    "tells one story from another": ["data.media_id"],
    "whether the film is done": ["status.**"],
    [META_NUMBERS]: ["data.name", "data.values"],
  },
  farcaster: {
    "names the cast or the account": ["cast.hash", "users.username"],
    "whether the signer may cast": ["status"],
    "whose cast is quoted": ["cast.author.fid"],
    "what is chosen": ["channels.id"],
  },
  feed: {},
  ghost: {
    "where the file is": ["images.url", "media.url"],
    "names the post, by which it is found again": ["posts.id", "posts.slug"],
    "whether everybody sees it": ["posts.status"],
    "goes back with a change, which Ghost refuses without it": ["posts.updated_at"],
    "names the site": ["site.title", "site.url"],
    "the number itself": ["meta.pagination.total"],
    "what is chosen": ["newsletters.slug", "newsletters.name", "users.email", "users.name"],
  },
  google_business: { "names the post or the location": ["name"], "whether everybody sees it": ["state"] },
  hashnode: {
    "the answer to what was asked": ["data.**"],
  },
  instagram: {
    "names the container, the post or the account": ["id"],
    "whether the container is done": ["status_code"],
    [META_NUMBERS]: ["data.name"],
    "the number itself": ["data.quota_usage"],
  },
  lemmy: {
    "where the picture is": ["files.file"],
    "where it is posted": [
      "community_view.community.id",
      "community_view.community.name",
      "communities.community.id",
      "communities.community.name",
    ],
    "names the post, and whose it is": [
      "post_view.post.id",
      "post_view.post.name",
      "post_view.post.creator_id",
    ],
    "which of its interfaces the server has": ["version", "site_view.local_site"],
    "names the account": ["my_user.local_user_view.person.id", "my_user.local_user_view.person.name"],
  },
  linkedin: {
    "where the file goes": [
      "value.uploadUrl",
      "value.uploadInstructions.uploadUrl",
      "value.uploadInstructions.firstByte",
      "value.uploadInstructions.lastByte",
    ],
    "names the file": ["value.image", "value.video", "value.document"],
    "whether the film is done": ["status"],
    "names the member": ["sub"],
  },
  listmonk: {
    "names the campaign, the list or the template": ["data.id", "data.results.id"],
    "whether it was started": ["data.status"],
    "where the file is": ["data.url"],
  },
  mastodon: {
    "names the status, the file or the account": ["id"],
    "whether the file is done": ["url"],
    "the account's name": ["username"],
  },
  matrix: {
    "where the file is": ["content_uri"],
    "names the event": ["event_id", "chunk.event_id"],
    "the event is changed as it is": ["content.**"],
    "whether the account is in the room": ["membership"],
    "whose number it is, and the number": ["rooms.room_id", "rooms.num_joined_members"],
  },
  misskey: {
    "names the note, the file or the account": ["id", "createdNote.id"],
    "the account's name": ["username"],
  },
  nostr: { "where the file is, and whether it came whole": ["url", "sha256"] },
  peertube: {
    "names the video": ["uuid", "video.uuid"],
    "whether everybody sees it": ["privacy.id", "state.id"],
    "the account's name": ["username"],
    "names the channel": ["videoChannels.id", "videoChannels.name"],
    "which files it takes": ["video.file.extensions"],
    "whose number it is": ["data.id"],
  },
  pinterest: {
    "names the pin or the account": ["id", "username"],
    "what is chosen": ["items.id", "items.name"],
    "where the film goes": ["media_id", "upload_url", "upload_parameters.**"],
    "whether the film is done": ["status"],
  },
  pixelfed: {
    "names the status, the file or the account": ["id"],
    "whether the file is done": ["url"],
    "the account's name": ["username"],
  },
  reddit: {
    "where the file goes": ["args.action", "args.fields.name", "args.fields.value", "asset.asset_id"],
    "names the post": ["json.data.name", "json.data.url", "data.children.data.name"],
    "by which a post is found again": [
      "data.children.data.subreddit",
      "data.children.data.title",
      "data.children.data.created_utc",
      "data.children.data.selftext",
    ],
    "names the account": ["id", "name"],
  },
  slack: {
    "an error comes with HTTP 200 too": ["ok"],
    "where the file goes": ["upload_url", "file_id"],
    "names the message": ["file.shares.**", "ts"],
    "what is chosen": ["channels.id", "members.id"],
  },
  telegram: {
    "an error comes with HTTP 200 too": ["ok"],
    "names the message": ["result.message_id", "result.chat.id"],
    "who the bot is, and what it may": ["result.id", "result.type", "result.status"],
  },
  threads: {
    "names the container, the post or the account": ["id"],
    "whether the container is done": ["status"],
    [META_NUMBERS]: ["data.name"],
    "the number itself": ["data.quota_usage"],
  },
  tiktok: {
    "who may be let see it": ["data.privacy_level_options"],
    "where the film goes": ["data.publish_id", "data.upload_url"],
    "whether it is done": ["data.status"],
    "names the video": ["data.publicaly_available_post_id", "data.videos.id"],
    "whose numbers they are": ["data.user"],
  },
  tumblr: {
    "names the post": ["response.id", "response.posts.id"],
    "by which a film is found again, whose post gets another id": ["response.posts.slug"],
    "the post is changed as it is": ["response.content.**"],
    "names the blog": ["response.user.blogs.name", "response.user.blogs.uuid"],
  },
  vimeo: {
    "names the video": ["uri", "link"],
    "whether everybody sees it": ["privacy.view"],
    "the number itself": ["metadata.connections.followers.total"],
    "where the film goes": ["upload.upload_link"],
  },
  webhook: {},
  wordpress: {
    "names the post, the file, or the tag": ["id", "slug", "name"],
    "whether everybody sees it, and since when": ["status", "date_gmt", "modified_gmt"],
    "where it is": ["link", "source_url"],
    "what the user may": ["capabilities.publish_posts", "capabilities.upload_files"],
  },
  x: {
    "names the post, the file or the account": ["data.id", "data.username"],
    "whether the film is done": ["data.processing_info.state"],
  },
  youtube: {
    "names the video": ["id", "items.id"],
    "whether everybody sees it": ["items.status.privacyStatus"],
    "the video is changed as it is": ["items.snippet.title", "items.snippet.categoryId"],
    "whose number it is": ["columnHeaders.name"],
  },
};
