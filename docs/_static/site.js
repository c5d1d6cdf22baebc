// The figures of the site: each becomes a frame with the explorer when it comes near the window. Sentences bound to a
// figure lead it to a step; all of them follow the theme.
(() => {
  const root = document.documentElement.dataset.content_root ?? "./";
  const frames = new Map();
  const theme = () => document.body.dataset.theme ?? "auto";

  const address = (place, options) => `${root}${place.dataset.page}#figure=1&theme=${theme()}&${options}`;

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

  new MutationObserver(() => [...frames.keys()].forEach((place) => lead(place, ""))).observe(document.body, {
    attributes: true,
    attributeFilter: ["data-theme"],
  });
})();
