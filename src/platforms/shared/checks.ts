import { type TextFormat, textSeen } from "./markdown.ts";

interface Asking {
  readonly caption: string | null;
  readonly mediaUrl: string;
  readonly metadata: { readonly poll?: unknown; readonly format?: TextFormat };
}

/** What is wrong with the poll of a platform whose polls are a plain question with answers. */
export function checkPoll({ caption, mediaUrl, metadata }: Asking, title: string): string[] {
  if (metadata.poll === undefined) return [];
  return [
    ...((caption ?? "").trim() === "" ? ["caption: a poll asks something. Write the question."] : []),
    ...(mediaUrl === ""
      ? []
      : [`metadata.poll: a poll on ${title} has no media. Leave the media out, or post them on their own.`]),
    ...(metadata.format === "markdown"
      ? [`metadata.format: the question of a poll on ${title} is plain text. Leave format out.`]
      : []),
  ];
}

/** A text in Markdown that shows nothing, such as one of link definitions alone. */
export function checkSeen(field: string, text: string | null, format: TextFormat): string[] {
  const isLost =
    format === "markdown" && (text ?? "").trim() !== "" && textSeen(text ?? "", format).trim() === "";
  return isLost
    ? [`${field}: read as Markdown, it shows nothing. Write some text, or leave format out.`]
    : [];
}
