/**
 * Folding: a tree of groups over the nodes of a graph, and what of it is seen.
 *
 * Groups are the scopes in which the nodes were recorded (a function call, a layer, a neuron), where Python knew them. Where
 * many nodes stand side by side, they are grouped by structure: what is used once belongs to its use (a neuron), and
 * groups with the same inputs belong together (a layer). Every group is convex, so that folding never makes a cycle.
 */

import type { ScopesJson } from "./decode";
import { CONSTANT, type Graph, OPERATION } from "./graph";

/** From this many members on a group is divided further. */
const MANY = 48;

export interface Group {
  readonly id: number;
  readonly name: string;
  readonly parent: Group | null;
  readonly groups: Group[];
  /** The nodes that are in this group and in none of its groups. */
  readonly nodes: number[];
  /** The operations inside, at any depth. */
  size: number;
}

export class FoldTree {
  readonly groups: Group[] = [];
  readonly root: Group;
  /** The innermost group of each node. */
  readonly home: Group[];

  constructor(
    readonly graph: Graph,
    scopes: ScopesJson | null,
  ) {
    this.root = this.add("everything", null);
    this.home = new Array<Group>(graph.count).fill(this.root);
    if (scopes !== null && scopes.nodes.length === graph.count) this.fromScopes(scopes);
    else this.fill(this.root, Array.from(graph.operations));
    this.adopt();
    for (const group of this.groups) group.nodes.length = 0;
    this.home.forEach((group, node) => group.nodes.push(node));
    this.measure(this.root);
  }

  private add(name: string, parent: Group | null): Group {
    const group: Group = { id: this.groups.length, name, parent, groups: [], nodes: [], size: 0 };
    this.groups.push(group);
    parent?.groups.push(group);
    return group;
  }

  private measure(group: Group): number {
    group.size = group.nodes.filter((node) => this.graph.kinds[node] === OPERATION).length;
    for (const child of group.groups) group.size += this.measure(child);
    return group.size;
  }

  /** A group for each scope; a scope whose nodes are not one stretch of the program is one for each stretch. */
  private fromScopes(scopes: ScopesJson): void {
    const paths = scopes.names.map((_, scope) => pathTo(scopes.parents, scope));
    let open: { scope: number; group: Group }[] = [];
    const members = new Map<Group, number[]>();
    for (const node of this.graph.operations) {
      const path = paths[scopes.nodes[node]] ?? [];
      const shared = path.findIndex((scope, depth) => open[depth]?.scope !== scope);
      open = open.slice(0, shared < 0 ? path.length : shared);
      for (const scope of path.slice(open.length)) {
        open.push({ scope, group: this.add(scopes.names[scope], open.at(-1)?.group ?? this.root) });
      }
      const group = open.at(-1)?.group ?? this.root;
      this.home[node] = group;
      const own = members.get(group);
      if (own === undefined) members.set(group, [node]);
      else own.push(node);
    }
    for (const [group, nodes] of members) if (nodes.length > MANY) this.fill(group, nodes);
  }

  /** Put nodes into a group, dividing them by structure where they are many. */
  private fill(group: Group, nodes: readonly number[]): void {
    for (const node of nodes) this.home[node] = group;
    if (nodes.length <= MANY) return;
    const trees = this.usedOnce(nodes);
    const layers = this.sameInputs(trees);
    for (const layer of layers.length > 1 ? layers : trees.map((tree) => [tree])) {
      const home = layer.length > 1 ? this.add(this.layerName(layer), group) : group;
      for (const tree of layer) this.placeTree(home, tree, nodes.length);
    }
    if (group.groups.length > MANY) this.chunk(group);
  }

  private placeTree(home: Group, tree: readonly number[], total: number): void {
    if (tree.length < 3 || tree.length === total) {
      for (const node of tree) this.home[node] = home;
      if (tree.length > MANY) this.chunkNodes(home, tree);
      return;
    }
    const top = tree[tree.length - 1];
    const own = this.add(this.treeName(top), home);
    for (const node of tree) this.home[node] = own;
    if (tree.length > MANY) this.chunkNodes(own, tree);
  }

  private treeName(top: number): string {
    const { graph } = this;
    const operands = graph.operandsOf(top).filter((k) => graph.kinds[k] === OPERATION);
    const inner = graph.rows[top] !== "add" && operands.length === 1 ? ` of ${graph.ops[operands[0]]}` : "";
    return `${graph.names[top]}: ${graph.ops[top]}${inner}`;
  }

  private layerName(layer: readonly (readonly number[])[]): string {
    const tops = layer.map((tree) => this.graph.names[tree[tree.length - 1]]);
    return `${layer.length} × ${this.graph.ops[layer[0][layer[0].length - 1]]}: ${tops[0]} … ${tops[tops.length - 1]}`;
  }

  /** Nodes that are used once belong to their use: the trees that this makes, each with its top last. */
  private usedOnce(nodes: readonly number[]): number[][] {
    const inside = new Set(nodes);
    const top = new Map<number, number>();
    for (const node of [...nodes].reverse()) {
      const uses = this.graph.useEdges(node).map((edge) => this.graph.to[edge]);
      const only = uses.length === 1 && inside.has(uses[0]) ? uses[0] : null;
      top.set(node, only === null ? node : (top.get(only) ?? node));
    }
    return groupedBy(nodes, (node) => String(top.get(node)));
  }

  /** Trees with exactly the same operands from outside that are operations. */
  private sameInputs(trees: readonly number[][]): number[][][] {
    const { graph } = this;
    return groupedBy(trees, (tree) => {
      const inside = new Set(tree);
      const outside = tree.flatMap((node) => graph.operandsOf(node)).filter((k) => !inside.has(k) && this.shared(k));
      const key = [...new Set(outside)].sort((a, b) => a - b).join(" ");
      return key || `alone ${tree[0]}`;
    });
  }

  private shared(node: number): boolean {
    return this.graph.kinds[node] === OPERATION || (this.graph.kinds[node] !== CONSTANT && this.graph.useEdges(node).length > 1);
  }

  /** Too many groups side by side: stretches of them, in the order of the program. */
  private chunk(group: Group): void {
    const children = group.groups.splice(0);
    const size = Math.ceil(children.length / Math.ceil(Math.sqrt(children.length)));
    for (let from = 0; from < children.length; from += size) {
      const stretch = this.add(`part ${from / size + 1}`, group);
      for (const child of children.slice(from, from + size)) {
        (child as { parent: Group | null }).parent = stretch;
        stretch.groups.push(child);
      }
    }
  }

  private chunkNodes(group: Group, nodes: readonly number[]): void {
    const size = Math.max(MANY / 2, Math.ceil(nodes.length / Math.ceil(Math.sqrt(nodes.length))));
    for (let from = 0; from < nodes.length; from += size) {
      const part = nodes.slice(from, from + size);
      const { names } = this.graph;
      const stretch = this.add(`${names[part[0]]} … ${names[part[part.length - 1]]}`, group);
      if (part.length > MANY) this.chunkNodes(stretch, part);
      else for (const node of part) this.home[node] = stretch;
    }
  }

  /** Leaves and constants live in the innermost group that has all their uses. */
  private adopt(): void {
    const { graph } = this;
    for (let node = graph.count - 1; node >= 0; node--) {
      if (graph.kinds[node] === OPERATION) continue;
      const homes = graph.useEdges(node).map((edge) => this.home[graph.to[edge]]);
      this.home[node] = homes.length ? homes.reduce(commonGroup) : this.root;
    }
  }
}

function pathTo(parents: readonly number[], scope: number): number[] {
  const path = [scope];
  while (parents[path[0]] !== path[0]) path.unshift(parents[path[0]]);
  return path.slice(1);
}

function commonGroup(a: Group, b: Group): Group {
  const above = new Set<Group>();
  for (let group: Group | null = a; group !== null; group = group.parent) above.add(group);
  let group: Group = b;
  while (!above.has(group) && group.parent !== null) group = group.parent;
  return group;
}

function groupedBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const own = groups.get(key(item));
    if (own === undefined) groups.set(key(item), [item]);
    else own.push(item);
  }
  return [...groups.values()];
}

/** The groups to open at first, so that about `most` boxes are seen: the largest first. */
export function openAtFirst(tree: FoldTree, most: number): Set<number> {
  const open = new Set([tree.root.id]);
  const { graph } = tree;
  if (graph.count <= most) return new Set(tree.groups.map((group) => group.id));
  let seen = tree.root.nodes.length + tree.root.groups.length;
  const waiting = [...tree.root.groups];
  while (waiting.length) {
    waiting.sort((a, b) => b.size - a.size);
    const group = waiting.shift();
    if (group === undefined) break;
    const more = group.nodes.length + group.groups.length - 1;
    if (seen + more > most) continue;
    seen += more;
    open.add(group.id);
    waiting.push(...group.groups);
  }
  return open;
}
