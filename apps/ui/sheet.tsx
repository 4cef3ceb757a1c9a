import { X } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useId, useRef, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { leave, type Loss, lossIn, SheetScope, useLoss } from "./leaving.ts";
import { closeComplaints, sheetsOpen, Toasts } from "./toasts.tsx";

interface SheetProps {
  readonly title: string;
  /** At the side, over the whole height. */
  readonly isDrawer?: boolean;
  /** What closing it loses, which is asked about. Its parts may say the same of themselves. */
  readonly loss?: Loss | null;
  readonly children: ComponentChildren;
  onClose(): void;
}

/** Gives the focus back to what had it, once the dialog over it is gone: below a dialog nothing can have it. */
export function giveBack(before: Element | null): void {
  queueMicrotask(() => {
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
}

/** A dialog of the browser's own: it holds the focus, and gives it back where it was. */
export function Sheet({ title, isDrawer = false, loss = null, children, onClose }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [depth, setDepth] = useState<number | null>(null);
  const [scope] = useState(() => Symbol(title));
  useLoss(loss, scope);
  const close = (): void => leave(() => lossIn(scope), onClose);
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    sheetsOpen.value += 1;
    setDepth(sheetsOpen.value);
    return () => {
      sheetsOpen.value -= 1;
      closeComplaints();
      giveBack(before);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isDrawer ? "sheet drawer" : "sheet"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // A file picker inside fires the same event. If it cannot be prevented, `onClose` follows.
        if (event.target !== dialog.current || !event.cancelable) return;
        event.preventDefault();
        close();
      }}
      onClose={() => {
        // A browser closes it after several Escapes in spite of preventDefault.
        if (lossIn(scope) !== null) dialog.current?.showModal();
        close();
      }}
      onClick={(event) => {
        // A click on the dialog itself is one beside its content.
        if (event.target === dialog.current) close();
      }}
    >
      <div class="sheet-head">
        <h2 id={titleId} tabIndex={-1}>
          {title}
        </h2>
        <IconButton label="Close" onClick={close}>
          <X aria-hidden="true" />
        </IconButton>
      </div>
      <div class="sheet-body">
        <SheetScope.Provider value={scope}>{children}</SheetScope.Provider>
      </div>
      {depth !== null && <Toasts depth={depth} />}
    </dialog>
  );
}
