/** A button that copies text. */

import type { ComponentChildren, JSX } from "preact";

/** Copies text; where the browser forbids it, the text above is there to be selected. */
export function CopyButton({ text, children }: { text: string; children: ComponentChildren }): JSX.Element {
  const copy = (event: MouseEvent): void => {
    const button = event.currentTarget as HTMLButtonElement;
    const said = button.textContent;
    const tell = (word: string): void => {
      button.textContent = word;
      setTimeout(() => (button.textContent = said), 1200);
    };
    const old = (): void => tell(copyOldWay(text) ? "Copied" : "Select the text to copy it");
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => tell("Copied"), old);
    else old();
  };
  return (
    <button type="button" onClick={copy}>
      {children}
    </button>
  );
}

function copyOldWay(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
