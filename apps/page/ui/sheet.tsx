import { X } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useId, useRef, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { sheetsOpen, Toasts } from "./toasts.tsx";

interface SheetProps {
  readonly title: string;
  /** At the side, over the whole height. */
  readonly isDrawer?: boolean;
  /** What it shows is shown once: a click beside it does not close it. */
  readonly isKept?: boolean;
  readonly children: ComponentChildren;
  onClose(): void;
}

/** A dialog of the browser's own: it holds the focus, and gives it back where it was. */
export function Sheet({ title, isDrawer = false, isKept = false, children, onClose }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [depth, setDepth] = useState<number | null>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    sheetsOpen.value += 1;
    setDepth(sheetsOpen.value);
    return () => {
      sheetsOpen.value -= 1;
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isDrawer ? "sheet drawer" : "sheet"}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        // A click on the dialog itself is one beside its content.
        if (event.target === dialog.current && !isKept) onClose();
      }}
    >
      <div class="sheet-head">
        <h2 id={titleId} tabIndex={-1}>
          {title}
        </h2>
        <IconButton label="Close" onClick={onClose}>
          <X aria-hidden="true" />
        </IconButton>
      </div>
      <div class="sheet-body">{children}</div>
      {depth !== null && <Toasts depth={depth} />}
    </dialog>
  );
}
