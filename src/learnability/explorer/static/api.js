// Requests to the server of this page; every address is relative, so the token stays in front.

const JSON_TYPE = { "Content-Type": "application/json" };

export async function declarations() {
  return (await fetch("api/declarations")).json();
}

/** A short answer: {event: "result", …} or {event: "error", sentence}. */
export async function quick(verb, values, learner = "", signal = undefined) {
  const body = JSON.stringify({ verb, learner, values });
  const answer = await fetch("api/quick", { method: "POST", headers: JSON_TYPE, body, signal });
  return answer.json();
}

// At most three long answers at a time: a browser has six connections for all its tabs.
const lanes = { free: 3, waiting: [] };

async function lane() {
  if (lanes.free > 0) lanes.free -= 1;
  else await new Promise((go) => lanes.waiting.push(go));
  return () => {
    const next = lanes.waiting.shift();
    if (next) next();
    else lanes.free += 1;
  };
}

async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice(6));
  }
}

/** A long answer, event by event; aborting the signal stops the work on the server. */
export async function* ask(verb, values, learner = "", signal = undefined) {
  const leave = await lane();
  try {
    if (signal?.aborted) return;
    const body = JSON.stringify({ verb, learner, values });
    const answer = await fetch("api/ask", { method: "POST", headers: JSON_TYPE, body, signal });
    if (!answer.ok) yield { event: "error", sentence: (await answer.json()).error };
    else yield* events(answer);
  } catch (error) {
    if (error.name !== "AbortError") {
      yield { event: "error", sentence: "The explorer does not answer: is it still running?" };
    }
  } finally {
    leave();
  }
}

/** The same of a table that was dropped on the page. */
export async function* askTable(verb, file, values, signal) {
  const leave = await lane();
  try {
    const query = new URLSearchParams({ verb, name: file.name, ...values });
    const headers = { "Content-Type": "application/octet-stream" };
    const answer = await fetch(`api/table?${query}`, { method: "POST", headers, body: file, signal });
    if (!answer.ok) yield { event: "error", sentence: (await answer.json()).error };
    else yield* events(answer);
  } catch (error) {
    if (error.name !== "AbortError") {
      yield { event: "error", sentence: "The table is too large, or the explorer does not answer." };
    }
  } finally {
    leave();
  }
}

export async function file(values) {
  const body = JSON.stringify({ verb: "file", values });
  const answer = await fetch("api/file", { method: "POST", headers: JSON_TYPE, body });
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.blob();
}
