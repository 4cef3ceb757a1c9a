import { type HostAbilities, NO_ABILITIES, type ToolAnswer } from "./bridge.ts";
import type { Json } from "./json.ts";
import { applyContext, type Layout, readLayout } from "./host-context.ts";
import type { Wire } from "./wire.ts";

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
  readonly #root: HTMLElement | null;
  #wire: Wire | null = null;
  #abilities = NO_ABILITIES;
  #context: Json = {};

  /** `root`: what takes the host's theme, room and colours. Null: nothing does. */
  constructor(root: HTMLElement | null = document.documentElement) {
    this.#root = root;
  }

  get abilities(): HostAbilities {
    return this.#abilities;
  }

  get context(): Json {
    return this.#context;
  }

  begin(wire: Wire, abilities: HostAbilities): void {
    this.#wire = wire;
    this.#abilities = abilities;
  }

  /** Puts what changed on the page, and answers what it leaves room for. */
  takeContext(changes: Json): Layout {
    this.#context = { ...this.#context, ...changes };
    if (this.#root !== null) applyContext(this.#root, this.#context);
    return readLayout(this.#context);
  }

  /** Never rejects. */
  call(name: string, args: Json): Promise<ToolAnswer> {
    return this.#wire?.callTool(name, args) ?? Promise.resolve(NOT_CONNECTED);
  }

  /** Rejects where the host does not open it. */
  async openLink(url: string): Promise<void> {
    await this.#wire?.openLink(url);
  }

  /** The changes of the context; empty if the host did nothing. */
  async toggleFullscreen({ isFullscreen }: Layout): Promise<Json> {
    return (await this.#wire?.requestMode(isFullscreen ? "inline" : "fullscreen").catch(() => ({}))) ?? {};
  }

  /**
   * The model knows the state of before. `intro` with the changes, in ids and times alone: texts of posts could
   * speak to it.
   */
  updateModel(intro: string, change: string): void {
    this.#changes.push(change);
    if (!this.#abilities.takesContext) return;
    const text = `${intro} ${this.#changes.slice(-MAX_CHANGES_TOLD).join("; ")}.`;
    this.#wire?.updateModel(text).catch(() => {
      // The change itself is done, and the model can look it up.
    });
  }
}
