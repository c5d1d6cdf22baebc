/** Saves the graph as SVG or PNG, with its styles written into it, so that it looks the same everywhere. */

import type { Layout } from "../layout/layout";

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "display", "font-variant-numeric"];
const MARGIN = 24;

/** The whole graph as an SVG file's text, whatever part of it is in view. */
export function svgText(svg: SVGSVGElement, layout: Layout, title: string): string {
  // Everything is written out, however far away it is seen at the moment.
  const far = [...svg.querySelectorAll(".far")];
  for (const element of far) element.classList.remove("far");
  const copy = svg.cloneNode(true) as SVGSVGElement;
  inline(svg, copy);
  for (const element of far) element.classList.add("far");
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN];
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `${-MARGIN} ${-MARGIN} ${width} ${height}` })) {
    copy.setAttribute(name, String(value));
  }
  for (const name of ["class", "style", "role", "aria-label"]) copy.removeAttribute(name);
  copy.querySelector("g")?.removeAttribute("transform");
  copy.querySelectorAll(".hit, .tokens, .afar").forEach((element) => element.remove());
  for (const element of copy.querySelectorAll("*")) {
    for (const { name } of [...element.attributes]) if (/^(tabindex|role|class|aria-|data-)/.test(name)) element.removeAttribute(name);
  }
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const explorer = svg.closest(".explorer");
  const color = explorer ? getComputedStyle(explorer).backgroundColor : "white";
  for (const [name, value] of Object.entries({ x: -MARGIN, y: -MARGIN, width, height, fill: color })) paper.setAttribute(name, String(value));
  const label = document.createElementNS("http://www.w3.org/2000/svg", "title");
  label.textContent = title;
  copy.prepend(label, paper);
  return new XMLSerializer().serializeToString(copy);
}

/** Write the computed styles of every element into its copy. */
function inline(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  for (const name of STYLES) {
    const value = style.getPropertyValue(name);
    if (value) to.setAttribute(name, value);
  }
  to.removeAttribute("style");
  for (let k = 0; k < from.children.length; k++) inline(from.children[k], to.children[k]);
}

/** The same as a PNG, at twice the size. */
export async function pngBlob(text: string): Promise<Blob> {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode().finally(() => URL.revokeObjectURL(address));
  // Browsers draw no canvas that is larger.
  const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(image.width * scale);
  canvas.height = Math.ceil(image.height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large."))), "image/png");
  });
}

export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
