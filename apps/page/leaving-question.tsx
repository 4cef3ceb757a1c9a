import { useAddressGuard } from "./data/address.tsx";
import { Ask } from "../ui/ask.tsx";
import { asked, leave, lossIn } from "../ui/leaving.ts";

/** Asks before a way out loses what was typed: a link, the browser's back, the end of the window, a dialog's end. */
export function LeavingQuestion() {
  useAddressGuard({ isHeld: () => lossIn(null) !== null, hold: (go) => leave(() => lossIn(null), go) });
  const { value } = asked;
  if (value === null) return null;
  const close = (): void => {
    asked.value = null;
  };
  return <Ask {...value.loss} onYes={async () => value.go()} onClose={close} />;
}
