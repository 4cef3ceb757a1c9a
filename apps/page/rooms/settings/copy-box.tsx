import { Check, Copy } from "lucide-preact";
import { useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { complain, say } from "../../../ui/toasts.tsx";

/** A text to be taken along, whole. `label` says what it is. */
export function CopyBox({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
      say(`${label} is copied.`);
    } catch {
      // Over plain http a browser gives no clipboard.
      complain("This browser does not let the page copy. Select the text and copy it yourself.");
    }
  };
  return (
    <div class="copy-box">
      <pre tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <Button isSmall onClick={copy} aria-label={`Copy: ${label}`}>
        {isCopied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
        {isCopied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}
