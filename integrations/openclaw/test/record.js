// A relay in front of a daemon's socket, which keeps what goes by.

import fs from "node:fs";
import net from "node:net";

/** @returns {Promise<{lines: string[], close: () => void}>} lines are "C …" and "S …" */
export async function relay(from, to) {
  const lines = [];
  const server = net.createServer((client) => {
    const daemon = net.connect(to);
    pass(client, daemon, "C ", lines);
    pass(daemon, client, "S ", lines);
  });
  await new Promise((done) => server.listen(from, done));
  fs.chmodSync(from, 0o600);
  return { lines, close: () => server.close() };
}

function pass(a, b, who, lines) {
  let rest = "";
  a.on("data", (bytes) => {
    b.write(bytes);
    const all = (rest + bytes).split("\n");
    rest = all.pop();
    lines.push(...all.map((l) => who + l));
  });
  a.on("close", () => b.destroy());
  a.on("error", () => b.destroy());
}
