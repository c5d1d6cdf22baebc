// The editor of chapter 6. Python comes when the button is pressed, from the site's own files, and runs in a worker.
(() => {
  const place = document.querySelector(".classroom");
  if (!place) return;
  const [code, button, said] = ["textarea", "button", "pre"].map((tag) => place.querySelector(tag));
  const root = document.documentElement.dataset.content_root ?? "./";
  const ALONE = "Python cannot run in this page (it is opened from a file, or was built without it). Put the code into my_value.py, and run: retrograd grade my_value.py";
  const SECONDS = 30;
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
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) button.click();
  });
})();
