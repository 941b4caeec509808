import { encodeText } from '../message.ts';
import { nodeFs } from '../node-modules.ts';
import { ProblemError } from '../service/problem.ts';
import type { ControlResponse } from './call.ts';
import { CONTROL_PATH } from './guard.ts';

// The script of the window is a file of the package beside this code, and no part of it: a bundler does not see the name.

/** Only what comes from this origin; no other page may frame it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sandbox</title>
<link rel="icon" href="data:,">
<body>
<noscript>The window needs JavaScript. The same is at ${CONTROL_PATH}/state as JSON.</noscript>
<script type="module" src="${CONTROL_PATH}/window.js"></script>
</html>
`;

/** `GET /_sandbox`: relative addresses of the page need the slash. */
export function pageAddress(): ControlResponse {
  return { status: 308, headers: { Location: `${CONTROL_PATH}/` }, body: undefined };
}

/** `GET /_sandbox/`: the window. */
export function page(): ControlResponse {
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY };
  return { status: 200, headers, body: encodeText(PAGE) };
}

/** `GET /_sandbox/window.js`: its script. */
export function script(): ControlResponse {
  const headers = { 'Content-Type': 'text/javascript; charset=utf-8' };
  return { status: 200, headers, body: readScript() };
}

const SCRIPT = 'window.js';

function readScript(): Uint8Array {
  // Beside this module, whose address is a URL; in CommonJS the build puts a path there.
  const path = import.meta.url.replace(/[^/\\]*$/, SCRIPT);
  try {
    return nodeFs().readFileSync(path.startsWith('file:') ? new URL(path) : path);
  } catch {
    const detail = `The window is a file of the package, ${SCRIPT}, which is not beside this code: it was bundled, or not built. The rest of the control works.`;
    throw new ProblemError('not_found', detail);
  }
}
