/** Parts of the graph that are drawn again only when what they look like has changed. */

import { Component } from "preact";
import type { State, Store } from "../state/store";

export interface Props {
  readonly store: Store;
  readonly state: State;
}

/** Drawn again only when its mark, what it looks like in few words, or the whole picture has changed. */
export abstract class Marked<P extends Props & { readonly mark: string }> extends Component<P> {
  override shouldComponentUpdate(next: Readonly<P>): boolean {
    const { mark, state } = this.props;
    return next.mark !== mark || next.state.scene !== state.scene || next.state.shown !== state.shown;
  }
}
