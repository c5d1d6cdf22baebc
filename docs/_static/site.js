// The figures of the site: each becomes a frame with the explorer, or with the lesson's figure, when it comes near the window. Sentences bound to a
// figure lead it to a step; all of them follow the theme.
(() => {
  const root = document.documentElement.dataset.content_root ?? "./";
  const frames = new Map();
  const theme = () => document.body.dataset.theme ?? "auto";

  // The number makes each address another one: a sentence that is pressed again acts again.
  let count = 0;
  const address = (place, options) => `${root}${place.dataset.page}#${place.dataset.link ?? "figure=1"}&theme=${theme()}&n=${++count}&${options}`;

  function show(place) {
    if (frames.has(place)) return frames.get(place);
    const frame = document.createElement("iframe");
    frame.title = place.dataset.title ?? "The explorer: an expression, step by step";
    frame.src = address(place, place.dataset.options);
    frames.set(place, frame);
    place.replaceChildren(frame);
    return frame;
  }

  // Another place in the same page: a changed hash loads nothing again, and leaves no entry in the history.
  function lead(place, options) {
    const before = frames.get(place);
    if (before === undefined) {
      place.dataset.options += `&${options}`;
      show(place);
    } else {
      before.contentWindow.location.replace(new URL(address(place, options), location.href).href);
    }
  }

  // A figure of the lesson says how high it is.
  addEventListener("message", ({ data, source }) => {
    if (data?.retrograd !== "height") return;
    for (const [place, frame] of frames) if (frame.contentWindow === source) place.style.setProperty("--height", `${data.height}px`);
  });

  const near = new IntersectionObserver((entries) => entries.forEach((entry) => entry.isIntersecting && show(entry.target)), {
    rootMargin: "300px",
  });
  document.querySelectorAll(".live-frame").forEach((place) => near.observe(place));

  document.addEventListener("click", (event) => {
    const sentence = event.target.closest?.("button.bound");
    if (!sentence) return;
    const place = document.querySelector(`.live-frame[data-name="${CSS.escape(sentence.dataset.figure)}"]`);
    if (!place) return;
    lead(place, sentence.dataset.options);
    place.scrollIntoView({ block: "nearest" });
  });

  // The theme's two drawers open by labels, which no key reaches: the icon in each is a button here.
  const DRAWERS = { __navigation: ["Site navigation", ".sidebar-drawer"], __toc: ["On this page", ".toc-drawer"] };
  const seen = (places) => [...places].find((place) => place.getClientRects().length);
  for (const [id, [name, drawer]] of Object.entries(DRAWERS)) {
    const box = document.getElementById(id);
    document.querySelectorAll(`label[for="${id}"] .icon`).forEach((icon) => {
      Object.assign(icon, { tabIndex: 0, role: "button", ariaLabel: name, ariaExpanded: "false" });
      box.addEventListener("change", () => (icon.ariaExpanded = String(box.checked)));
      icon.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        box.click();
        if (box.checked) seen(document.querySelector(drawer).querySelectorAll("a, input"))?.focus({ preventScroll: true });
      });
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.querySelectorAll(".sidebar-toggle:checked").forEach((box) => {
      box.click();
      seen(document.querySelectorAll(`label[for="${box.id}"] [role=button]`))?.focus();
    });
  });

  // What is wider than its place is scrolled by the arrow keys too: Tab comes to it.
  const reach = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }));
  document.querySelectorAll("pre, .table-wrapper, .formula").forEach((place) => reach.observe(place));

  new MutationObserver(() => [...frames.keys()].forEach((place) => lead(place, ""))).observe(document.body, {
    attributes: true,
    attributeFilter: ["data-theme"],
  });
})();
