import type { Account } from "../../../src/domain/accounts/account.ts";
import type { ConnectResult } from "../../../src/domain/accounts/connection.ts";
import type { Choices, PlatformListing } from "../../../src/domain/accounts/platform-listing.ts";
import type { AccountAnalytics } from "../../../src/domain/accounts/analytics.ts";
import type { SlotSuggestion } from "../../../src/domain/accounts/schedule.ts";
import type { DraftCalendar } from "../../../src/domain/drafts/calendar.ts";
import type { Draft, DraftPage } from "../../../src/domain/drafts/draft.ts";
import type { File } from "../../../src/domain/files/file.ts";
import type { Status } from "../../../src/domain/health/status.ts";
import type { ChangedPost } from "../../../src/domain/posts/post-body.ts";
import type { PostPage } from "../../../src/domain/posts/post-lists.ts";
import type { Attempt, Insights, Post, Preparing } from "../../../src/domain/posts/post.ts";
import type { Report } from "../../../src/domain/posts/results.ts";
import type { Preview } from "../../../src/domain/posts/preview.ts";
import type { Delivery, Webhook, WebhookList } from "../../../src/domain/webhooks/webhook.ts";
import type * as z from "zod";
import type { Json } from "../../shared/json.ts";
import { callTool, type CallOptions } from "../wire.ts";

type Of<T extends z.ZodType> = z.infer<T>;
interface Changed {
  readonly post: Post;
  readonly warnings?: string[];
}
/** With what only a dry run answers. */
interface Planned extends Changed {
  readonly dryRun?: true;
  readonly preview?: Preview;
}

/** What each tool answers that the page calls, as the schemas of the tools say. */
interface Answers {
  cancel_post: { readonly post: Post };
  check_connection: {
    readonly status: "pending" | "choose" | "connected" | "failed" | "expired";
    readonly account: Account | null;
    readonly accounts: readonly Account[];
    readonly error: string | null;
  };
  connect_channel: Of<typeof ConnectResult>;
  create_webhook: { readonly webhook: Of<typeof Webhook>; readonly secret?: string | null };
  decide_draft: { readonly draft: Draft };
  delete_file: { readonly file: File };
  delete_webhook: { readonly webhook: Of<typeof Webhook> };
  disconnect_channel: { readonly account: Account };
  edit_published_post: { readonly post: Post };
  get_account_analytics: Of<typeof AccountAnalytics>;
  get_post: Changed & {
    readonly draftId?: string | null;
    readonly labels?: readonly string[];
    readonly note?: string | null;
    readonly preparing?: Preparing;
    readonly insights?: Insights;
    readonly history?: readonly Attempt[];
  };
  get_report: Report;
  get_status: Status;
  list_accounts: { readonly accounts: readonly Account[] };
  list_choices: Choices;
  list_drafts: DraftPage;
  list_files: { readonly files: readonly File[]; readonly nextCursor: string | null };
  list_platforms: { readonly platforms: readonly PlatformListing[] };
  list_posts: PostPage;
  list_webhooks: Of<typeof WebhookList>;
  resolve_post: { readonly post: Post };
  retry_post: Planned;
  save_draft: { readonly draft: Draft; readonly warnings: readonly string[] };
  schedule_post: Planned;
  set_thumbnail: { readonly post: Post };
  show_calendar: Of<typeof DraftCalendar>;
  test_webhook: { readonly webhook: Of<typeof Webhook>; readonly delivery: Of<typeof Delivery> };
  update_account: {
    readonly account: Account;
    readonly moved: readonly Of<typeof ChangedPost>[];
    readonly warnings?: string[];
    readonly suggestion?: SlotSuggestion;
  };
  update_post: Planned;
}

/** Calls a tool. Rejects with `CallError`, whose message is a sentence for people. */
export async function call<Name extends keyof Answers>(
  name: Name,
  args: Json = {},
  options: CallOptions = {},
): Promise<Answers[Name]> {
  // Server and page are of one version, and the server holds its answers to its schemas.
  return (await callTool(name, args, options)) as unknown as Answers[Name];
}
