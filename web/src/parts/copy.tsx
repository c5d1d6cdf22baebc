/** A button that copies text. */

import { Component, type ComponentChildren, type JSX } from "preact";

interface Props {
  readonly text: string;
  readonly children: ComponentChildren;
}

/** Copies text; where the browser forbids it, the text above is there to be selected. */
export class CopyButton extends Component<Props, { said: string | null }> {
  override state: { said: string | null } = { said: null };
  private timer = 0;

  override componentWillUnmount(): void {
    clearTimeout(this.timer);
  }

  override render(): JSX.Element {
    return (
      <button type="button" onClick={(event) => this.copy(event.currentTarget)}>
        {this.state.said ?? this.props.children}
      </button>
    );
  }

  private copy(button: HTMLElement): void {
    const { text } = this.props;
    const tell = (said: string): void => {
      this.setState({ said });
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.setState({ said: null }), 1200);
    };
    const old = (): void => tell(copyOldWay(text, button) ? "Copied" : "Select the text to copy it");
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => tell("Copied"), old);
    else old();
  }
}

/** For a page that is neither a file nor behind https: such a page has no clipboard. */
function copyOldWay(text: string, button: HTMLElement): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  // Nothing outside an open dialog can be selected.
  (button.parentElement ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  button.focus();
  return done;
}
