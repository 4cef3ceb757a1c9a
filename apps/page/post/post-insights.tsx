import { useState } from "preact/hooks";
import type { Insights, Post } from "../../../src/domain/posts/post.ts";
import { platformTitle } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";
import { useWork } from "../../ui/use-work.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/states.tsx";

/** Live numbers, asked for when someone wants them: platforms count each question. */
export function PostInsights({ post }: { readonly post: Post }) {
  const [insights, setInsights] = useState<Insights | null>(null);
  const { isBusy, error, run } = useWork();
  const ask = (): Promise<boolean> =>
    run(async () => {
      const answer = await call("get_post", { id: post.id, insights: true });
      setInsights(answer.insights ?? null);
    });
  return (
    <section class="post-insights" aria-live="polite">
      <h3>Figures</h3>
      {error !== null && <Problem sentence={error} />}
      {insights !== null && <Figures insights={insights} />}
      <Button isSmall isBusy={isBusy} onClick={() => void ask()}>
        {insights === null ? `Ask ${platformTitle(post.provider)} for figures` : "Ask again"}
      </Button>
    </section>
  );
}

function Figures({ insights }: { readonly insights: Insights }) {
  if (!insights.available) return <p class="muted">{insights.reason ?? "There are no figures now."}</p>;
  const known = Object.entries(insights.metrics).filter(([, value]) => value !== null);
  return (
    <>
      {insights.state !== "live" && <p>It is {insights.state} on the platform.</p>}
      {known.length === 0 ? (
        <p class="muted">The platform gives no figures for this post.</p>
      ) : (
        <dl class="post-figures">
          {known.map(([name, value]) => (
            <div key={name}>
              <dt>{name.replace(/^./, (letter) => letter.toUpperCase())}</dt>
              <dd>{(value ?? 0).toLocaleString("en")}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
