/** The frame of every dialog. */

import { Component, createRef, type ComponentChildren, type JSX } from "preact";
import type { Store } from "../state/store";

/** A modal dialog, which Escape and a click beside it close. */
export class Dialog extends Component<{ store: Store; title: string; children: ComponentChildren }> {
  private readonly dialog = createRef<HTMLDialogElement>();
  private before: Element | null = null;

  override componentDidMount(): void {
    this.before = document.activeElement;
    this.dialog.current?.showModal();
    this.dialog.current?.querySelector<HTMLElement>("[autofocus], input, ul button")?.focus();
  }

  override componentWillUnmount(): void {
    // What is behind an open dialog cannot take the focus.
    this.dialog.current?.close();
    if (this.before instanceof HTMLElement || this.before instanceof SVGElement) this.before.focus();
  }

  override render(): JSX.Element {
    const { store, title, children } = this.props;
    const close = (): void => store.set({ dialog: null });
    return (
      <dialog ref={this.dialog} aria-label={title} onClose={close} onClick={(event) => event.target === this.dialog.current && close()}>
        <div class="sheet">
          <header>
            <h2>{title}</h2>
            <button type="button" onClick={close} aria-label="Close">
              ✕
            </button>
          </header>
          {children}
        </div>
      </dialog>
    );
  }
}
