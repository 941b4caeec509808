/** The packages that files belong to, each once; a file of no package stands for itself. */
export function packagesOf(files: readonly string[]): string[] {
  const names = files.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file);
  return [...new Set(names)].sort();
}
