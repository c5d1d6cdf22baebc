/** What a compiler made of the graph: its program line by line, and which scalars each line computes. */

import { Component, createRef, type JSX } from "preact";
import type { PanelProps } from "./parts";

interface Program {
  readonly lines: readonly string[];
  /** For a node, the line that computes it. */
  readonly line: Readonly<Record<string, number>>;
}

export class Listing extends Component<PanelProps, { readonly line: number | null }> {
  private readonly frame = createRef<HTMLDivElement>();
  override state: { readonly line: number | null } = { line: null };

  private get program(): Program {
    return this.props.figure.extra.program as Program;
  }

  private choose(line: number | null): void {
    this.setState({ line });
    this.props.store.select(null);
  }

  override componentDidUpdate(before: PanelProps): void {
    const { selection } = this.props.state;
    if (selection !== before.state.selection && selection?.kind === "node") {
      const line = this.program.line[String(selection.id)] ?? null;
      if (line !== this.state.line) this.setState({ line });
    }
    this.light();
  }

  /** Mark the boxes of the chosen line in the graph. */
  private light(): void {
    const figure = this.frame.current?.closest(".figure");
    for (const box of figure?.querySelectorAll<SVGGElement>("[data-node]") ?? []) {
      const own = this.program.line[box.dataset.node ?? ""];
      box.toggleAttribute("data-lit", this.state.line !== null && own === this.state.line);
    }
  }

  /** What the chosen line computes; it is called by the number that stands before it, or by its place where none does. */
  private reading(): string {
    const { words } = this.props;
    const { line } = this.state;
    if (line === null) return words.say("listing_before");
    const own = /^\d+/.exec(this.program.lines[line]);
    const count = Object.values(this.program.line).filter((other) => other === line).length;
    return words.say(count ? "listing_reading" : "listing_none", { line: own === null ? line + 1 : own[0], count });
  }

  override render(): JSX.Element {
    const { words } = this.props;
    const { line } = this.state;
    return (
      <div class="listing-view" ref={this.frame}>
        <ol class="listing" aria-label={words.say("listing_label")}>
          {this.program.lines.map((text, k) => (
            <li key={k}>
              <button type="button" aria-pressed={line === k} onClick={() => this.choose(line === k ? null : k)}>
                <code>{text}</code>
              </button>
            </li>
          ))}
        </ol>
        <p class="reading" role="status">
          {this.reading()}
        </p>
      </div>
    );
  }
}
