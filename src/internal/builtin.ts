interface Builtins {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

/** A module of Node; undefined in a runtime without it. Not imported, so that programs for such runtimes can be bundled. */
export function builtin<M>(name: string): M | undefined {
  return (globalThis as Builtins).process?.getBuiltinModule?.(name) as M | undefined;
}
