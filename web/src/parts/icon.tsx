/** A small picture in a button. */

import type { JSX } from "preact";

export function Icon({ d, line }: { d: string; line?: boolean }): JSX.Element {
  return (
    <svg class={line ? "icon line" : "icon"} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={d} />
    </svg>
  );
}
