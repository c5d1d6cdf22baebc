/**
 * Folding: a tree of groups over the nodes of a graph, and which of them are open.
 *
 * Python makes the groups (a call, a layer, a neuron; see trace/groups.py). Every group of operations is one stretch of the program, so
 * that folded groups never depend on each other in a circle.
 */

import { type Graph, OPERATION } from "./graph";

/** The groups as Python gives them, parents first; `owner` is the group of every node. */
export interface Folding {
  readonly groups: readonly { readonly parent: number; readonly kind: string; readonly label: string; readonly path: string }[];
  readonly owner: Int32Array;
}

export interface Group {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly parent: Group | null;
  readonly groups: Group[];
  /** The nodes that are in this group and in none of its groups. */
  readonly nodes: number[];
  /** The operations inside, at any depth, and all nodes. */
  size: number;
  count: number;
}

export class FoldTree {
  readonly groups: Group[] = [];
  readonly root: Group;
  /** The innermost group of each node. */
  readonly home: Group[];

  constructor(
    readonly graph: Graph,
    folding: Folding | null,
  ) {
    for (const { parent, kind, label, path } of folding?.groups ?? [{ parent: -1, kind: "program", label: graph.title, path: "" }]) {
      const above = parent < 0 ? null : this.groups[parent];
      const group: Group = { id: this.groups.length, name: label, kind, path, parent: above, groups: [], nodes: [], size: 0, count: 0 };
      above?.groups.push(group);
      this.groups.push(group);
    }
    this.root = this.groups[0];
    this.home = Array.from({ length: graph.count }, (_, node) => this.groups[folding?.owner[node] ?? 0]);
    this.home.forEach((group, node) => group.nodes.push(node));
    // Parents come first, so that from the back every group is complete when it is added to its parent.
    for (const group of [...this.groups].reverse()) {
      group.count += group.nodes.length;
      group.size += group.nodes.filter((node) => graph.kinds[node] === OPERATION).length;
      if (group.parent !== null) {
        group.parent.size += group.size;
        group.parent.count += group.count;
      }
    }
  }

  /** The group and the groups around it, the innermost first. */
  *around(group: Group): Generator<Group> {
    for (let at: Group | null = group; at !== null; at = at.parent) yield at;
  }
}

/**
 * The groups to open at first: all of a small graph, else level by level as long as no more than `most` boxes are seen.
 *
 * A group that stands alone is opened with the one around it, for it would tell nothing new.
 */
export function openAtFirst(tree: FoldTree, whole: number, most: number): Set<number> {
  if (tree.graph.count <= whole) return new Set(tree.groups.map((group) => group.id));
  const open = new Set<number>();
  let seen = 1;
  let level: Group[] = [tree.root];
  while (level.length) {
    const opened = level.filter((group) => group.kind !== "inputs");
    const more = opened.reduce((sum, group) => sum + group.nodes.length + group.groups.length - 1, 0);
    if (opened.length === 0 || (open.size > 0 && seen + more > most && opened.length > 1)) break;
    seen += more;
    for (const group of opened) open.add(group.id);
    level = opened.flatMap((group) => group.groups);
  }
  return open;
}

/** What opens with a group: the group inside it, where that is all there is. */
export function alone(group: Group): Group[] {
  const [only] = group.groups;
  return group.groups.length === 1 && group.nodes.length === 0 ? [group, ...alone(only)] : [group];
}
