// The editor of chapter 6. Python comes when the button is pressed, from the site's own files, and runs in a worker.
(() => {
  const place = document.querySelector(".classroom");
  if (!place) return;
  const [code, button, said] = ["textarea", "button", "pre"].map((tag) => place.querySelector(tag));
  const root = document.documentElement.dataset.content_root ?? "./";
  const ALONE = "Python cannot run in this page (it is opened from a file, or was built without it). Put the code into my_value.py, and run: retrograd grade my_value.py";
  const SECONDS = 30;
  const KEY = "retrograd-class-1";
  const given = code.defaultValue;
  let worker = null;
  let timer = 0;

  function end(text) {
    clearTimeout(timer);
    said.textContent = text;
    button.disabled = false;
  }

  function stop(text) {
    worker?.terminate();
    worker = null;
    end(text);
  }

  function begin() {
    if (location.protocol === "file:") return stop(ALONE);
    worker = new Worker(`${root}live/classroom.js`, { type: "module" });
    worker.onerror = () => stop(ALONE);
    worker.onmessage = ({ data }) => {
      if (data.ready) examine();
      else if (data.failed) stop(`${ALONE}\n${data.failed}`);
      else end(data.report);
    };
    said.textContent = "Python is being loaded, once: 13 MB from this site …";
  }

  function examine() {
    said.textContent = "Examining …";
    timer = setTimeout(() => stop(`No answer after ${SECONDS} seconds: is there a loop that never ends?`), 1000 * SECONDS);
    worker.postMessage(code.value);
  }

  button.addEventListener("click", () => {
    button.disabled = true;
    if (worker) examine();
    else begin();
  });
  code.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    if (event.ctrlKey || event.metaKey) return button.click();
    const before = code.value.slice(0, code.selectionStart).split("\n").at(-1);
    const indent = before.match(/^ */)[0] + (/:\s*$/.test(before) ? "    " : "");
    if (indent === "" || event.shiftKey) return;
    event.preventDefault();
    type(`\n${indent}`);
  });

  /** Type text over what is selected, so that the browser can undo it. */
  function type(text) {
    code.focus();
    document.execCommand("insertText", false, text);
  }

  // Half an hour of work outlives a reload, where the browser keeps anything at all.
  function kept(use) {
    try {
      return use(localStorage);
    } catch {
      return null;
    }
  }

  code.value = kept((storage) => storage.getItem(KEY)) ?? given;
  code.addEventListener("input", () => {
    again.hidden = code.value === given;
    kept((storage) => (again.hidden ? storage.removeItem(KEY) : storage.setItem(KEY, code.value)));
  });
  const again = document.createElement("button");
  again.type = "button";
  again.className = "again";
  again.textContent = "Start over";
  again.hidden = code.value === given;
  button.after(again);
  again.addEventListener("click", () => {
    code.select();
    type(given);
  });
})();
