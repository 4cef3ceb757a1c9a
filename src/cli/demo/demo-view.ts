import { styleText } from "node:util";
import type { Attempt, Post } from "../../domain/posts/post.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import { visibleText } from "../../domain/plain-text.ts";
import { SECOND } from "../../domain/time.ts";
import type { Terminal } from "../host.ts";

/** What one look at the post brought. */
interface Look {
  readonly post: Post;
  readonly history: readonly Attempt[];
}

export interface DemoView {
  begin(folder: string): void;
  scheduled(post: Post): void;
  /** Shows each state that was reached since the last look, and how far it is to the next. */
  look(look: Look, now: number): void;
  finish(post: Post, place: { readonly publicUrl: string; readonly staysUp: boolean }): void;
  close(): void;
}

const MEANING: Partial<Record<PostStatus, string>> = {
  scheduled: "waits, and may still be changed or cancelled",
  publishing: "taken up ahead of its time (leadMinutes)",
  uploaded: "on the platform, private until its time",
  published: "live",
};

const STAYS_UP = "The page stays up until you press Ctrl-C. Then the temporary folder is removed.";
const OVER =
  "The demo is over and its folder removed, so these addresses are gone. In a terminal, without --exit, they stay up.";

const CLEAR_LINE = "\r\u001b[2K";
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";

/** Lines for a terminal; the last is redrawn where it can be. */
export function createDemoView(terminal: Terminal): DemoView {
  const shown = new Set<PostStatus>();
  let startedAt = 0;
  const colored = (format: Parameters<typeof styleText>[0], text: string): string =>
    terminal.hasColors ? styleText(format, visibleText(text)) : visibleText(text);
  const redraw = (text: string): void => {
    if (terminal.isScreen) terminal.draw(CLEAR_LINE + text);
  };
  const line = (text: string): void => {
    redraw("");
    terminal.draw(`${text}\n`);
  };
  const showState = (status: PostStatus, at: number, more = ""): void => {
    if (shown.has(status)) return;
    shown.add(status);
    const seconds = (Math.max(0, at - startedAt) / SECOND).toFixed(1).padStart(5);
    line(
      `  ${colored("green", "✔")} ${seconds} s  ${colored("bold", status.padEnd(10))}  ${MEANING[status] ?? ""}${more}`,
    );
  };

  return {
    begin(folder) {
      line(
        `\n${colored("bold", "Posthorn demo")}: one post with a picture, from its schedule to the built-in feed`,
      );
      line(`${colored("dim", `Everything happens in ${folder}. Your own data is not touched.`)}\n`);
      if (terminal.isScreen) terminal.draw(HIDE_CURSOR);
    },
    scheduled(post) {
      startedAt = Date.parse(post.createdAt);
      showState("scheduled", startedAt);
    },
    look({ post, history }, now) {
      // A state may last less than the time between two looks; the attempts remember it.
      const first = history[0];
      if (first !== undefined) showState("publishing", Date.parse(first.startedAt));
      if (post.status === "uploaded") showState("uploaded", now);
      if (post.status === "published")
        showState("published", Date.parse(post.publishedAt ?? post.updatedAt), latenessOf(post));
      else
        redraw(`    goes live in ${Math.max(0, Math.ceil((Date.parse(post.scheduledAt) - now) / SECOND))} s`);
    },
    finish(post, { publicUrl, staysUp }) {
      line(`\n  See it       ${colored("underline", post.platformUrl ?? publicUrl)}`);
      line(`  As a feed    ${publicUrl}/feed/${post.accountId}.json   (.rss, .html)`);
      line(
        `\nNext: ${colored("bold", "posthorn serve")} runs it for good. ${colored("bold", "posthorn connect")} adds your channels.`,
      );
      line(colored("dim", staysUp ? STAYS_UP : OVER));
    },
    close() {
      if (terminal.isScreen) terminal.draw(`${CLEAR_LINE}${SHOW_CURSOR}`);
    },
  };
}

function latenessOf(post: Post): string {
  if (post.publishedAt === null) return "";
  return `, ${Math.max(0, Date.parse(post.publishedAt) - Date.parse(post.scheduledAt))} ms after its time`;
}
