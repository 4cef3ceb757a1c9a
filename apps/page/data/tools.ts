import type * as z from "zod";
import { callTool, type CallOptions } from "./wire.ts";

/** The tools that the page calls. Types alone: nothing of them is in the page. */
interface Tools {
  cancel_post: typeof import("../../../tools/cancel_post.ts");
  check_connection: typeof import("../../../tools/check_connection.ts");
  connect_channel: typeof import("../../../tools/connect_channel.ts");
  create_webhook: typeof import("../../../tools/create_webhook.ts");
  decide_draft: typeof import("../../../tools/decide_draft.ts");
  delete_file: typeof import("../../../tools/delete_file.ts");
  delete_webhook: typeof import("../../../tools/delete_webhook.ts");
  disconnect_channel: typeof import("../../../tools/disconnect_channel.ts");
  edit_published_post: typeof import("../../../tools/edit_published_post.ts");
  get_account_analytics: typeof import("../../../tools/get_account_analytics.ts");
  get_post: typeof import("../../../tools/get_post.ts");
  get_report: typeof import("../../../tools/get_report.ts");
  get_status: typeof import("../../../tools/get_status.ts");
  list_accounts: typeof import("../../../tools/list_accounts.ts");
  list_choices: typeof import("../../../tools/list_choices.ts");
  list_drafts: typeof import("../../../tools/list_drafts.ts");
  list_files: typeof import("../../../tools/list_files.ts");
  list_platforms: typeof import("../../../tools/list_platforms.ts");
  list_posts: typeof import("../../../tools/list_posts.ts");
  list_webhooks: typeof import("../../../tools/list_webhooks.ts");
  resolve_post: typeof import("../../../tools/resolve_post.ts");
  retry_post: typeof import("../../../tools/retry_post.ts");
  save_draft: typeof import("../../../tools/save_draft.ts");
  schedule_post: typeof import("../../../tools/schedule_post.ts");
  set_thumbnail: typeof import("../../../tools/set_thumbnail.ts");
  show_calendar: typeof import("../../../tools/show_calendar.ts");
  test_webhook: typeof import("../../../tools/test_webhook.ts");
  update_account: typeof import("../../../tools/update_account.ts");
  update_post: typeof import("../../../tools/update_post.ts");
}

type Tool<Name extends keyof Tools> = Tools[Name]["default"];
type Answer<Name extends keyof Tools> = z.infer<Tool<Name>["output"]>;
/** The tool's own fields and no others. The server reads their values. */
type Args<Name extends keyof Tools> = { readonly [Field in keyof z.input<Tool<Name>["input"]>]?: unknown };

/** Calls a tool. Rejects with `CallError`, whose message is a sentence for people. */
export function call<Name extends keyof Tools>(
  name: Name,
  args: Args<Name> = {},
  options: CallOptions = {},
): Promise<Answer<Name>> {
  return callTool(name, args, options);
}
