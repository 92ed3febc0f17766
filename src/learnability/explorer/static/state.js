// The whole state of a page is in its address: option -> text, as on the command line.

export const pageName = () => location.pathname.split("/").pop() || "explore";

export function read() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Write the state; a step that the user made can be taken back. */
export function write(state, step = true) {
  const kept = Object.entries(state).filter(([, value]) => value !== "" && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  const address = `${pageName()}${query ? `?${query}` : ""}`;
  const here = location.pathname.split("/").pop() + location.search;
  if (address === here) return;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
