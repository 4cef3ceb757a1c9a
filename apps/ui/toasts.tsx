import { effect, signal } from "@preact/signals";
import { X } from "lucide-preact";
import { isUnreached, offline } from "../shared/reach.ts";
import type { Message } from "./message.ts";
import { classes } from "./classes.ts";
import { Button, ButtonLink, IconButton } from "./button.tsx";

interface Toast extends Message {
  readonly id: number;
  readonly undo: (() => void) | null;
  /** What `undo` is called on its button. */
  readonly action?: string;
  /** It is about the present task, and closes with it. */
  readonly isComplaint?: boolean;
}

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

// That the server was out of reach is over once it answers again.
effect(() => {
  if (offline.value !== null) return;
  const shown = toasts.peek();
  const left = shown.filter(({ isComplaint, text }) => isComplaint !== true || !isUnreached(text));
  if (left.length < shown.length) toasts.value = left;
});

/** Long enough to read a sentence and to reach a button. */
const SHOWN_MS = 8_000;

/** Says that something was done. `undo` takes it back. */
export function say(text: string, undo: (() => void) | null = null): void {
  closeComplaints();
  add({ text, undo });
}

/** Says that something was done, and leads on to it. */
export function sayWith(text: string, action: string, go: () => void): void {
  add({ text, undo: go, action });
}

/** Says that something was refused. It stays until it is closed, mended or left. */
export function complain(text: string): void {
  add({ text, undo: null, isBad: true, isComplaint: true });
}

/** Closes complaints: the task is done or left. So is what the room shows by now. */
export function closeComplaints(): void {
  const left = toasts.value.filter((one) => one.isComplaint !== true && isNews(one));
  if (left.length < toasts.value.length) toasts.value = left;
}

/** Those that a person closed: nothing more is said of what they were about. */
const closed = new Set<number>();

/**
 * Says what has begun. It stays until it is turned into what came of it, or closed. What is not the last word
 * (`isOver` false) shows only in its place.
 */
export function sayFirst(message: Message): (then: Message, isOver: boolean) => void {
  const id = show({ ...message, undo: null });
  return (then, isOver) => {
    const isThere = toasts.value.some((one) => one.id === id);
    if (!isThere && isOver && !closed.has(id)) return add({ ...then, undo: null });
    toasts.value = toasts.value.map((one) => (one.id === id ? { ...then, undo: null, id } : one));
    if (isOver && then.isBad !== true) setTimeout(() => close(id), SHOWN_MS);
  };
}

function add(toast: Omit<Toast, "id">): void {
  const id = show(toast);
  if (toast.isBad !== true) setTimeout(() => close(id), SHOWN_MS);
}

function show(toast: Omit<Toast, "id">): number {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }];
  return id;
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** What failed is not said where all that failed is listed. */
function isNews({ isBad, links = [] }: Message): boolean {
  return !(isBad === true && links.some((link) => link.isShown?.() === true));
}

/** The number of open dialogs. Only the top one is seen and read. */
export const sheetsOpen = signal(0);

/** `depth`: of the dialog that it stands in; only the one on top shows anything. */
export function Toasts({ depth = 0 }: { readonly depth?: number }) {
  if (depth !== sheetsOpen.value) return null;
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <ToastBox key={toast.id} {...toast} />
      ))}
    </div>
  );
}

/** What is longer than its box is scrolled; other text lets what is below it be pressed. */
function markScrolled(text: HTMLElement | null): void {
  text?.classList.toggle("scrolled", text.scrollHeight > text.clientHeight);
}

/** So long is the text of a link that stands beside what is said, on a phone. */
const MAX_BESIDE = 16;

function ToastBox({ id, text, isBad = false, links = [], undo, action = "Undo" }: Toast) {
  const shown = links.filter((link) => link.isShown?.() !== true);
  const isTall = shown.length > 1 || shown.some((link) => link.text.length > MAX_BESIDE);
  return (
    <div class={classes("toast", isBad && "bad", isTall && "many")}>
      <span dir="auto" ref={markScrolled}>
        {text}
      </span>
      <div class="toast-foot">
        <div class="toast-ways">
          {shown.map((link) => (
            <ButtonLink key={link.href} isSmall href={link.href} isOutside={link.isOutside === true}>
              {link.text}
            </ButtonLink>
          ))}
          {undo !== null && (
            <Button
              isSmall
              onClick={() => {
                close(id);
                undo();
              }}
            >
              {action}
            </Button>
          )}
        </div>
        <IconButton
          isSmall
          label="Close this message"
          onClick={() => {
            closed.add(id);
            close(id);
          }}
        >
          <X aria-hidden="true" />
        </IconButton>
      </div>
    </div>
  );
}
