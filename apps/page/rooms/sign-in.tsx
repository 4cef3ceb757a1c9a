import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { replaceAddress } from "../data/address.tsx";
import { loadSession, SIGN_IN_PATH, signIn } from "../data/session.ts";
import { useWork } from "../../ui/use-work.ts";
import { Button } from "../../ui/button.tsx";
import { Form, TextField } from "../../ui/field.tsx";
import { Mark } from "../../ui/mark.tsx";
import { giveBack } from "../../ui/sheet.tsx";
import { Problem } from "../../ui/states.tsx";

/** The one of a one-time address; "" at every other one. */
export function tokenOfAddress(): string {
  return location.pathname === SIGN_IN_PATH ? location.hash.slice(1) : "";
}

/** By the one-time address that the server printed, or by a key that is pasted. */
export function SignIn() {
  return (
    <main class="alone">
      <SignInCard lead="" titleId={useId()} />
    </main>
  );
}

/** Over the rooms, which are not seen: what was being done in them goes on afterwards. */
export function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const { title, activeElement: before } = document;
    dialog.current?.showModal();
    return () => {
      document.title = title;
      giveBack(before);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="alone again"
      aria-labelledby={titleId}
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
    >
      <SignInCard lead="Your session ended. What you were doing is still here." titleId={titleId} />
    </dialog>
  );
}

function SignInCard({ lead, titleId }: { readonly lead: string; readonly titleId: string }) {
  const [key, setKey] = useState("");
  const { isBusy, error, run } = useWork();

  const enter = async (by: { readonly token: string } | { readonly key: string }): Promise<void> => {
    const isIn = await run(() => signIn(by));
    // An old address ends no session.
    if (!isIn && "token" in by) await loadSession();
  };

  useEffect(() => {
    document.title = "Sign in · Posthorn";
    const token = tokenOfAddress();
    if (token === "") return;
    // It works once: neither the history nor a bookmark shall keep it.
    replaceAddress(SIGN_IN_PATH);
    void enter({ token });
  }, []);

  useEffect(() => {
    // The one-time address may be opened in another tab.
    const look = (): void => {
      if (document.visibilityState === "visible") void loadSession();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);

  return (
    <div class="card stack sign-in">
      <div class="brand">
        <Mark />
        Posthorn
      </div>
      <h1 id={titleId}>Sign in</h1>
      {lead !== "" && <p>{lead}</p>}
      <p class="muted">
        Run <code>posthorn open</code> on the machine that runs Posthorn, or{" "}
        <code>node dist/posthorn.js open</code> in a folder of its sources. It prints an address that signs
        you in.
      </p>
      {error !== null && <Problem sentence={error} />}
      <Form class="stack" onSubmit={() => void enter({ key: key.trim() })}>
        <TextField
          label="Or paste an API key"
          help="It begins with phk_. This browser keeps no copy of it."
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={key}
          onText={setKey}
        />
        <Button kind="main" type="submit" isBusy={isBusy}>
          Sign in
        </Button>
      </Form>
    </div>
  );
}
