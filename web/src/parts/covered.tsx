/** In place of a view that would tell the gradients while they are to be worked out. */

import type { JSX } from "preact";
import type { Store } from "../state/store";

export function Covered({ store }: { store: Store }): JSX.Element {
  return (
    <div class="panel">
      <p>The gradients are covered: work them out, and enter them.</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => store.setTab("predict")}>
          Enter them
        </button>
      </p>
    </div>
  );
}
