import { type Bridge, type HostAbilities, NO_ABILITIES, type ToolAnswer } from "./bridge.ts";
import { type Json, jsonOf } from "./json.ts";
import { applyContext, type Layout, readLayout } from "./host-context.ts";

/**
 * A host replaces the context that it got before, so that all changes are told each time; the latest are
 * enough.
 */
const MAX_CHANGES_TOLD = 20;

const NOT_CONNECTED: ToolAnswer = {
  isError: true,
  structured: null,
  note: null,
  text: "The page is not connected.",
};

/** The application around the page, as an app uses it once they are connected. */
export class Host {
  readonly #changes: string[] = [];
  #bridge: Bridge | null = null;
  #abilities = NO_ABILITIES;
  #context: Json = {};

  get abilities(): HostAbilities {
    return this.#abilities;
  }

  get context(): Json {
    return this.#context;
  }

  begin(bridge: Bridge, abilities: HostAbilities): void {
    this.#bridge = bridge;
    this.#abilities = abilities;
  }

  /** Puts what changed on the page, and answers what it leaves room for. */
  takeContext(changes: Json): Layout {
    this.#context = { ...this.#context, ...changes };
    applyContext(document.documentElement, this.#context);
    return readLayout(this.#context);
  }

  /** Never rejects. */
  call(name: string, args: Json): Promise<ToolAnswer> {
    return this.#bridge?.callTool(name, args) ?? Promise.resolve(NOT_CONNECTED);
  }

  /** Rejects where the host does not open it. */
  async openLink(url: string): Promise<void> {
    await this.#bridge?.request("ui/open-link", { url });
  }

  /** What changed of the context; nothing where the host did not do it. */
  async toggleFullscreen({ isFullscreen }: Layout): Promise<Json> {
    const asked = { mode: isFullscreen ? "inline" : "fullscreen" };
    const result = await this.#bridge?.request("ui/request-display-mode", asked).catch(() => null);
    const { mode } = jsonOf(result);
    return mode === undefined ? {} : { displayMode: mode };
  }

  /**
   * The model's picture is from before. `intro` with the changes, in ids and times alone: texts of posts could
   * speak to it.
   */
  tellModel(intro: string, change: string): void {
    this.#changes.push(change);
    if (!this.#abilities.takesContext) return;
    const text = `${intro} ${this.#changes.slice(-MAX_CHANGES_TOLD).join("; ")}.`;
    this.#bridge?.request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {
      // The change itself is done, and the model can look it up.
    });
  }
}
