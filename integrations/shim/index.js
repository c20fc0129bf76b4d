// What the extensions share stands with the client.

export * from "../typescript/link.js";
