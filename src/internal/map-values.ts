/** An object with the same names and another value for each. */
export function mapValues<Name extends string, In, Out>(
  from: { readonly [Each in Name]: In },
  convert: (value: In, name: Name) => Out,
): Record<Name, Out> {
  const entries = Object.entries(from) as [Name, In][];
  return Object.fromEntries(entries.map(([name, value]) => [name, convert(value, name)])) as Record<
    Name,
    Out
  >;
}
