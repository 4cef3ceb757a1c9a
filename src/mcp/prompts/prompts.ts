import type { GetPromptResult } from "@modelcontextprotocol/server";
import { AppError } from "../../domain/errors.ts";
import type { Account } from "../../domain/accounts/account.ts";
import { POST_STATUSES } from "../../domain/posts/post-states.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { EXAMPLE_DAY } from "../../domain/time.ts";
import { namesAmong } from "../../channels/accounts/accounts.ts";
import { findPlatform } from "../../channels/platform-io/list-platforms.ts";
import type { PromptArgument, PromptKind, Scope } from "../kinds.ts";
import {
  isOffered,
  readAccounts,
  readPosts,
  suggestAccounts,
  suggestPosts,
  suggestProviders,
} from "../look-up.ts";
import { POST_RESOURCE } from "../resources/resources.ts";

/** Where a person does what an agent may not. */
const BY_HAND = "on Posthorn's page or the command line";
const IN_REVIEW = "on Posthorn's page under Review, or with `posthorn drafts`";

function argument(name: string, description: string, more: Partial<PromptArgument> = {}): PromptArgument {
  return { name, description, ...more };
}

const ACCOUNT = argument("accountId", "Only this channel, by its name or id. Default: all.", {
  complete: suggestAccounts,
});
const PROVIDER = argument("provider", "Only channels on this platform. Default: all.", {
  complete: suggestProviders,
});

const OF_A_WEEK = [
  argument("topics", "What the posts should be about: campaigns, products, news.", { required: true }),
  argument("week", "Any day of the week, as yyyy-mm-dd. Default: the coming week.", {
    check: inForm("week", /^\d{4}-\d{2}-\d{2}$/, `yyyy-mm-dd, such as ${EXAMPLE_DAY}`),
  }),
  ACCOUNT,
  PROVIDER,
];

const nameWeek = (week = ""): string =>
  week === "" ? "the coming week (Monday to Sunday)" : `the week of ${week}`;

const READ_RULES =
  "2. Read the rules of each channel (list_accounts, and posthorn://platforms/{provider} for metadata). Look for fitting media with list_files.";

export const PROMPTS: readonly PromptKind[] = [
  {
    name: "plan_week",
    title: "Plan a week of posts",
    description:
      "Fills the free days of a week with posts about what you name, checks each before it is scheduled, and asks you first.",
    arguments: OF_A_WEEK,
    messages: ({ topics, week, ...args }, scope) =>
      aboutChannels(scope, args, (channels) => [
        `Plan posts for ${nameWeek(week)}.`,
        `About: ${topics}`,
        `Channels: ${channels}`,
        "1. Call show_calendar for the week (it names the time zone) to see what is planned already, and list_posts with status published to see what these channels usually say and when.",
        READ_RULES,
        "3. Propose a table: day and time, channel, text, media. Leave out days that are full, and never plan the same text twice.",
        isOffered(scope, "schedule_posts") && isOffered(scope, "schedule_post")
          ? "4. After I agree, check all with schedule_post and dryRun, mend what is warned of, then schedule them with schedule_posts and show the result."
          : isOffered(scope, "save_draft")
            ? `4. After I agree, write each with save_draft, mend what its checks say, and call save_draft with submit. I approve them ${IN_REVIEW}.`
            : `4. I plan those I agree to ${BY_HAND}.`,
      ]),
  },
  {
    name: "draft_week",
    title: "Draft a week",
    description:
      "Fills the free days of a week with drafts about what you name, and submits them for your decision.",
    tool: "save_draft",
    arguments: OF_A_WEEK,
    messages: ({ topics, week, ...args }, scope) =>
      aboutChannels(scope, args, (channels) => [
        `Write drafts for ${nameWeek(week)}. Publish nothing.`,
        `About: ${topics}`,
        `Channels: ${channels}`,
        "1. Call show_calendar for the week, list_drafts with state open and waiting, and list_posts with status published to see what these channels usually say and when.",
        READ_RULES,
        "3. For each idea call save_draft once for all its channels: a shared text, and in targets what differs. Give each a title, a label for the week, and a time.",
        "4. Mend what the checks say, then call save_draft with submit. Show me a table of what waits for my decision.",
      ]),
  },
  {
    name: "review_drafts",
    title: "Review what waits",
    description:
      "Goes through the drafts that wait for a decision, says what is worth changing, and asks you about each.",
    arguments: [],
    messages: async (_args, scope) =>
      says([
        "Review the drafts that wait for a decision with me.",
        "1. Call list_drafts with state waiting. If there are none, say so.",
        "2. For each show: title, time, and for each channel the text as it goes out there, with its warnings. Point out mistakes, facts to check, and what is missing, such as alt texts.",
        `3. Ask me about each: approve, changes, or discard. ${
          isOffered(scope, "decide_draft")
            ? "Approve with decide_draft only what I have agreed to. For changes write my words as the note"
            : `I decide ${IN_REVIEW}. Write down what I want changed`
        }, ${isOffered(scope, "save_draft") ? "and offer to write the next revision with save_draft" : "for the one who writes the next revision"}.`,
      ]),
  },
  {
    name: "repurpose_post",
    title: "Use a post again elsewhere",
    description: "Rewrites a post for other channels within their rules, as one draft that you approve.",
    tool: "save_draft",
    arguments: [
      argument("postId", "The post, by its id.", {
        required: true,
        complete: (scope) => suggestPosts(scope),
      }),
      {
        ...ACCOUNT,
        description: "The channel to bring it to, by its name or id. Default: all others that fit.",
      },
      { ...PROVIDER, description: "Only channels on this platform. Default: all others." },
    ],
    messages: async ({ postId = "", ...args }, scope) => [
      ...(await aboutChannels(scope, args, (channels) => [
        "Bring the attached post to other channels.",
        `Channels: ${channels}`,
        "1. Leave out the channel it is on already. Read the rules of each of the others: caption length and media in list_accounts, metadata in posthorn://platforms/{provider}.",
        "2. Write a separate text for each channel, in the language and tone of the original, within the limits. Keep facts, links and alt texts.",
        "3. Call save_draft once for all channels, with a text for each in targets. Mend what its checks say, and show me the texts.",
        "4. Ask me when they should go out. After I agree, set the time and call save_draft with submit: I approve it then.",
      ])),
      { role: "user", content: { type: "resource", resource: await POST_RESOURCE.read(postId, scope) } },
    ],
  },
  {
    name: "review_failed_posts",
    title: "Review failed posts",
    description:
      "Goes through posts that did not go out, explains each in plain words, and mends what can be mended after you agree.",
    arguments: [
      argument("status", "Posts in this state. Default: failed.", {
        complete: async () => POST_STATUSES.map((value) => ({ value })),
        check: requireStatus,
      }),
      argument("from", "Scheduled at or after this day, as yyyy-mm-dd. Default: all."),
      ACCOUNT,
      PROVIDER,
    ],
    messages: ({ status = "", from = "", ...args }, scope) =>
      aboutChannels(scope, args, async (channels, accountIds) => {
        const state = status === "" ? "failed" : status;
        const filters = {
          status: [state],
          ...(from === "" ? {} : { from }),
          ...(args.accountId || args.provider ? { accountId: accountIds } : {}),
        };
        const { posts } = await readPosts(scope, { ...filters, limit: 1 });
        const reconnect = isOffered(scope, "connect_channel")
          ? "reconnect the channel (connect_channel)"
          : "to reconnect the channel";
        return [
          `Review the posts that are ${state}${from === "" ? "" : ` since ${from}`}.`,
          `Channels: ${channels}`,
          ...(posts.length === 0 ? ["There seem to be none now: check once, then say so."] : []),
          `1. Call get_status, then list_posts with ${JSON.stringify(filters)}. For each post read get_post with history.`,
          "2. Group them by cause and explain each in plain words: what happened, whether anything went live, what mends it.",
          `3. Where error begins with "outcome unknown", ask me to look at the channel${isOffered(scope, "resolve_post") ? ", and settle it with resolve_post" : `, and to settle it ${BY_HAND}`}. Never schedule such a post again.`,
          isOffered(scope, "retry_post") && isOffered(scope, "resolve_post")
            ? `4. Propose for the others: ${reconnect}, retry_post with what is to change, or resolve_post with dismissed to put it away. Do each only after I agree.`
            : `4. Propose for the others: ${reconnect}, to change the post and send it again, or to put it away. I do it ${BY_HAND}.`,
        ];
      }),
  },
  {
    name: "review_results",
    title: "What worked this month",
    description:
      "Says what worked this month, on how many posts that rests, and what next month should look like.",
    arguments: [
      argument("month", "As yyyy-mm. Default: this month.", {
        check: inForm("month", /^\d{4}-(?:0[1-9]|1[0-2])$/, "yyyy-mm, such as 2031-01"),
      }),
      ACCOUNT,
      PROVIDER,
    ],
    messages: ({ month = "", ...args }, scope) =>
      aboutChannels(scope, args, (channels) => [
        `What worked ${month === "" ? "this month" : `in ${month}`}, and what should next month look like?`,
        `Channels: ${channels}`,
        "1. Call get_report for the month by post, account, label, weekdayHour and mediaType, each channel for itself where figures of channels do not compare. Read note first. Where it says that there is too little, say so and draw no conclusion from it.",
        "2. Say what worked and what did not, with medians, and with each how many posts it rests on. A figure that is null is not known and is not zero. A row of few posts may be chance: say so.",
        "3. Read the best and the worst posts (get_post), and say what they have in common.",
        isOffered(scope, "update_account")
          ? "4. For each channel call update_account with dryRun and suggest, and show the slots that it proposes beside those of today."
          : "4. For each channel say at which hours of the week posts did well, beside its slots of today (list_accounts).",
        `5. Propose a plan for next month: how many posts, about what, when, on which channels. ${
          isOffered(scope, "save_draft") ? "After I agree, write it with save_draft" : `I plan it ${BY_HAND}`
        }${isOffered(scope, "update_account") ? ", and set slots with update_account only where I said yes" : ""}.`,
      ]),
  },
];

/** Words such as "last month" would go on into a sentence that a model reads in its own way. */
function inForm(field: string, form: RegExp, example: string): (given: string) => void {
  return (given) => {
    if (form.test(given)) return;
    const problem = `${field}: ${quote(given)} is none. Give it as ${example}, or leave it out.`;
    throw new AppError("invalid", problem);
  };
}

function requireStatus(status: string): void {
  if (POST_STATUSES.some((known) => known === status)) return;
  throw new AppError("invalid", `status: must be one of ${POST_STATUSES.join(", ")}.`);
}

function says(paragraphs: readonly string[]): GetPromptResult["messages"] {
  return [{ role: "user", content: { type: "text", text: paragraphs.join("\n\n") } }];
}

/** `write` gets the channels that were chosen in words, and their ids. Throws `invalid` when there are none. */
async function aboutChannels(
  scope: Scope,
  { accountId = "", provider = "" }: Readonly<Record<string, string>>,
  write: (channels: string, ids: readonly string[]) => readonly string[] | Promise<readonly string[]>,
): Promise<GetPromptResult["messages"]> {
  const all = await readAccounts(scope);
  const meant = accountId === "" ? all : await readAccounts(scope, accountId);
  const platform = provider === "" ? null : findPlatform(scope.ctx, provider).name;
  const chosen = meant.filter((one) => platform === null || one.provider === platform);
  const names = namesAmong(scope.ctx, all);
  const list = (accounts: readonly Account[]): string =>
    accounts.map(({ id, name, provider: on }) => `${quote(names.get(id) ?? name)} (${on}, ${id})`).join(", ");
  if (chosen.length > 0)
    return says(
      await write(
        list(chosen),
        chosen.map(({ id }) => id),
      ),
    );
  const connect = isOffered(scope, "connect_channel")
    ? "Connect one with connect_channel."
    : `A person connects one ${BY_HAND}.`;
  const advice = all.length === 0 ? connect : `There are ${list(all)}.`;
  throw new AppError("invalid", `accountId, provider: no channel fits. ${advice}`);
}
