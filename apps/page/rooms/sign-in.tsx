import { useEffect, useState } from "preact/hooks";
import { loadSession, SIGN_IN_PATH, signIn } from "../data/session.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Mark } from "../ui/mark.tsx";
import { Problem } from "../ui/states.tsx";
import { sentenceOf } from "../wire.ts";

/** The one of a one-time address; "" at every other one. */
export function tokenOfAddress(): string {
  return location.pathname === SIGN_IN_PATH ? location.hash.slice(1) : "";
}

/** By the one-time address that the server printed, or by a key that is pasted. */
export function SignIn() {
  const [key, setKey] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);

  const enter = async (by: { readonly token: string } | { readonly key: string }): Promise<void> => {
    setIsBusy(true);
    setError(null);
    try {
      await signIn(by);
    } catch (reason) {
      setError(sentenceOf(reason));
      // An old address ends no session.
      if ("token" in by) await loadSession();
    }
    setIsBusy(false);
  };

  useEffect(() => {
    document.title = "Sign in · Posthorn";
    const token = tokenOfAddress();
    if (token === "") return;
    // It works once: neither the history nor a bookmark shall keep it.
    history.replaceState(null, "", SIGN_IN_PATH);
    void enter({ token });
  }, []);

  return (
    <main class="alone">
      <div class="card stack sign-in">
        <div class="brand">
          <Mark />
          Posthorn
        </div>
        <h1>Sign in</h1>
        <p class="muted">
          Run <code>posthorn open</code> on the machine that runs Posthorn. It prints an address that signs
          you in.
        </p>
        {error !== null && <Problem sentence={error} />}
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void enter({ key: key.trim() });
          }}
        >
          <Field label="Or paste an API key" help="It begins with phk_. This browser keeps no copy of it.">
            {(control) => (
              <input
                {...control}
                type="password"
                autocomplete="off"
                spellcheck={false}
                required
                value={key}
                onInput={(event) => setKey(event.currentTarget.value)}
              />
            )}
          </Field>
          <Button kind="main" type="submit" isBusy={isBusy}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}
