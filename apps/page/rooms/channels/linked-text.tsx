import { Check, Copy } from "lucide-preact";
import { useState } from "preact/hooks";
import { shortAddress } from "../../../../src/domain/parse-url.ts";
import { Button } from "../../../ui/button.tsx";
import { complain, say } from "../../../ui/toasts.tsx";
import { partsOf } from "./guide.ts";

/** A text with its addresses as links, and with what is to be copied beside a button that does. */
export function LinkedText({
  text,
  copied = [],
}: {
  readonly text: string;
  readonly copied?: readonly string[];
}) {
  return (
    <>
      {partsOf(text, copied).map((part, at) =>
        part.kind === "text" ? (
          part.text
        ) : part.kind === "link" ? (
          <a key={at} href={part.text} target="_blank" rel="noreferrer noopener">
            {shortAddress(part.text)}
          </a>
        ) : (
          <CopyText key={at} text={part.text} what={part.text} />
        ),
      )}
    </>
  );
}

/** Something that is pasted elsewhere. `what` names it to those who do not see it. */
export function CopyText({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span class="copy-text">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isDone, setIsDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setIsDone(true);
      say("Copied.");
    } catch {
      complain("This browser lets nothing be copied here. Select the text and copy it.");
    }
  };
  return (
    <Button isSmall kind="quiet" aria-label={`Copy ${what}`} onClick={copy}>
      {isDone ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
      {isDone ? "Copied" : "Copy"}
    </Button>
  );
}
