#!/usr/bin/env node
// Runs the program that the package of this platform carries, and stands for it: signals
// go on to it, and its end is this one's.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const carrier = `@memkernel/${platform}`;

function program() {
  try {
    return require.resolve(`${carrier}/bin/memkernel${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    const { optionalDependencies } = require("./package.json");
    const way = carrier in optionalDependencies
      ? `the package ${carrier} is missing: install memkernel again, without --omit=optional`
      : `there is no build for ${platform}: "go install github.com/memkernel/memkernel/cmd/memkernel@latest" makes one`;
    console.error(`memkernel: ${way}`);
    process.exit(1);
  }
}

// Heard before there is a program: a signal that came between would end this one alone.
let child;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => {
  console.error(`memkernel: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
