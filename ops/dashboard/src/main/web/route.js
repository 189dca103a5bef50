// Which page the address names.
export const LINKS = [
  ["overview", "Overview"], ["nodes", "Nodes"], ["requests", "Requests"], ["blocks", "Blocks"], ["operate", "Operate"], ["log", "Log"],
];
export const TITLES = { node: "Node", ...Object.fromEntries(LINKS) };

/** The page of the hash of an address; the overview when it names none. */
export function route(hash) {
  const [page, name] = hash.replace(/^#\//, "").split("/");
  if (!Object.hasOwn(TITLES, page)) return { page: "overview", name: "" };
  try {
    return { page, name: decodeURIComponent(name || "") };
  } catch {
    return { page: page === "node" ? "nodes" : page, name: "" }; // a broken escape: a link that was cut
  }
}
