/**
 * `node:http`, looked up when a sandbox listens: a static or a dynamic import of it fails in bundles for browsers, in
 * which a sandbox works without a port. Throws an Error outside Node, Bun and Deno.
 */
export function nodeHttp(): typeof import('node:http') {
  return builtin('node:http');
}

/** `node:zlib`, in the same way. */
export function nodeZlib(): typeof import('node:zlib') {
  return builtin('node:zlib');
}

/** `node:fs`, in the same way, when fixtures are read from a folder. */
export function nodeFs(): typeof import('node:fs') {
  return builtin('node:fs');
}

function builtin<Name extends 'node:fs' | 'node:http' | 'node:zlib'>(name: Name) {
  const found = globalThis.process?.getBuiltinModule?.(name);
  if (found === undefined) throw new Error(`This runtime has no ${name}, which a sandbox needs for this.`);
  return found;
}
