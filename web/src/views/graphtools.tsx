/** In the corner of the graph: folding and zoom. */

import type { JSX, RefObject } from "preact";
import type { State, Store } from "../state/store";

interface View {
  zoom(factor: number): void;
  fit(): void;
}

interface Props {
  readonly store: Store;
  readonly state: State;
  readonly view: RefObject<View>;
  /** Larger graphs are not unfolded all at once. */
  readonly most: number;
  /** What zooms besides the buttons. */
  readonly wheel: string;
}

export function GraphTools({ store, state, view, most, wheel }: Props): JSX.Element {
  return (
    <div class="tools" role="group" aria-label="Graph">
      <FoldButton store={store} state={state} most={most} />
      <button type="button" aria-label="Zoom out" title={`Zoom out (${wheel})`} onClick={() => view.current?.zoom(0.8)}>
        −
      </button>
      <button type="button" aria-label="Zoom in" title={`Zoom in (${wheel})`} onClick={() => view.current?.zoom(1.25)}>
        +
      </button>
      <button type="button" onClick={() => view.current?.fit()} title="Fit (F)">
        Fit
      </button>
    </div>
  );
}

function FoldButton({ store, state, most }: Pick<Props, "store" | "state" | "most">): JSX.Element | null {
  const { tree, open } = state;
  if (tree.groups.length < 2) return null;
  const unfolds = open.size < tree.groups.length && tree.graph.count <= most;
  return (
    <button type="button" aria-disabled={!unfolds && !store.isUnfolded} onClick={() => store.unfoldAll(unfolds)}>
      {unfolds ? "Unfold all" : "Fold"}
    </button>
  );
}
