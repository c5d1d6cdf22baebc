// Runs Python beside the page, so that an endless loop of a learner's can be ended.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = (async () => {
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  const packed = await (await fetch(new URL("./grader.zip", import.meta.url))).arrayBuffer();
  python.unpackArchive(packed, "zip", { extractDir: "/classroom" });
  python.runPython("import sys; sys.path.insert(0, '/classroom'); import classroom");
  return python.globals.get("classroom") ?? python.pyimport("classroom");
})();

ready.then(
  () => postMessage({ ready: true }),
  (problem) => postMessage({ failed: String(problem) }),
);

onmessage = async ({ data }) => {
  const classroom = await ready;
  try {
    postMessage({ report: classroom.grade(data) });
  } catch (problem) {
    postMessage({ report: `The examination itself failed: ${problem}` });
  }
};
